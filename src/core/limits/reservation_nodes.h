// core/limits/reservation_nodes.h
//
// Which nodes a reservation gets, whole or so many cores of them, and by which others those are
// replaced that it loses.
#pragma once

#include <vector>

#include "core/cluster.h"

namespace sluice {

std::uint32_t cores_in(const NodeConfig& config);

// Nodes, NodeCnt, CoreCnt, Features, PartitionName and TRES of a request, into the draft. `before`
// is the reservation that is changed, if it is not a new one.
Result<void> change_nodes(const Cluster& cluster, Time now, const ReservationChange& change,
                          const Reservation* before, Reservation& draft);

// Nodes that are out of service, with REPLACE also those in use; none where the nodes were named or
// are to stay.
std::vector<NodeIndex> nodes_to_replace(const Cluster& cluster, const Reservation& reservation);
// As many of them as there are idle ones instead, in all reservations.
void replace_lost_nodes(Cluster& cluster, Time now);

}  // namespace sluice
