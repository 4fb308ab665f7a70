#include "core/limits/memory.h"

#include <algorithm>

#include "core/limits/access.h"

namespace sluice {

namespace {

struct MemoryLimits {
    Megabytes per_cpu = 0, per_node = 0;  // 0: none
};

// A partition that has a limit of either kind does not look at the cluster's.
MemoryLimits limits_in(const Cluster& cluster, const PartitionConfig& partition) {
    const Settings& settings = cluster.settings();
    if (partition.max_mem_per_cpu || partition.max_mem_per_node) {
        return {partition.max_mem_per_cpu.value_or(0), partition.max_mem_per_node.value_or(0)};
    }
    return {settings.max_mem_per_cpu.value_or(0), settings.max_mem_per_node.value_or(0)};
}

Megabytes divided_up(Megabytes amount, Megabytes by) {
    return (amount + by - 1) / by;
}

}  // namespace

std::shared_ptr<const JobTerms> with_cpus_for_memory(const Cluster& cluster, const Job& job) {
    Megabytes limit = 0;
    for (const std::string& name : partitions_of(job)) {
        const Partition* partition = cluster.find_partition(name);
        Megabytes here = partition ? limits_in(cluster, partition->config).per_cpu : 0;
        if (here > 0 && (limit == 0 || here < limit)) limit = here;
    }
    const Shape& asked = job.request->shape;
    if (limit == 0) return job.request;
    if (asked.mem_per_cpu && *asked.mem_per_cpu > limit) {
        auto changed = std::make_shared<JobTerms>(*job.request);
        Megabytes factor = divided_up(*asked.mem_per_cpu, limit);
        // No node has so many CPUs: refused later; the bound prevents an overflow.
        factor = std::min<Megabytes>(factor, 1 << 20);
        changed->shape.cpus_per_task = static_cast<std::uint32_t>(
            std::min<Megabytes>(std::uint64_t{asked.cpus_per_task} * factor, 1 << 30));
        changed->shape.cpus_per_task_set = true;
        changed->shape.mem_per_cpu = divided_up(*asked.mem_per_cpu, factor);
        return changed;
    }
    Megabytes cpus = asked.mem_per_node ? divided_up(*asked.mem_per_node, limit) : 0;
    if (cpus > asked.cpus_min_per_node.value_or(1)) {
        auto changed = std::make_shared<JobTerms>(*job.request);
        changed->shape.cpus_min_per_node =
            static_cast<std::uint32_t>(std::min<Megabytes>(cpus, 1 << 30));
        return changed;
    }
    return job.request;
}

Megabytes max_memory_per_node(const Cluster& cluster, const PartitionConfig& partition) {
    return limits_in(cluster, partition).per_node;
}

// Compat: memory per GPU is not checked, and all of a node (0) is too much.
bool over_memory_limit(const Cluster& cluster, const Need& need) {
    const Megabytes most = max_memory_per_node(cluster, need.partition->config);
    if (most == 0) return false;
    if (need.mem_per_node) return *need.mem_per_node == 0 || *need.mem_per_node > most;
    if (!need.mem_per_cpu) return false;
    const Shape& shape = *need.shape;
    std::uint32_t tasks = shape.ntasks_per_node.value_or(1);
    if (shape.ntasks && shape.nodes_max) {
        tasks = std::max(tasks,
                         (*shape.ntasks + *shape.nodes_max - 1) / std::max(1u, *shape.nodes_max));
    }
    const std::vector<NodeKind>& kinds = cluster.layout().kinds;
    bool usable = false;
    for (std::uint32_t k = 0; k < kinds.size(); ++k) {
        if (!need.may_use_kind(k)) continue;
        usable = true;
        if (*need.mem_per_cpu <= most / cpus_for(need, kinds[k], tasks, 0)) return false;
    }
    return usable;
}

}  // namespace sluice
