// agent/task_binding.h
//
// The CPUs of a step as this machine has them, for the supervisor that binds its tasks to them.
#pragma once

#include <string>
#include <vector>

#include "agent/site.h"
#include "order.pb.h"

namespace sluice {

// CPUs of each core, as slurm.conf counts them: its threads, or the core only.
std::uint32_t counted_threads(const NodeConfig& node);

// The CPUs of slurm.conf with these numbers, as places in the machine's list of CPUs. Empty if one
// of them is not there: a test cluster may pretend to have more CPUs than there are. Where
// slurm.conf counts cores, a CPU is all threads of its core.
std::vector<std::size_t> machine_places(const Site& site, const std::vector<std::uint32_t>& cpus);

// "0-3,8": how the kernel writes CPUs.
std::string kernel_cpus(const Site& site, const std::vector<std::uint32_t>& cpus);

wire::TaskBinding binding_of(const Site& site, const wire::NodeShare& share);

// Where slurm.conf keeps CPUs from jobs, slurmd and its supervisors run on those, or with
// SlurmdOffSpec on the others. Nothing changes where it keeps none.
void bind_daemon(const Site& site);

}  // namespace sluice
