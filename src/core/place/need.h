// core/place/need.h
//
// What a job needs in one partition: its request with the defaults of partition and cluster filled
// in, and what that means on each kind of node.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/cluster.h"
#include "core/place/layout.h"

namespace sluice {

// One way to satisfy --constraint: which kinds of nodes fit, and how many of each are required.
struct FeatureWay {
    struct Count {
        std::uint32_t nodes = 0;
        std::vector<bool> kinds;
    };
    std::vector<bool> kinds;
    std::vector<Count> counts;
};

struct Need {
    const Shape* shape = nullptr;          // borrowed from the job's request
    const Partition* partition = nullptr;  // borrowed from the cluster
    UserId user;
    Exclusive exclusive = Exclusive::No;  // the job's request or the partition's rule
    std::uint8_t sharers = 1;             // jobs that may hold one CPU, including this one
    Unit unit = Unit::Core;
    bool memory_counts = true;
    std::uint32_t nodes_min = 1;
    std::optional<std::uint32_t> nodes_max;
    std::optional<TaskSet> node_sizes;  // the only counts from min to max that are allowed
    std::uint32_t tasks = 1;            // in all, at least
    bool tasks_given = false;           // else as many as the nodes require
    std::optional<std::uint32_t> tasks_per_node;
    std::uint32_t tasks_max = 0;                   // on a node, with --overcommit
    std::vector<std::uint32_t> tasks_on_required;  // -m arbitrary; else empty
    std::optional<Megabytes> mem_per_cpu;
    std::optional<Megabytes> mem_per_node;  // 0: all of it
    std::optional<Megabytes> mem_per_gpu;
    std::optional<std::uint32_t> cpus_per_gpu;
    std::vector<GresCount>
        gres_per_node;            // first those of --gpus-per-socket, for all sockets together
    std::vector<GresCount> gpus;  // of the whole job, to be spread over its nodes
    bool binds_gpus = false;      // only CPUs close to the GPUs
    bool parts_of_several_gpus = false;  // shard, mps: not all of one GPU
    bool one_task_per_gpu = false;       // tasks have parts of different GPUs
    bool spreads_parts = false;          // over the least loaded GPUs
    bool counts_too_much = false;  // devices of the nodes depend on each other, or are not planned
    std::vector<NodeIndex> required;  // in the order of the request
    std::vector<bool> excluded;       // by node index; empty: none
    std::vector<FeatureWay> ways;     // tried in order
    std::vector<bool>
        possible;  // by kind: an idle node fits a task, or all that each node must hold
    std::vector<bool> preferred;          // by kind (--prefer); empty: no preference
    std::vector<std::uint32_t> datasets;  // of the job, by node: core/place/data.h
    std::vector<Amounts> least;  // by kind: the least that a node gives; kNowhere if none fits
    static constexpr std::int32_t kNowhere = 1 << 30;  // CPUs

    bool may_use_kind(std::uint32_t kind) const { return least[kind][Amounts::kCpus] != kNowhere; }

    bool allows_size(std::size_t nodes) const {
        return !node_sizes || node_sizes->contains(static_cast<std::uint32_t>(nodes));
    }
    bool excludes(NodeIndex node) const { return !excluded.empty() && excluded[node.value]; }
    bool asks_for_gpus() const;  // whole ones, or parts
    // Whether every node gives the same: one way, a fixed number of tasks and devices.
    bool is_uniform() const;
    std::uint32_t tasks_on_each() const;  // of a uniform need
};

Result<Need> need_of(const Cluster& cluster, const Job& job, const Partition& partition);

// The request that no node of the partition can ever satisfy, in Slurm's words; empty: no single
// one.
std::string_view what_no_node_has(const Need& need, const Layout& layout);

// What `tasks` tasks take on a node of the kind, with that many of the whole job's GPUs (one number
// for each entry of need.gpus, or none).
Amounts amounts_for(const Need& need, const NodeKind& kind, std::uint32_t tasks,
                    const std::vector<std::uint32_t>& gpus = {});
// How many tasks fit into what is free; 0: the node does not fit.
std::uint32_t tasks_that_fit(const Need& need, const NodeKind& kind, const Amounts& free);
// CPUs for so many tasks, rounded up to the unit that is given out.
std::uint32_t cpus_for(const Need& need, const NodeKind& kind, std::uint32_t tasks,
                       std::uint64_t gpus);
// CPUs of a whole node: --core-spec is for the job what CoreSpecCount is for all.
std::uint32_t whole_node_cpus(const Need& need, const NodeKind& kind);
// GPUs that so many tasks get on one node, including the whole job's (`gpus`).
std::uint64_t gpus_on_node(const Need& need, std::uint32_t tasks,
                           const std::vector<std::uint32_t>& gpus);

}  // namespace sluice
