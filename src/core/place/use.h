// core/place/use.h
//
// Which resources of a node are in use, by which jobs. Taking and giving back are exact opposites;
// both CHECK that nothing is taken twice.
#pragma once

#include "core/cluster.h"

namespace sluice {

// (Re)reads the configured size of a node, keeping what is in use.
void configure_node(Node& node, const NodeConfig& config, const Settings& settings, Time now);

// Changes by scontrol take precedence over the configuration.
void keep_changes_by_hand(Node& node);
// CPUs that are left to the system if it has `cores` cores: the last core of each socket in turn,
// from the last socket on.
std::vector<bool> system_cpus(const NodeConfig& config, std::uint32_t cores);
// The same for single threads, of the same cores.
std::vector<bool> system_threads(const NodeConfig& config, std::uint32_t threads);
// CPUs that jobs may use, in all.
std::uint32_t usable_cpus(const Node& node);

// Whether the job, or else its partition, asks for exclusive nodes.
Exclusive exclusive_in(const Job& job, const PartitionConfig& partition);

// How many jobs may hold a CPU of the job at once, by the partition's OverSubscribe and, where that
// is YES, the job's request. 1: it shares no CPU.
std::uint8_t sharers_in(const Job& job, const PartitionConfig& partition);

void take_share(Cluster& cluster, const Job& job, const NodeShare& share, Time now);
void give_back_share(Cluster& cluster, const Job& job, const NodeShare& share, Time now);

// The CPUs of a suspended job can be used by other jobs; it keeps its memory and GRES.
void lend_cpus(Cluster& cluster, const Job& job, const NodeShare& share);
bool may_reclaim_cpus(const Cluster& cluster, const Job& job, const NodeShare& share);
void reclaim_cpus(Cluster& cluster, const Job& job, const NodeShare& share);

// Whether jobs on the node share CPUs or take turns on them.
bool has_alternating(const Cluster& cluster, const Node& node);
constexpr std::uint8_t kNobodyElse = 255;
// By CPU: how many jobs hold it, suspended ones included; kNobodyElse where another job that
// accepts `sharers` in all may not join.
std::vector<std::uint8_t> cpu_holders(const Cluster& cluster, const Node& node,
                                      std::uint8_t sharers);

// Memory that jobs may use, in total.
Megabytes usable_memory(const Node& node);

// All pools of a name together: count and how many are free. An empty type means any.
std::uint64_t gres_count(const Node& node, const GresCount& demand);
std::uint64_t gres_free(const Node& node, const GresCount& demand);

}  // namespace sluice
