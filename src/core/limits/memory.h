// core/limits/memory.h
//
// MaxMemPerCPU and MaxMemPerNode, of the partition or else of the cluster. A job that asks for more
// memory per CPU than is allowed gets more CPUs instead; one that asks for more per node stays
// pending, or is refused where limits are enforced at submission.
#pragma once

#include "core/cluster.h"
#include "core/place/need.h"

namespace sluice {

// The job's request, with as many CPUs as its memory requires in the strictest of its partitions.
std::shared_ptr<const JobTerms> with_cpus_for_memory(const Cluster& cluster, const Job& job);

Megabytes max_memory_per_node(const Cluster& cluster,
                              const PartitionConfig& partition);  // 0: no limit
bool over_memory_limit(const Cluster& cluster, const Need& need);

}  // namespace sluice
