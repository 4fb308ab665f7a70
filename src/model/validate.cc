#include "model/validate.h"

#include <fmt/format.h>

#include <cmath>

#include "model/checkpoint_sync.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/job_change_fields.h"
#include "model/job_fields.h"
#include "model/license.h"
#include "model/node_fields.h"
#include "model/partition_fields.h"
#include "model/policy_fields.h"
#include "model/record_fields.h"
#include "model/reservation_fields.h"
#include "model/sizes.h"
#include "model/trigger_fields.h"

namespace sluice {

namespace {

// It is not checked again before the licenses in use are counted.
Result<void> validate_licenses(std::string_view text) {
    TRY(parse_licenses(text));
    return {};
}

// What the lists of fields of a request do not say.
Result<void> validate_parts(const JobTerms& terms, const JobDetails& details) {
    TRY(validate_licenses(terms.licenses));
    TRY(parse_sync_rules(details.sync));
    if (terms.array && terms.array->tasks.empty()) {
        return invalid_value("array", "", "it has no tasks");
    }
    std::size_t total = 0;
    for (const std::string& argument : details.script_args) total += argument.size() + 1;
    if (total > sizes::kArguments) {
        return invalid_value("script arguments", details.script_args.front(),
                             fmt::format("{} bytes, the limit is {}", total, sizes::kArguments));
    }
    return {};
}

}  // namespace

Error invalid_value(std::string_view field, std::string_view value, std::string_view why) {
    constexpr std::size_t kShown = 64;
    return {ErrorCode::BadArgument, fmt::format("{}={}{}: {}", field, value.substr(0, kShown),
                                                value.size() > kShown ? "..." : "", why)};
}

Result<void> validate_bytes(std::string_view field, std::string_view value, std::size_t most) {
    if (value.size() <= most) return {};
    return invalid_value(field, value,
                         fmt::format("{} bytes, the limit is {}", value.size(), most));
}

Result<void> validate_text(std::string_view field, std::string_view value, std::size_t most) {
    TRY(validate_bytes(field, value, most));
    const std::size_t zero = value.find('\0');
    if (zero == std::string_view::npos) return {};
    return invalid_value(field, value.substr(0, zero), "it contains a zero byte");
}

Result<void> validate_list(std::string_view field, std::size_t size, std::size_t most) {
    if (size <= most) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format("{}: {} entries, the limit is {}", field, size, most)};
}

Result<void> validate_texts(std::string_view field, const std::vector<std::string>& values,
                            std::size_t each_most, std::size_t count_most) {
    TRY(validate_list(field, values.size(), count_most));
    for (const std::string& value : values) TRY(validate_text(field, value, each_most));
    return {};
}

Result<void> validate_number(std::string_view field, std::int64_t value, std::int64_t most) {
    if (value >= 0 && value <= most) return {};
    return invalid_value(field, std::to_string(value), fmt::format("not between 0 and {}", most));
}

Result<void> validate_amount(std::string_view field, std::uint64_t value, std::uint64_t most) {
    if (value <= most) return {};
    return invalid_value(field, std::to_string(value), fmt::format("the limit is {}", most));
}

Result<void> validate(const Shape& shape) {
    return validate_fields(shape);
}

Result<void> validate(const JobRequest& request) {
    TRY(validate_fields(static_cast<const JobTerms&>(request)));
    TRY(validate_fields(static_cast<const JobDetails&>(request)));
    return validate_parts(request, request);
}

Result<void> validate(const Step& step) {
    return validate_fields(step);
}

Result<void> validate(const Job& job) {
    TRY(validate_fields(job));
    return validate_state(job);
}

Result<void> validate_state(const Job& job) {
    if (!job.request || !job.details) return invalid_value("request", "", "it is missing");
    TRY(validate_parts(*job.request, job.details->unpacked()));
    TRY(validate_licenses(job.run.licenses_held));
    const bool has_nodes =
        job.run.allocation && !job.run.allocation->nodes.empty() && job.run.start_time;
    if (is_live(job) && !has_nodes) return invalid_value("state", "running", "it has no nodes");
    if (is_live(job) && job.state == JobState::Suspended && !job.run.suspend_time)
        return invalid_value("state", "suspended", "since when is missing");
    if (is_finished(job.state) && !job.run.end_time)
        return invalid_value("state", "finished", "its end time is missing");
    return {};
}

Result<void> validate(const Reservation& reservation) {
    TRY(validate_fields(reservation));
    return validate_licenses(reservation.licenses);
}

Result<void> validate(const ReservationChange& change) {
    TRY(validate_fields(change));
    auto names = [](std::string_view field, const auto& list, std::size_t most) {
        return validate_list(field, list ? list->items.size() : 0, most);
    };
    TRY(names("Users", change.users, sizes::kNameCount));
    TRY(names("Accounts", change.accounts, sizes::kNameCount));
    TRY(names("Groups", change.groups, sizes::kGroupCount));
    TRY(names("QOS", change.qos, sizes::kNameCount));
    return names("AllowedPartitions", change.allowed_partitions, sizes::kNameCount);
}

// The offset is the only length of time that may be negative: before the event.
Result<void> validate(const TriggerRequest& request) {
    if (request.offset < Seconds{-sizes::kSeconds})
        return invalid_value("offset", std::to_string(request.offset.count()), "too early");
    TriggerRequest later = request;
    later.offset = std::chrono::abs(request.offset);
    return validate_fields(later);
}

Result<void> validate(const TriggerChoice& choice) {
    return validate_fields(choice);
}

Result<void> validate(const Trigger& trigger) {
    TRY(validate(trigger.wanted));
    Trigger later = trigger;
    later.wanted.offset = std::chrono::abs(trigger.wanted.offset);
    return validate_fields(later);
}

Result<void> validate(const NodeFacts& facts) {
    if (!std::isfinite(facts.load) || facts.load < 0) {
        return invalid_value("load", fmt::format("{}", facts.load), "it is no load");
    }
    return validate_fields(facts);
}

Result<void> validate(const StoredNode& node) {
    return validate_fields(node);
}

Result<void> validate(const NodeUse& use) {
    return validate_fields(use);
}

Result<void> validate(const GpuReport& report) {
    return validate_fields(report);
}

Result<void> validate(const Qos& qos) {
    return validate_fields(qos);
}

Result<void> validate(const Policy& policy) {
    return validate_fields(policy);
}

Result<void> validate(const JobChange& change) {
    return validate_fields(change);
}

Result<void> validate(const NodeChange& change) {
    using enum NodeCommand;
    const bool needs_reason = change.state == Down || change.state == Drain || change.state == Fail;
    if (needs_reason && change.reason.value_or("").empty()) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("State={} needs a Reason=", print(*change.state))};
    }
    return validate_fields(change);
}

Result<void> validate(const PartitionChange& change) {
    const std::string& nodes = change.members.values.nodes_text;
    if (!nodes.empty()) TRY(Hostlist::parse(nodes));
    return validate_fields(change);
}

Result<void> validate(const QosChange& change) {
    if (change.max_per_node.contains("node"))
        return invalid_value("MaxTRESPerNode", "node", "it is no resource of a node");
    return validate_fields(change);
}

}  // namespace sluice
