// core/schedule/estimate.h
//
// When would it start? For jobs that are not in the queue (--test-only) or not as they are (what if
// it asked for less?). Changes nothing but the plan's own bookkeeping.
#pragma once

#include <optional>

#include "core/schedule/start_finder.h"

namespace sluice {

struct Estimate {
    Time start;
    Choice nodes;
    std::string partition;
};

// The earliest start in any of its partitions, behind all that is booked.
std::optional<Estimate> estimate_start(Cluster& cluster, Time now, const Job& job);

}  // namespace sluice
