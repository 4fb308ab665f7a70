// controller/audit.cc
#include "controller/audit.h"

#include <fmt/format.h>

#include <concepts>

#include "base/text.h"
#include "model/field_text.h"
#include "model/job_change_fields.h"
#include "model/node_fields.h"
#include "model/partition_fields.h"
#include "model/qos_fields.h"
#include "model/trigger_fields.h"

namespace sluice {
namespace {

std::string_view word_for(UpdatePartition::Verb verb) {
    switch (verb) {
        case UpdatePartition::Verb::Create:
            return "create";
        case UpdatePartition::Verb::Delete:
            return "delete";
        case UpdatePartition::Verb::Update:
            break;
    }
    return "update";
}

std::string_view word_for(ReservationChange::Verb verb) {
    switch (verb) {
        case ReservationChange::Verb::Create:
            return "create";
        case ReservationChange::Verb::Delete:
            return "delete";
        case ReservationChange::Verb::Update:
            break;
    }
    return "update";
}

std::string_view word_for(JobVerb verb) {
    constexpr std::string_view kWords[] = {"hold",         "uhold",   "release", "requeue",
                                           "requeue-hold", "suspend", "resume",  "top"};
    return kWords[static_cast<std::size_t>(verb)];
}

// The jobs for which the change was made.
std::string jobs_done(const Answer& answer) {
    std::string text;
    const auto* results = std::get_if<std::vector<JobResult>>(&answer);
    if (!results) return text;
    for (const JobResult& result : *results) {
        if (!result.error) text += (text.empty() ? "" : ",") + result.job;
    }
    return text;
}

std::string entry(const std::string& name) {
    return name;
}
std::string entry(UserId user) {
    return std::to_string(user.value);
}
std::string entry(const GroupMembers& group) {
    return group.name;
}

// " Users+=7,8": with the sign of what is added to a list or taken from it; an entry that is denied
// has a minus.
template <typename Item>
std::string list_text(std::string_view key, const std::optional<ListChange<Item>>& change) {
    if (!change) return {};
    using Verb = typename ListChange<Item>::Verb;
    const std::string_view sign = change->verb == Verb::Add      ? "+"
                                  : change->verb == Verb::Remove ? "-"
                                                                 : "";
    std::vector<std::string> entries;
    for (const Item& each : change->items)
        entries.push_back((change->denied ? "-" : "") + entry(each));
    return fmt::format(" {}{}={}", key, sign, join(entries, ","));
}

std::string values_of(const ReservationChange& change) {
    std::string text;
    auto add = [&](std::string_view key, const auto& value) {
        if (value) text += fmt::format(" {}={}", key, field_text::text(*value));
    };
    add("StartTime", change.start);
    add("EndTime", change.end);
    add(change.duration_sign == 0  ? "Duration"
        : change.duration_sign > 0 ? "Duration+"
                                   : "Duration-",
        change.duration);
    text += list_text("Nodes", change.nodes);
    add("NodeCnt", change.node_count);
    if (!change.core_counts.empty()) text += " CoreCnt=" + field_text::text(change.core_counts);
    if (!change.gres.empty()) text += " TRES=" + field_text::text(change.gres);
    add("PartitionName", change.partition);
    add("Features", change.features);
    add("Licenses", change.licenses);
    add("Comment", change.comment);
    text += list_text("Users", change.users) + list_text("Accounts", change.accounts) +
            list_text("Groups", change.groups) + list_text("QOS", change.qos) +
            list_text("AllowedPartitions", change.allowed_partitions);
    add("MaxStartDelay", change.max_start_delay);
    if (change.start_delay_cleared) text += " MaxStartDelay=";
    add("PURGE_COMP", change.purge_after);
    if (change.purge_cleared) text += " PURGE_COMP=";
    if (change.skip) text += " SKIP";
    if (change.flags_set != 0) text += fmt::format(" FlagsSet={:#x}", change.flags_set);
    if (change.flags_cleared != 0) text += fmt::format(" FlagsCleared={:#x}", change.flags_cleared);
    return text;
}

template <typename... Events>
struct OneOf {
    template <typename E>
    static constexpr bool kHas = (std::same_as<E, Events> || ...);
};

// Events that are not administrative changes. An event that is neither here nor in Describe does
// not compile. The line of a cancellation is "kill_job: ..." (change_lines.h).
using Unrecorded =
    OneOf<CancelJobs, CreateStep, WaitJob, RequestDropped, CompleteJob, ShowAllocation, ExplainJob,
          NodeRegistered, NodeHeartbeat, DataProgressed, DataCached, NodeDisconnected,
          LaunchReported, JobEnded, StepEnded, NodeCleaned, KillFailed, Tick, ClockStepped,
          StoodStill, FactsDelivered, PolicyChanged, JobProgramEnded, UsageImported, DataReported,
          PowerProgramStarted, GpusReported, ServiceChanged>;

std::string names_of(const std::vector<NodeConfig>& nodes) {
    std::string text;
    for (const NodeConfig& node : nodes) text += (text.empty() ? "" : ",") + node.name;
    return text;
}

struct Describe {
    const Answer& answer;

    std::string operator()(const ControlJobs& e) const {
        const std::string jobs = jobs_done(answer);
        return jobs.empty() ? "" : fmt::format("{} job {}", word_for(e.verb), jobs);
    }
    std::string operator()(const UpdateJob& e) const {
        return fmt::format("update job {}:{}", to_string(e.job), print_fields(e.change));
    }
    std::string operator()(const UpdateNode& e) const {
        return fmt::format("update node {}:{}", join(e.nodes, ","), print_fields(e.change));
    }
    std::string operator()(const UpdatePartition& e) const {
        if (e.request.value == 0) return {};  // from the controller: groups have changed
        return fmt::format("{} partition {}:{}", word_for(e.verb), e.partition,
                           print_fields(e.change));
    }
    std::string operator()(const ChangeReservation& e) const {
        const auto* named = std::get_if<ReservationNamed>(&answer);
        return fmt::format("{} reservation {}:{}", word_for(e.change.verb),
                           named ? named->name : e.change.name, values_of(e.change));
    }
    std::string operator()(const RebootNodes& e) const {
        return fmt::format("reboot node {}:{} Reason={}", join(e.nodes, ","), e.asap ? " ASAP" : "",
                           e.reason);
    }
    std::string operator()(const CreateNodes& e) const {
        return "create node " + names_of(e.nodes);
    }
    std::string operator()(const DeleteNodes& e) const {
        return "delete node " + join(e.nodes, ",");
    }
    std::string operator()(const SetTrigger& e) const {
        return fmt::format("set trigger:{}", print_fields(e.demand));
    }
    std::string operator()(const ClearTriggers& e) const {
        return fmt::format("clear trigger:{}", print_fields(e.choice));
    }
    std::string operator()(const Reconfigure&) const { return "reconfigure"; }
    std::string operator()(const SubmitJob& e) const {
        const auto* accepted = std::get_if<Submitted>(&answer);
        if (!accepted || e.test_only || !e.caller.sent_by) return {};
        return fmt::format("submit job {} as uid {}", accepted->job.value, e.caller.user.value);
    }
    template <typename Other>
    requires Unrecorded::kHas<Other> std::string operator()(const Other&) const { return {}; }
};

struct CallerOf {
    std::optional<UserId> operator()(const SubmitJob& e) const { return e.caller.sent_by; }
    template <typename Other>
    std::optional<UserId> operator()(const Other& e) const {
        if constexpr (requires { e.caller; })
            return e.caller.user;
        else
            return {};
    }
};

}  // namespace

std::optional<std::string> audit_line(const Event& event, const Answer& answer) {
    const std::optional<UserId> user = std::visit(CallerOf{}, event);
    if (!user || std::holds_alternative<Error>(answer)) return {};
    std::string what = std::visit(Describe{answer}, event);
    while (what.ends_with(':')) what.pop_back();
    if (what.empty()) return {};
    return fmt::format("audit: uid {}: {}", user->value, what);
}

}  // namespace sluice
