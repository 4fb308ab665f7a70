#include "core/limits/memory.h"

#include <algorithm>

#include "core/schedule/queue.h"

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

Megabytes divided_up(Megabytes amount, Megabytes by) { return (amount + by - 1) / by; }

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
        // No node has so many: refused later, and the product stays a number.
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

bool over_memory_limit(const Cluster& cluster, const PartitionConfig& partition, const Need& need) {
    Megabytes most = limits_in(cluster, partition).per_node;
    if (most == 0) return false;
    if (need.mem_per_node) return *need.mem_per_node > most;
    const Shape& shape = *need.shape;
    std::uint64_t cpus = std::max<std::uint64_t>(
        std::uint64_t{shape.cpus_per_task} * shape.ntasks_per_node.value_or(1),
        shape.cpus_min_per_node.value_or(1));
    return need.mem_per_cpu && *need.mem_per_cpu > most / cpus;
}

}  // namespace sluice
