// core/limits/first_cores.h
//
// Reservations of the lowest numbered cores (FIRST_CORES). Other reservations of cores have a
// number of cores of a node, whichever these are; these have the first ones, which no other job
// gets meanwhile.
#pragma once

#include "core/cluster.h"
#include "core/place/place.h"

namespace sluice {

// Whether the draft could have the first `cores` cores of the node: no other such reservation has
// them, and no job will still run on them.
bool first_cores_are_free(const Cluster& cluster, Time now, NodeIndex node,
                          const Reservation& draft, std::uint32_t cores);

// The CPUs of the chosen nodes that are barred for a job that runs from `now` to `until`, in that
// reservation or in none. Empty: there are no such reservations.
BarredCpus cpus_barred(const Cluster& cluster, Time now, Time until, const Reservation* reservation,
                       const Choice& choice);

}  // namespace sluice
