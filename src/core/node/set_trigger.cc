// core/node/set_trigger.cc: strigger --set and --clear.
#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

constexpr std::size_t kTriggersPerUser = 1000;
constexpr Seconds kOffsetMost{32000};  // Compat

Error bad(std::string detail) {
    return {ErrorCode::BadArgument, std::move(detail)};
}

Result<void> may_set(const Cluster& cluster, const SetTrigger& event) {
    const Settings& settings = cluster.settings();
    if (settings.disable_triggers)
        return Error{ErrorCode::DisabledForJob, "SlurmctldParameters=disable_triggers is set"};
    // Compat: programs of other users need a slurmctld that runs as root.
    if (settings.slurm_user.value != 0 && event.caller.user != settings.slurm_user)
        return Error{ErrorCode::AccessDenied,
                     "only SlurmUser may set triggers, unless SlurmUser is root"};
    const Role role = role_in(cluster, event.caller);
    TRY(permit(role, settings.allow_user_triggers ? Action::SetUserTrigger : Action::SetTrigger));
    if (!event.demand.job) return {};
    const auto job = cluster.find_job(*event.demand.job);
    if (!job) return Error{ErrorCode::InvalidJobId, {}};
    TRY(permit(role_in(cluster, event.caller, *job), Action::SetUserJobTrigger));
    if (is_over(*job)) return Error{ErrorCode::JobFinished, {}};
    return {};
}

Result<void> check(const Cluster& cluster, const TriggerRequest& wanted) {
    const bool of_job = resource_of(wanted.event) == TriggerResource::Job;
    if (of_job && !wanted.job) return bad(fmt::format("--{} needs --jobid", name_of(wanted.event)));
    if (wanted.job && !of_job && !is_of_nodes(wanted.event))
        return bad(fmt::format("--{} is of no job", name_of(wanted.event)));
    if (!wanted.nodes.empty() && (wanted.job || !is_of_nodes(wanted.event)))
        return bad("--node cannot be used with --jobid or events of other things than nodes");
    if (!wanted.program.starts_with('/'))
        return bad(fmt::format("--program={}: not an absolute path", wanted.program));
    if (wanted.offset > kOffsetMost || wanted.offset < -kOffsetMost)
        return bad(fmt::format("--offset={}: not between -{} and {}", wanted.offset.count(),
                               kOffsetMost.count(), kOffsetMost.count()));
    if (wanted.nodes.empty()) return {};
    const Hostlist nodes = TRY(Hostlist::parse(wanted.nodes));
    TRY(nodes_named(cluster, nodes.names()));
    return {};
}

std::size_t count_of(const Cluster& cluster, UserId user) {
    const auto& all = cluster.triggers().all();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const Trigger& each) { return each.user == user; }));
}

Result<void> set(Cluster& cluster, Time now, const SetTrigger& event) {
    TRY(may_set(cluster, event));
    TRY(check(cluster, event.demand));
    if (count_of(cluster, event.caller.user) >= kTriggersPerUser)
        return bad(fmt::format("a user can have {} triggers", kTriggersPerUser));
    TriggerBook& book = cluster.triggers();
    for (const Trigger& each : book.all()) {
        if (each.wanted == event.demand && each.user == event.caller.user && !each.due)
            return Error{ErrorCode::DuplicateTrigger, {}};
    }
    const std::uint32_t id = book.next_id();
    const bool is_first = book.empty();
    book.put({.id = id,
              .user = event.caller.user,
              .group = event.caller.group,
              .wanted = event.demand,
              .due = {},
              .happened_to = {}});
    cluster.triggers_changed();
    if (is_first) view_nodes(cluster, now);
    watch_trigger(cluster, id);
    return {};
}

Result<void> clear(Cluster& cluster, const ClearTriggers& event) {
    const TriggerChoice& choice = event.choice;
    if (!choice.id && !choice.job && !choice.user)
        return bad("--id, --jobid or --user must be given");
    const TriggerBook::List known = cluster.triggers().all();
    Result<void> outcome = Error{ErrorCode::NotFound, "no such trigger"};
    bool any = false;
    for (const Trigger& each : known) {
        if (!fits(choice, each)) continue;
        const Role role = role_of(event.caller.user, cluster.settings().slurm_user, each.user);
        outcome = permit(role, Action::ClearTrigger);
        if (!outcome) continue;
        cluster.triggers().drop(each.id);
        cluster.triggers_changed();
        any = true;
    }
    if (any) return {};
    return outcome;
}

Answer answer_for(const Result<void>& outcome) {
    if (!outcome) return outcome.error();
    return Done{};
}

}  // namespace

void on_set_trigger(Cluster& cluster, Time now, const SetTrigger& event, Effects& effects) {
    effects.push_back(Reply{event.request, answer_for(set(cluster, now, event))});
}

void on_clear_triggers(Cluster& cluster, const ClearTriggers& event, Effects& effects) {
    effects.push_back(Reply{event.request, answer_for(clear(cluster, event))});
}

}  // namespace sluice
