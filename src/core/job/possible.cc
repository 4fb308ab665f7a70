#include "core/job/possible.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/limits/access.h"
#include "core/limits/memory.h"
#include "core/place/place.h"
#include "core/place/use.h"
#include "core/schedule/queue.h"
#include "core/schedule/scheduler.h"
#include "model/errors.h"
#include "model/features.h"
#include "model/hostlist.h"
#include "model/quantity.h"
#include "model/times.h"

namespace sluice {

namespace {

// "nodes of partition gpu have up to 4 GPUs (h100), 64 CPUs, 512G": the maximum of each on any
// node.
std::string most_on_a_node(const Cluster& cluster, const Partition& partition) {
    if (partition.nodes.empty())
        return fmt::format("partition {} has no nodes", partition.config.name);
    std::map<std::pair<std::string, std::string>, std::uint64_t> devices;  // name and type
    std::uint32_t cpus = 0;
    Megabytes memory = 0;
    for (NodeIndex index : partition.nodes) {
        const Node& node = cluster.node(index);
        for (const GresPool& pool : node.gres) {
            std::uint64_t& most = devices[{pool.name, pool.type}];
            most = std::max<std::uint64_t>(most, pool.count);
        }
        cpus = std::max(cpus, node.config.cpus);
        memory = std::max(memory, usable_memory(node));
    }
    std::string text = fmt::format("nodes of partition {} have up to", partition.config.name);
    for (const auto& [device, count] : devices) {
        const auto& [name, type] = device;
        text += fmt::format(" {} {}{}{},", count, name == "gpu" ? "GPU" : name,
                            count == 1 ? "" : "s", type.empty() ? "" : fmt::format(" ({})", type));
    }
    cpus = std::min(cpus, partition.config.max_cpus_per_node.value_or(cpus));
    return text + fmt::format(" {} CPU{}, {}", cpus, cpus == 1 ? "" : "s", print_memory(memory));
}

// "; rules for sockets and bindings leave it up to 4 of the CPUs": if these rules are the obstacle.
std::string most_in_detail(const Cluster& cluster, const Need& need) {
    const std::uint32_t most = depends_on_detail(need) ? most_cpus_in_detail(cluster, need) : 0;
    bool all = false;
    for (NodeIndex node : need.partition->nodes)
        all = all || usable_cpus(cluster.node(node)) == most;
    return most == 0 || all
               ? ""
               : fmt::format("; rules for sockets and bindings leave it up to {} of the CPUs",
                             most);
}

std::string count_of(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::uint64_t cpus_in(const Cluster& cluster, const Partition& partition) {
    std::uint64_t cpus = 0;
    for (NodeIndex node : partition.nodes) cpus += cluster.node(node).config.cpus;
    return cpus;
}

// What a refused request could ask for instead.
std::string what_is_possible(const Cluster& cluster, const Need& need, ErrorCode code) {
    const Shape& shape = *need.shape;
    const Partition& partition = *need.partition;
    const PartitionConfig& config = partition.config;
    if (code == ErrorCode::InvalidTimeLimit) {
        return fmt::format("partition {} allows {} at most", config.name,
                           print_time_limit(config.max_time));
    }
    if (code == ErrorCode::TooManyCpus) {
        return fmt::format("partition {} has {}", config.name,
                           count_of(cpus_in(cluster, partition), "CPU"));
    }
    if (code == ErrorCode::MemoryInvalid) {
        return fmt::format("partition {} allows {} of memory per node at most", config.name,
                           print_memory(max_memory_per_node(cluster, config)));
    }
    if (std::max(1u, shape.nodes_min) > partition.nodes.size()) {
        return fmt::format("partition {} has {}", config.name,
                           count_of(partition.nodes.size(), "node"));
    }
    if (code == ErrorCode::InvalidNodeCount) {
        bool too_few = shape.nodes_min < config.min_nodes;
        return fmt::format(
            "partition {} {}", config.name,
            too_few
                ? fmt::format("wants {} at least", count_of(config.min_nodes, "node"))
                : fmt::format("allows {} at most", count_of(config.max_nodes.value_or(0), "node")));
    }
    return most_on_a_node(cluster, partition) + most_in_detail(cluster, need);
}

// The limit of the partition that the job exceeds, if such jobs are refused.
std::optional<ErrorCode> limit_exceeded(const Cluster& cluster, const Job& job, const Need& need) {
    if (!cluster.settings().enforce_part_limits) return {};
    const Partition& partition = *need.partition;
    const Shape& shape = *need.shape;
    const PartitionBounds bounds = bounds_of(cluster, *job.request, partition.config);
    if (job.time_limit > bounds.max_time) return ErrorCode::InvalidTimeLimit;
    const std::uint64_t tasks = shape.overcommit ? need.nodes_min : need.tasks;
    std::uint64_t cpus = tasks * shape.cpus_per_task;
    if (std::max<std::uint64_t>(cpus, need.nodes_min) > cpus_in(cluster, partition))
        return ErrorCode::TooManyCpus;
    // Compat: here the minimum of -N counts too; it may be raised where limits are not enforced.
    bool too_few = shape.nodes_max && shape.nodes_min < bounds.min_nodes;
    bool too_many = shape.nodes_min > partition.nodes.size();
    if (too_few || too_many || !takes_node_count(bounds, shape)) return ErrorCode::InvalidNodeCount;
    if (over_memory_limit(cluster, need)) return ErrorCode::MemoryInvalid;
    return {};
}

Error refusal(const Cluster& cluster, const Need& need, ErrorCode code) {
    Error why{code, {}};
    if (code == ErrorCode::NodeConfigUnavailable)
        why.detail = what_no_node_has(need, cluster.scheduler().layout);
    why.hint = what_is_possible(cluster, need, code);
    return why;
}

}  // namespace

Result<void> check_names(const Cluster& cluster, const Shape& shape) {
    for (const std::string* list : {&shape.nodelist, &shape.exclude}) {
        if (list->empty()) continue;
        for (const std::string& name : TRY(Hostlist::parse(*list)).names()) {
            if (!cluster.find_node(name))
                return Error{ErrorCode::InvalidNodeName, fmt::format("there is no node {}", name)};
        }
    }
    auto any_node = [&](auto wanted) {
        for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
            if (wanted(cluster.node(NodeIndex{i}))) return true;
        }
        return false;
    };
    for (const auto* text : {&shape.constraint, &shape.prefer}) {
        ErrorCode code =
            text == &shape.prefer ? ErrorCode::InvalidPrefer : ErrorCode::InvalidFeature;
        for (const std::string& name : TRY(FeatureExpression::parse(*text)).names()) {
            bool known = any_node([&](const Node& node) {
                const std::vector<std::string>& has = node.config.features;
                return std::find(has.begin(), has.end(), name) != has.end();
            });
            if (!known) return Error{code, fmt::format("no node has the feature {}", name)};
        }
    }
    for (const auto* demands :
         {&shape.gres_per_node, &shape.gpus, &shape.gpus_per_task, &shape.gpus_per_socket}) {
        for (const GresCount& demand : *demands) {
            bool known = any_node([&](const Node& node) {
                return gres_count(node, {demand.name, "", 1}) > 0;
            });
            if (!known)
                return Error{ErrorCode::InvalidGres,
                             fmt::format("no node has gres/{}", demand.name)};
        }
    }
    return {};
}

Result<void> check_possible(const Cluster& cluster, const Job& job) {
    const bool all_count = cluster.settings().enforce_all_part_limits;
    std::optional<Error> why;
    bool is_possible = false;
    for (const std::string& name : partitions_of(job)) {
        Need need = TRY(need_of(cluster, job, *cluster.find_partition(name)));
        std::optional<ErrorCode> limit = limit_exceeded(cluster, job, need);
        if (limit && all_count) return refusal(cluster, need, *limit);
        bool fits = !limit && !on_idle_nodes(cluster, need).empty();
        if (fits && !all_count) return {};
        is_possible = is_possible || fits;
        if (!fits && !why)
            why = refusal(cluster, need, limit.value_or(ErrorCode::NodeConfigUnavailable));
    }
    if (is_possible) return {};
    return *std::move(why);
}

}  // namespace sluice
