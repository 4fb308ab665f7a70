// core/limits/first_cores.h
//
// Reservations of the lowest numbered cores (FIRST_CORES). Other reservations of cores have so many
// of a node, wherever those are; these have the first ones, and nobody else gets those meanwhile.
#pragma once

#include "core/cluster.h"
#include "core/place/place.h"

namespace sluice {

// Could the draft have the first so many cores of the node: no other such reservation has them, and
// no job will still run there.
bool first_cores_are_free(const Cluster& cluster, Time now, NodeIndex node,
                          const Reservation& draft, std::uint32_t cores);

// Which CPUs of the chosen nodes are not for a job that runs from `now` to `until`, in that
// reservation or in none. Empty: there are no such reservations.
BarredCpus cpus_barred(const Cluster& cluster, Time now, Time until, const Reservation* reservation,
                       const Choice& choice);

}  // namespace sluice
