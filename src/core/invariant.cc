// core/invariant.cc
//
// What must hold after every event. Each component checks itself; here are the rules between jobs
// and nodes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/cluster.h"
#include "core/place/use.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"

namespace sluice {

namespace {

using Broken = std::optional<std::string>;

// What jobs hold of a node.
struct NodeHeld {
    std::vector<int> cpus;
    Megabytes memory = 0;
    std::set<std::pair<std::string, std::uint32_t>> devices;
};

Broken job_broken(const Job& job) {
    if (is_finished(job.state) && !job.run.end_time)
        return fmt::format("job {} ended without a time", job.id.value);
    if (job.admin_hold && job.priority != 0)
        return fmt::format("job {} is held and may start", job.id.value);
    if (is_live(job) && !job.run.allocation)
        return fmt::format("job {} runs nowhere", job.id.value);
    return {};
}

Broken add_cpus(const Job& job, const NodeShare& share, NodeHeld& held) {
    if (job.run.cpus_lent) return {};
    const bool shares = job.run.allocation->sharers > 1;
    Broken broken;
    for (std::uint32_t cpu : share.cpus) {
        const bool alone = held.cpus[cpu] == 0;
        held.cpus[cpu] += shares ? 1 : 256;  // a job that does not share leaves no room for another
        if (!alone && held.cpus[cpu] > 255)
            broken = fmt::format("CPU {} allocated twice (job {})", cpu, job.id.value);
    }
    return broken;
}

Broken add_devices(const Job& job, const NodeShare& share, NodeHeld& held) {
    for (const auto& devices : share.gres) {
        if (!devices.parts.empty()) continue;  // jobs share them
        for (std::uint32_t index : devices.indexes) {
            if (!held.devices.emplace(devices.name, index).second)
                return fmt::format("{} {} allocated twice (job {})", devices.name, index,
                                   job.id.value);
        }
    }
    return {};
}

// Adds what the job holds; the text says what another job holds already.
Broken add_job(const Cluster& cluster, const Job& job, std::vector<NodeHeld>& all) {
    if (!job.run.allocation) return {};
    Broken broken;
    const std::vector<NodeIndex>& completing = job.run.completing_nodes;
    for (const NodeShare& share : job.run.allocation->nodes) {
        const bool is_here = is_live(job) || std::find(completing.begin(), completing.end(),
                                                       share.node) != completing.end();
        if (!is_here) continue;
        NodeHeld& held = all[share.node.value];
        held.cpus.resize(cluster.node(share.node).cpu_used.size());
        held.memory += share.memory;
        Broken cpus = add_cpus(job, share, held), devices = add_devices(job, share, held);
        if (cpus || devices) broken = cpus ? cpus : devices;
    }
    return broken;
}

Broken node_broken(const Node& node, const NodeHeld& held) {
    auto used = static_cast<std::uint32_t>(
        std::count_if(held.cpus.begin(), held.cpus.end(), [](int count) { return count > 0; }));
    if (used != node.cpus_used)
        return fmt::format("node {} counts {} CPUs, jobs hold {}", node.config.name, node.cpus_used,
                           used);
    if (held.memory != node.memory_used)
        return fmt::format("node {} memory does not add up", node.config.name);
    if (node.memory_used > usable_memory(node))
        return fmt::format("node {} memory is overcommitted", node.config.name);
    return {};
}

Broken power_broken(const Cluster& cluster, const Node& node) {
    if (node.power.state == PowerState::Up) return {};
    for (JobId id : node.jobs) {
        const Job& job = cluster.job(id);
        if (node.power.state == PowerState::PoweringDown)
            return fmt::format("job {} has node {}, which is being switched off", id.value,
                               node.config.name);
        if (is_live(job) && !is_configuring(job))
            return fmt::format("job {} runs on node {}, which is switched off", id.value,
                               node.config.name);
    }
    return {};
}

Broken nodes_broken(const Cluster& cluster) {
    std::vector<NodeHeld> held(cluster.node_count());
    Broken broken;
    cluster.jobs().for_each([&](const Job& job) {
        if (Broken found = job_broken(job)) broken = found;
        if (Broken found = add_job(cluster, job, held)) broken = found;
    });
    for (std::uint32_t i = 0; i < cluster.node_count() && !broken; ++i)
        broken = node_broken(cluster.node(NodeIndex{i}), held[i]);
    for (std::uint32_t i = 0; i < cluster.node_count() && !broken; ++i)
        broken = power_broken(cluster, cluster.node(NodeIndex{i}));
    return broken;
}

Broken preemption_broken(const Cluster& cluster) {
    for (const auto& [id, leaving] : cluster.scheduler().making_room) {
        auto job = cluster.find_job(JobId{id});
        if (!job || job->state != JobState::Pending)
            return fmt::format("room is made for job {}, which does not wait", id);
    }
    return {};
}

}  // namespace

std::optional<std::string> broken_invariant(const Cluster& cluster) {
    if (Broken broken = nodes_broken(cluster)) return broken;
    if (Broken broken = preemption_broken(cluster)) return broken;
    if (Broken broken = cluster.waiting().broken(cluster)) return broken;
    if (Broken broken = cluster.licenses().broken(cluster.jobs())) return broken;
    if (Broken broken = cluster.limits().broken(cluster)) return broken;
    if (Broken broken = cluster.usage().broken()) return broken;
    if (Broken broken = cluster.arrays().broken(cluster.jobs())) return broken;
    if (Broken broken = cluster.steps().broken(cluster.jobs())) return broken;
    if (Broken broken = cluster.clients().broken(cluster.jobs())) return broken;
    if (Broken broken = cluster.triggers().broken()) return broken;
    return cluster.reservation_table().broken(cluster.node_count());
}

}  // namespace sluice
