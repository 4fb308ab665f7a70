// See count_timeline.h.
#include "core/limits/count_timeline.h"

#include <algorithm>

namespace sluice {

std::optional<Time> CountTimeline::earliest(std::int64_t wanted, Seconds length, Time from) const {
    std::optional<Time> since;
    std::int64_t free = 0;
    for (const auto& [at, change] : changes_) {
        if (since && at >= *since + length) break;
        free += change;
        if (free < wanted)
            since.reset();
        else if (!since)
            since = std::max(at, from);
    }
    return since;
}

}  // namespace sluice
