// agent/confinement.h
//
// What cgroup.conf means for one step: limits and devices, from its share of the node.
#pragma once

#include "agent/site.h"
#include "order.pb.h"

namespace sluice {

// GPUs of the share that gres.conf says are close to one of its CPUs.
std::vector<std::uint32_t> close_gpus(const Site& site, const wire::NodeShare& share);

wire::Confinement confinement_of(const Site& site, const wire::NodeShare& share, bool batch);

// "0-3,8": how the kernel writes CPUs. Empty when a number is not one of this machine's: a test
// cluster may pretend to have more CPUs than there are.
std::string kernel_cpus(const std::vector<int>& cpu_order, const std::vector<std::uint32_t>& cpus);

}  // namespace sluice
