// core/schedule/estimate.h
//
// When would it start? For jobs that are not in the queue (--test-only) or not as they are (what if
// it asked for less?). Bookings and reservations of the planner are changed while it looks, and
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

// What jobs have of things that are no question of place, and until when.
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
// For many jobs: what one has found out helps the next, and who is foretold a start takes what it
// counts for.
std::optional<Estimate> estimate_start(const Cluster& cluster, Planner& planner, Time now,
                                       const Job& job, StartFinder& finder, CountPlan& counts);
// The plan as it stands, or one of what runs now if there is none: to be changed at will. The
// cluster's layout is up to date.
Planner scratch_planner(const Cluster& cluster, Time now);

}  // namespace sluice
