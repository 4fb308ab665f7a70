// agent/confinement.h
//
// What cgroup.conf means for one step: limits and devices, from its share of the node.
#pragma once

#include "agent/site.h"
#include "order.pb.h"

namespace sluice {

// GPUs of the share that gres.conf says are close to one of its CPUs.
std::vector<std::uint32_t> close_gpus(const Site& site, const wire::NodeShare& share);

// `share` is the step's; its job has `job_memory` MB on this node.
wire::Confinement confinement_of(const Site& site, const wire::NodeShare& share,
                                 std::uint64_t job_memory, bool batch);

// Sets and removes every kind of limit that cgroup.conf asks for, with and without devices. Notes
// in the site what cannot be enforced.
void try_confinement(Site& site);

}  // namespace sluice
