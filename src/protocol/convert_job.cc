// protocol/convert_job.cc
//
// What users ask for. See convert.h.
#include <fmt/format.h>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

using checks::refused;

wire::TimeLimit to_wire(TimeLimit limit) {
    wire::TimeLimit out;
    if (!limit.unlimited()) out.set_seconds(limit.length().count());
    return out;
}

Result<TimeLimit> from_wire(const wire::TimeLimit& limit) {
    if (!limit.has_seconds()) return TimeLimit{};
    TRY(validate_number("time limit", limit.seconds(), sizes::kTimeLimit));
    return TimeLimit{Seconds{limit.seconds()}};
}

void to_wire(const TaskSet& tasks, WireRanges& out) {
    for (const TaskSet::Range& range : tasks.ranges()) {
        wire::TaskRange& added = *out.Add();
        added.set_first(range.first);
        added.set_last(range.last);
        added.set_step(range.step);
    }
}

Result<TaskSet> from_wire(const WireRanges& ranges) {
    std::vector<TaskSet::Range> list;
    TRY(checks::list_size("array tasks", static_cast<std::size_t>(ranges.size()),
                          kArrayTaskMax + 1));
    for (const wire::TaskRange& range : ranges)
        list.push_back({range.first(), range.last(), range.step()});
    std::optional<TaskSet> tasks = TaskSet::from_ranges(list);
    if (!tasks) return refused("array tasks", "they are not ranges, each above the one before");
    return *std::move(tasks);
}

void to_wire(const std::vector<GresCount>& gres, WireGres& out) {
    for (const GresCount& count : gres) {
        wire::Gres& added = *out.Add();
        added.set_name(count.name);
        added.set_type(count.type);
        added.set_count(count.count);
    }
}

Result<std::vector<GresCount>> from_wire(const WireGres& gres) {
    TRY(checks::list_size("gres", static_cast<std::size_t>(gres.size()), sizes::kGresCount));
    std::vector<GresCount> counts;
    for (const wire::Gres& count : gres) {
        // One by one: an initializer that is left half way loses what it has made.
        GresCount& added = counts.emplace_back();
        added.name = TRY(checks::text("gres name", count.name(), sizes::kWord));
        added.type = TRY(checks::text("gres type", count.type(), sizes::kWord));
        added.count = TRY(checks::amount("gres count", count.count()));
    }
    return counts;
}

}  // namespace sluice
