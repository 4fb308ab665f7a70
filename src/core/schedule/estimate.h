// core/schedule/estimate.h
//
// Estimated start of a job that is not in the queue (--test-only) or that is changed (what if it
// asked for less?). Bookings and reservations of the planner are changed during the search and
// restored.
#pragma once

#include <optional>

#include "core/limits/licenses.h"
#include "core/limits/limit_plan.h"
#include "core/schedule/start_finder.h"

namespace sluice {

struct Estimate {
    Time start;
    Choice nodes;
    std::string partition;
};

// Use over time of what is not tied to nodes: licences and limits of QOS.
class CountPlan {
public:
    CountPlan(const Cluster& cluster, Time now) : licenses_(cluster, now), limits_(cluster, now) {}

    // Licences and limits of QOS at the same moment, not before `from`; none: never.
    std::optional<Time> earliest(const Job& job, const Partition& partition, Time from);
    void take(const Job& job, const Partition& partition, Time start);

private:
    LicensePlan licenses_;
    LimitPlan limits_;
};

// The earliest start in any of its partitions, behind all that is booked: once licences and limits
// allow it, tasks of its array have ended, its reservation has begun.
std::optional<Estimate> estimate_start(const Cluster& cluster, Planner& planner, Time now,
                                       const Job& job);
// For many jobs: searches share results, and a job with an estimated start is counted against
// licences and limits from that time on.
std::optional<Estimate> estimate_start(const Cluster& cluster, Planner& planner, Time now,
                                       const Job& job, StartFinder& finder, CountPlan& counts);
// A copy of the current plan, or a new one from the running jobs if there is none. The cluster's
// layout is up to date.
Planner scratch_planner(const Cluster& cluster, Time now);

}  // namespace sluice
