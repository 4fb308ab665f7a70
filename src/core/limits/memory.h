// core/limits/memory.h
//
// MaxMemPerCPU and MaxMemPerNode, of the partition or else of the cluster. Who asks for more memory
// per CPU than is allowed gets more CPUs instead; who asks for more per node is refused.
#pragma once

#include "core/cluster.h"
#include "core/place/need.h"

namespace sluice {

// The job's request, with as many CPUs as its memory calls for in the strictest of its partitions.
std::shared_ptr<const JobTerms> with_cpus_for_memory(const Cluster& cluster, const Job& job);

bool over_memory_limit(const Cluster& cluster, const PartitionConfig& partition, const Need& need);

}  // namespace sluice
