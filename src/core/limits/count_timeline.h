// core/limits/count_timeline.h
//
// How many of something are free over time: what is free now, what is given back later, what is
// taken for a while.
#pragma once

#include <map>
#include <optional>

#include "base/time.h"

namespace sluice {

class CountTimeline {
public:
    void add(Time at, std::int64_t change) { changes_[at] += change; }
    void take(std::int64_t count, Time from, Time until) {
        add(from, -count);
        add(until, count);
    }
    // The first time not before `from` from which on so many are free for so long; none: never.
    std::optional<Time> earliest(std::int64_t wanted, Seconds length, Time from) const;

private:
    std::map<Time, std::int64_t> changes_;  // by how many the number of free ones changes
};

}  // namespace sluice
