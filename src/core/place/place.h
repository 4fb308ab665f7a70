// core/place/place.h
//
// Whether and where a job fits: the questions of submission, and the last step of a placement.
#pragma once

#include <map>

#include "core/place/select.h"

namespace sluice {

// Where it could run if all nodes of the partition were up and idle; empty: never.
Choice on_idle_nodes(const Cluster& cluster, const Need& need);

// By node and CPU id: CPUs that a job must not use.
using BarredCpus = std::map<NodeIndex, std::vector<bool>>;

// The CPUs and devices of a choice, by number; absent if counts alone promised too much.
std::optional<Allocation> allocate(const Cluster& cluster, const Need& need, const Choice& choice,
                                   const BarredCpus& barred = {});
std::string names_of(const Cluster& cluster, const Choice& choice);

// Whether counts may promise too much: sockets and bindings matter only by CPU and device.
bool depends_on_detail(const Need& need);
// The most tasks, up to `tasks`, that fit the node's CPUs and devices as they are now.
std::uint32_t tasks_in_detail(const Cluster& cluster, const Need& need, NodeIndex node,
                              std::uint32_t tasks);
// The most CPUs of a node that sockets and bindings would leave to the job, if all were idle.
std::uint32_t most_cpus_in_detail(const Cluster& cluster, const Need& need);
// Whether the choice would be possible without these jobs.
bool fits_without(const Cluster& cluster, const Need& need, const Choice& choice,
                  const std::vector<std::shared_ptr<const Job>>& leaving);

}  // namespace sluice
