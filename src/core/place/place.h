// core/place/place.h
//
// Where does it fit? The questions that submission asks of placement, and the answers' last step.
#pragma once

#include <map>

#include "core/place/select.h"

namespace sluice {

// Where it could run, were all nodes of the partition up and idle; empty: never.
Choice on_idle_nodes(const Cluster& cluster, const Need& need);

// By node and CPU id: what a job must leave to others.
using BarredCpus = std::map<NodeIndex, std::vector<bool>>;

// The CPUs and devices of a choice, by number; absent when counts alone promised too much.
std::optional<Allocation> allocate(const Cluster& cluster, const Need& need, const Choice& choice,
                                   const BarredCpus& barred = {});
std::string names_of(const Cluster& cluster, const Choice& choice);

// Whether counts may promise too much: sockets and bindings are seen only by CPU and device.
bool depends_on_detail(const Need& need);
// The most tasks, up to `tasks`, for which the node's CPUs and devices as they are now will do.
std::uint32_t tasks_in_detail(const Cluster& cluster, const Need& need, NodeIndex node,
                              std::uint32_t tasks);
// The most CPUs of a node that sockets and bindings would leave to the job, were all idle.
std::uint32_t most_cpus_in_detail(const Cluster& cluster, const Need& need);
// Whether the choice could be had if these were gone.
bool fits_without(const Cluster& cluster, const Need& need, const Choice& choice,
                  const std::vector<std::shared_ptr<const Job>>& leaving);

}  // namespace sluice
