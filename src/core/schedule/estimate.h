// core/schedule/estimate.h
//
// When would it start? For jobs that are not in the queue (--test-only) or not as they are (what if
// it asked for less?). Changes nothing but the plan's own bookkeeping.
#pragma once

#include <optional>

#include "core/limits/licenses.h"
#include "core/schedule/start_finder.h"

namespace sluice {

struct Estimate {
    Time start;
    Choice nodes;
    std::string partition;
};

// The earliest start in any of its partitions, behind all that is booked: once licences are free, tasks of its
// array have ended, its reservation has begun.
std::optional<Estimate> estimate_start(Cluster& cluster, Time now, const Job& job);
// For many jobs: what one has found out helps the next, and who is foretold a start takes its licences.
std::optional<Estimate> estimate_start(Cluster& cluster, Time now, const Job& job, StartFinder& finder,
                                       LicensePlan& licenses);

}  // namespace sluice
