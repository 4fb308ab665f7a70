// core/limits/reservation_nodes.h
//
// Which nodes a reservation gets, whole or a number of their cores, and how lost nodes are
// replaced.
#pragma once

#include <vector>

#include "core/cluster.h"

namespace sluice {

std::uint32_t cores_in(const NodeConfig& config);

// Applies Nodes, NodeCnt, CoreCnt, Features, PartitionName and TRES of a request to the draft.
// `before` is the reservation that is changed, or nullptr for a new one.
Result<void> change_nodes(const Cluster& cluster, Time now, const ReservationChange& change,
                          const Reservation* before, Reservation& draft);

// Nodes that are out of service, with REPLACE also nodes in use; none where the nodes were named or
// are to stay.
std::vector<NodeIndex> nodes_to_replace(const Cluster& cluster, const Reservation& reservation);
// Replaces such nodes in all reservations, as far as there are idle ones.
void replace_lost_nodes(Cluster& cluster, Time now);

}  // namespace sluice
