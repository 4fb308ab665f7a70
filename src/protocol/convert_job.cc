// protocol/convert_job.cc
//
// What users ask for. See convert.h.
#include <fmt/format.h>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

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
