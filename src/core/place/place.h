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

}  // namespace sluice
