// core/schedule/spot.h
//
// Where a waiting job may look for room: in a partition, among the nodes of a reservation or
// outside of all. Passes, estimates and explanations look at the same spots.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/schedule/planner.h"

namespace sluice {

struct Spot {
    const Partition* partition = nullptr;
    const Reservation* reservation = nullptr;  // to be opened in the plan while it is looked at
    std::shared_ptr<const std::vector<NodeIndex>> reserved = {};  // none: all of the partition

    const std::vector<NodeIndex>& nodes() const { return reserved ? *reserved : partition->nodes; }
};

// One for each reservation of the list ("a,b") that jobs may start in at `now`; also one outside
// if `outside`.
std::vector<Spot> spots_in(const Cluster& cluster, Time now, const Partition& partition,
                           std::string_view reservations, bool outside);
// The reservation's nodes in the partition, whether or not it has begun.
Spot spot_of(const Partition& partition, const Reservation& reservation);

// How long a job that starts at `from` may run there. Compat: one that takes longer than its
// reservation starts all the same, and ends with it.
PlanTime length_in(const Reservation* reservation, const Planner& planner, PlanTime from,
                   PlanTime length);

}  // namespace sluice
