#include "core/place/need.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/limits/allowance.h"
#include "core/place/use.h"
#include "model/devices.h"
#include "model/errors.h"
#include "model/features.h"
#include "model/hostlist.h"
#include "model/node_counts.h"

namespace sluice {

namespace {

std::uint64_t count_of(const std::vector<GresCount>& demands) {
    std::uint64_t sum = 0;
    for (const GresCount& demand : demands) sum += demand.count;
    return sum;
}

std::uint32_t round_up(std::uint32_t number, std::uint32_t unit) {
    return (number + unit - 1) / unit * unit;
}

// The CPUs of so many tasks, each with its share of the job's minimum.
std::uint32_t cpus_of(const Need& need, std::uint64_t tasks) {
    constexpr std::uint64_t kMost = 1u << 24;  // more than any node has; prevents overflows
    const std::uint64_t all = std::max(1u, need.tasks);
    const std::uint64_t share = (tasks * need.shape->cpus_min.value_or(0) + all - 1) / all;
    return static_cast<std::uint32_t>(std::min(
        kMost, std::max(tasks_with_cpus(*need.shape, tasks) * need.shape->cpus_per_task, share)));
}

// Whether a node in the partition has all the GPUs, and the CPUs and the memory for them.
bool one_node_has_gpus(const Need& need, const Layout& layout) {
    const std::uint64_t all = count_of(need.gpus);
    return std::any_of(
        need.partition->nodes.begin(), need.partition->nodes.end(), [&](NodeIndex node) {
            const NodeKind& kind = layout.kind(node);
            if (all * need.cpus_per_gpu.value_or(0) > kind.usable()) return false;
            if (need.memory_counts && all * need.mem_per_gpu.value_or(0) >
                                          static_cast<std::uint64_t>(kind.total[Amounts::kMemory]))
                return false;
            return std::all_of(need.gpus.begin(), need.gpus.end(), [&](const GresCount& demand) {
                const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
                return demand.count == 0 || (entry && entry->count >= demand.count);
            });
        });
}

// What comes with each GPU, which determines how many nodes are needed.
void fill_sizes_of_gpus(Need& need, const Shape& shape, const Settings& settings) {
    const PartitionConfig& config = need.partition->config;
    need.mem_per_gpu = shape.mem_per_gpu;
    need.cpus_per_gpu = shape.cpus_per_gpu;
    if (need.cpus_per_gpu || shape.cpus_per_task_set) return;
    need.cpus_per_gpu =
        config.def_cpus_per_gpu ? config.def_cpus_per_gpu : settings.def_cpus_per_gpu;
}

void fill_tasks(Need& need, const Shape& shape, const PartitionBounds& bounds,
                const Layout& layout) {
    need.nodes_min = std::max(1u, shape.nodes_min);
    need.nodes_max = shape.nodes_max;
    std::uint32_t least = bounds.min_nodes;
    if (least <= need.nodes_max.value_or(least)) need.nodes_min = std::max(need.nodes_min, least);
    // A request beyond the partition's limit is parked by the pass, with that reason.
    auto most = bounds.max_nodes;
    if (most && *most >= need.nodes_min)
        need.nodes_max = std::min(need.nodes_max.value_or(*most), *most);
    need.tasks_per_node = shape.ntasks_per_node;
    std::uint64_t gpus = count_of(shape.gpus);
    if (shape.ntasks) {
        need.tasks = *shape.ntasks;
        need.tasks_given = true;
        if (need.nodes_min > need.tasks) need.nodes_min = std::max(1u, need.tasks);
    } else if (shape.ntasks_per_gpu && gpus > 0) {
        need.tasks = static_cast<std::uint32_t>(gpus * *shape.ntasks_per_gpu);
        need.tasks_given = true;
    } else if (shape.ntasks_per_gpu && count_of(shape.gres_per_node) > 0 && !need.tasks_per_node) {
        need.tasks_per_node =
            static_cast<std::uint32_t>(count_of(shape.gres_per_node) * *shape.ntasks_per_gpu);
        need.tasks = *need.tasks_per_node * need.nodes_min;
    } else {
        need.tasks = std::max(1u, shape.ntasks_per_node.value_or(1)) * need.nodes_min;
    }
    for (GresCount demand : shape.gpus_per_socket) {
        demand.count *= shape.sockets_per_node.value_or(1);
        need.gres_per_node.push_back(std::move(demand));
    }
    need.gres_per_node.insert(need.gres_per_node.end(), shape.gres_per_node.begin(),
                              shape.gres_per_node.end());
    need.gpus = shape.gpus;
    if (shape.ntasks && shape.ntasks_per_gpu && gpus == 0 && count_of(shape.gres_per_node) == 0) {
        need.gpus = {{"gpu", "", (need.tasks + *shape.ntasks_per_gpu - 1) / *shape.ntasks_per_gpu}};
    }
    // A total beside a count per node or task gives the number of nodes or tasks, not more GPUs.
    std::uint64_t per_node = 0;
    for (const GresCount& demand : shape.gres_per_node)
        per_node += demand.name == "gpu" ? demand.count : 0;
    if (gpus > 0 && per_node > 0) {
        need.nodes_min =
            std::max(need.nodes_min, static_cast<std::uint32_t>((gpus + per_node - 1) / per_node));
        need.nodes_max = need.nodes_min;
        if (!need.tasks_given) need.tasks = std::max(need.tasks, need.nodes_min);
    }
    if (per_node > 0 || !shape.gpus_per_task.empty()) need.gpus.clear();
    if (need.gpus.empty()) return;
    // All on one node if possible. More nodes than tasks only if no node has so many.
    bool one_node = need.nodes_max == 1u || (need.tasks == 1 && need.nodes_min == 1);
    bool may_spread = need.nodes_max != 1u && !need.tasks_given;
    if (one_node && !(may_spread && !one_node_has_gpus(need, layout))) {
        need.nodes_max = 1;
        need.gres_per_node.insert(need.gres_per_node.end(), need.gpus.begin(), need.gpus.end());
        need.gpus.clear();
    }
}

// -N 1,5,9: minimum and maximum become counts of the list. If none is left between them it fits
// nowhere.
Result<void> fill_sizes(Need& need, const Shape& shape) {
    if (shape.node_sizes.empty()) return {};
    TaskSet sizes = TRY(parse_node_sizes(shape.node_sizes));
    const std::uint32_t least = next_size(sizes, need.nodes_min);
    const std::uint32_t most = last_size(sizes, need.nodes_max.value_or(sizes.last()));
    need.nodes_min = least > 0 ? least : sizes.last() + 1;
    need.nodes_max = most;
    if (!need.tasks_given)
        need.tasks = std::max(1u, need.tasks_per_node.value_or(1)) * need.nodes_min;
    need.node_sizes = std::move(sizes);
    return {};
}

void fill_defaults(Need& need, const Shape& shape, const Settings& settings) {
    const PartitionConfig& config = need.partition->config;
    need.mem_per_cpu = shape.mem_per_cpu;
    need.mem_per_node = shape.mem_per_node;
    if (need.mem_per_cpu || need.mem_per_node || need.mem_per_gpu || !need.memory_counts) return;
    bool uses_gpus = gpus_on_node(need, need.tasks, {}) + count_of(need.gpus) > 0;
    auto per_gpu = config.def_mem_per_gpu ? config.def_mem_per_gpu : settings.def_mem_per_gpu;
    if (uses_gpus && per_gpu)
        need.mem_per_gpu = per_gpu;
    else if (config.def_mem_per_cpu)
        need.mem_per_cpu = config.def_mem_per_cpu;
    else if (config.def_mem_per_node)
        need.mem_per_node = config.def_mem_per_node;
    else if (settings.def_mem_per_cpu)
        need.mem_per_cpu = settings.def_mem_per_cpu;
    else
        need.mem_per_node = settings.def_mem_per_node.value_or(0);
}

// -m arbitrary: the tasks of a node that the job names.
std::uint32_t& tasks_of(Need& need, NodeIndex node) {
    need.tasks_on_required.resize(need.required.size());
    const auto found = std::find(need.required.begin(), need.required.end(), node);
    return need.tasks_on_required[static_cast<std::size_t>(found - need.required.begin())];
}

Result<void> fill_names(Need& need, const Shape& shape, const Cluster& cluster) {
    if (!shape.nodelist.empty()) {
        std::vector<bool> known(cluster.node_count());
        for (const std::string& name : TRY(Hostlist::parse(shape.nodelist)).names()) {
            auto node = cluster.find_node(name);
            if (!node) return Error{ErrorCode::InvalidNodeName, name};
            if (!known[node->value]) need.required.push_back(*node);
            known[node->value] = true;
            if (shape.arbitrary) ++tasks_of(need, *node);
        }
    }
    if (shape.exclude.empty()) return {};
    need.excluded.resize(cluster.node_count());
    for (const std::string& name : TRY(Hostlist::parse(shape.exclude)).names()) {
        if (auto node = cluster.find_node(name)) need.excluded[node->value] = true;
    }
    return {};
}

std::vector<bool> kinds_with(const Layout& layout, const FeatureChoice& choice) {
    std::vector<bool> kinds;
    for (const NodeKind& kind : layout.kinds) kinds.push_back(matches(choice, kind.features));
    return kinds;
}

// [a|b] is one way for each alternative; counts apply to all of them.
Result<void> fill_features(Need& need, const Shape& shape, const Layout& layout) {
    FeatureExpression demand = TRY(FeatureExpression::parse(shape.constraint));
    FeatureWay way{kinds_with(layout, demand.every), {}};
    for (const FeatureExpression::Counted& counted : demand.counted) {
        way.counts.push_back({counted.count, kinds_with(layout, counted.choice)});
    }
    if (demand.same.empty()) need.ways.push_back(way);
    for (const FeatureChoice& choice : demand.same) {
        FeatureWay one = way;
        std::vector<bool> same = kinds_with(layout, choice);
        for (std::size_t k = 0; k < same.size(); ++k) one.kinds[k] = one.kinds[k] && same[k];
        need.ways.push_back(std::move(one));
    }
    need.nodes_min = std::max(need.nodes_min, demand.nodes_min());
    if (shape.prefer.empty()) return {};
    FeatureExpression preferred = TRY(FeatureExpression::parse(shape.prefer));
    for (const NodeKind& kind : layout.kinds)
        need.preferred.push_back(preferred.matches(kind.features));
    return {};
}

// What a node must have, whatever is in use on it. Compat: the first one in this order that no node
// meets is named; --ntasks-per-node counts even if -n asks for fewer.
struct Requirement {
    std::string_view unmet;
    bool (*is_met)(const Need&, const NodeKind&);
};

constexpr Requirement kRequirements[] = {
    {"CPU count per node can not be satisfied",
     [](const Need& need, const NodeKind& kind) {
         const Shape& shape = *need.shape;
         std::uint64_t cpus =
             shape.cpus_per_task * tasks_with_cpus(shape, shape.ntasks_per_node.value_or(1));
         return std::max<std::uint64_t>(
                    {cpus, cpus_of(need, 1), shape.cpus_min_per_node.value_or(1)}) <= kind.cpus;
     }},
    {"Memory specification can not be satisfied",
     [](const Need& need, const NodeKind& kind) {
         Megabytes least = std::max(need.mem_per_node.value_or(0), need.mem_per_cpu.value_or(0));
         return !need.memory_counts ||
                least <= static_cast<Megabytes>(kind.total[Amounts::kMemory]);
     }},
    {"Temporary disk specification can not be satisfied",
     [](const Need& need, const NodeKind& kind) {
         return need.shape->tmp_min.value_or(0) <= kind.tmp_disk;
     }},
    {"Socket, core and/or thread specification can not be satisfied",
     [](const Need& need, const NodeKind& kind) {
         const Shape& shape = *need.shape;
         return shape.sockets_per_node.value_or(1) <= kind.sockets &&
                shape.cores_per_socket.value_or(1) <= kind.cores_per_socket &&
                shape.threads_per_core.value_or(1) <= kind.threads;
     }},
};

bool is_large_enough(const Need& need, const NodeKind& kind) {
    return std::all_of(std::begin(kRequirements), std::end(kRequirements),
                       [&](const Requirement& each) { return each.is_met(need, kind); });
}

bool has_devices(const Need& need, const NodeKind& kind) {
    const Shape& shape = *need.shape;
    for (const auto* demands : {&need.gres_per_node, &need.gpus, &shape.gpus_per_task}) {
        for (const GresCount& demand : *demands) {
            const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
            if (demand.count == 0) continue;
            if (!entry || (entry->no_consume && entry->count < demand.count)) return false;
        }
    }
    return std::all_of(
        shape.gpus_per_socket.begin(), shape.gpus_per_socket.end(), [&](const GresCount& demand) {
            const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
            return demand.count == 0 ||
                   entry->has_on_sockets(demand.count, shape.sockets_per_node.value_or(1));
        });
}

}  // namespace

std::uint64_t gpus_on_node(const Need& need, std::uint32_t tasks,
                           const std::vector<std::uint32_t>& gpus) {
    std::uint64_t sum = 0;
    for (const GresCount& demand : need.gres_per_node)
        sum += demand.name == "gpu" ? demand.count : 0;
    for (const GresCount& demand : need.shape->gpus_per_task)
        sum += demand.name == "gpu" ? demand.count * tasks : 0;
    for (std::uint32_t count : gpus) sum += count;
    return sum;
}

std::uint32_t whole_node_cpus(const Need& need, const NodeKind& kind) {
    if (need.shape->thread_spec) return kind.cpus - std::min(kind.cpus, *need.shape->thread_spec);
    if (!need.shape->core_spec) return kind.usable();
    return kind.cpus - std::min(kind.cpus, *need.shape->core_spec * kind.threads);
}

std::uint32_t cpus_for(const Need& need, const NodeKind& kind, std::uint32_t tasks,
                       std::uint64_t gpus) {
    const Shape& shape = *need.shape;
    if (need.exclusive == Exclusive::Node || need.unit == Unit::Node)
        return std::min(kind.usable(), whole_node_cpus(need, kind));
    std::uint32_t cpus = std::max({cpus_of(need, tasks), shape.cpus_min_per_node.value_or(1), 1u});
    if (need.cpus_per_gpu)
        cpus = std::max(cpus, static_cast<std::uint32_t>(*need.cpus_per_gpu * gpus));
    if (shape.one_thread_per_core || shape.threads_per_core == 1u) {
        cpus *= kind.threads;
    } else if (shape.threads_per_core && *shape.threads_per_core < kind.threads) {
        cpus = (cpus + *shape.threads_per_core - 1) / *shape.threads_per_core * kind.threads;
    }
    if (shape.ntasks_per_core) {
        const auto counted = static_cast<std::uint32_t>(tasks_with_cpus(shape, tasks));
        const std::uint32_t cores = (counted + *shape.ntasks_per_core - 1) / *shape.ntasks_per_core;
        cpus = std::max(cpus, cores * kind.threads);
    }
    if (need.unit == Unit::Socket)
        return std::min(round_up(cpus, kind.cores_per_socket * kind.threads),
                        std::max(cpus, kind.usable()));
    return need.unit == Unit::Core ? round_up(cpus, kind.threads) : cpus;
}

Amounts amounts_for(const Need& need, const NodeKind& kind, std::uint32_t tasks,
                    const std::vector<std::uint32_t>& gpus) {
    Amounts amounts;
    const Shape& shape = *need.shape;
    std::uint64_t gpu_count = gpus_on_node(need, tasks, gpus);
    std::uint32_t cpus = cpus_for(need, kind, tasks, gpu_count);
    auto clamped = [](std::uint64_t amount) {
        return static_cast<std::int32_t>(std::min<std::uint64_t>(amount, 1u << 30));
    };
    amounts[Amounts::kCpus] = clamped(cpus);
    if (need.memory_counts) {
        std::uint64_t memory = need.mem_per_cpu.value_or(0) * cpus;
        if (need.mem_per_gpu) memory = *need.mem_per_gpu * gpu_count;
        if (need.mem_per_node) memory = *need.mem_per_node;
        bool all = need.mem_per_node == Megabytes{0};
        amounts[Amounts::kMemory] = all ? kind.total[Amounts::kMemory] : clamped(memory);
    }
    if (need.partition->config.max_cpus_per_node) {
        kind.add_gres(amounts, std::string(NodeKind::kPartitionCpus), need.partition->config.name,
                      cpus);
    }
    if (!kind.for_gpus.empty() && !need.asks_for_gpus() && need.exclusive != Exclusive::Node)
        kind.add_gres(amounts, std::string(NodeKind::kCpusWithoutGpu), {}, cpus);
    for (const GresCount& demand : need.gres_per_node)
        kind.add_gres(amounts, demand.name, demand.type, demand.count);
    for (const GresCount& demand : shape.gpus_per_task)
        kind.add_gres(amounts, demand.name, demand.type, demand.count * tasks);
    for (std::size_t i = 0; i < gpus.size(); ++i)
        kind.add_gres(amounts, need.gpus[i].name, need.gpus[i].type, gpus[i]);
    return amounts;
}

std::uint32_t tasks_that_fit(const Need& need, const NodeKind& kind, const Amounts& free) {
    const Shape& shape = *need.shape;
    std::int32_t cpus = free[Amounts::kCpus];
    if (cpus <= 0) return 0;
    if (auto most = need.partition->config.max_cpus_per_node)
        cpus = std::min(cpus, static_cast<std::int32_t>(*most));
    if (auto most = need.partition->config.max_cpus_per_socket) {
        cpus = std::min(cpus, static_cast<std::int32_t>(*most * kind.sockets));
    }
    std::uint32_t tasks = static_cast<std::uint32_t>(cpus) / std::max(1u, shape.cpus_per_task);
    if (need.exclusive == Exclusive::Node)
        tasks = whole_node_cpus(need, kind) / std::max(1u, shape.cpus_per_task);
    if (shape.overcommit && tasks > 0) tasks = std::max(tasks, need.tasks_max);
    tasks = std::min(tasks, need.tasks_per_node.value_or(tasks));
    if (shape.ntasks_per_socket) tasks = std::min(tasks, *shape.ntasks_per_socket * kind.sockets);
    if (shape.ntasks_per_core) tasks = std::min(tasks, *shape.ntasks_per_core * kind.cores());
    for (const GresCount& demand : shape.gpus_per_task) {
        const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
        if (!entry) return 0;
        if (demand.count == 0 || !kind.is_planned(*entry)) continue;
        auto left = static_cast<std::uint64_t>(std::max(0, free[kind.place_of(*entry)]));
        tasks = std::min(tasks, static_cast<std::uint32_t>(left / demand.count));
    }
    tasks = std::min(tasks, need.tasks);
    while (tasks > 0 && cpus_of(need, tasks) > whole_node_cpus(need, kind)) --tasks;
    std::vector<std::uint32_t> gpus(need.gpus.size(), 1);  // at least one of each on every node
    while (tasks > 0 && !free.holds(amounts_for(need, kind, tasks, gpus))) --tasks;
    // CPUs of a partition's limit are counted as they are given out.
    while (tasks > 0 && amounts_for(need, kind, tasks, gpus)[Amounts::kCpus] > cpus &&
           need.exclusive != Exclusive::Node)
        --tasks;
    return tasks;
}

bool Need::asks_for_gpus() const {
    for (const auto* demands : {&gres_per_node, &gpus, &shape->gpus_per_task}) {
        for (const GresCount& demand : *demands) {
            if (demand.count > 0 && (demand.name == "gpu" || is_part_of_gpu(demand.name)))
                return true;
        }
    }
    return false;
}

bool Need::is_uniform() const {
    if (ways.size() != 1 || !ways.front().counts.empty() || !gpus.empty()) return false;
    if (nodes_max && *nodes_max > nodes_min) return false;
    return nodes_min == tasks || (nodes_max == 1u) ||
           (tasks_per_node && tasks == *tasks_per_node * nodes_min && nodes_max);
}

std::uint32_t Need::tasks_on_each() const {
    return std::max(1u, tasks / nodes_min);
}

std::string_view what_no_node_has(const Need& need, const Layout& layout) {
    std::set<std::uint32_t> kinds;
    for (NodeIndex node : need.partition->nodes) {
        std::uint32_t kind = layout.kind_of[node.value];
        bool wanted = std::any_of(need.ways.begin(), need.ways.end(),
                                  [&](const FeatureWay& way) { return way.kinds[kind]; });
        if (wanted && !need.excludes(node)) kinds.insert(kind);
    }
    if (kinds.empty()) return {};
    for (const Requirement& each : kRequirements) {
        std::erase_if(kinds,
                      [&](std::uint32_t kind) { return !each.is_met(need, layout.kinds[kind]); });
        if (kinds.empty()) return each.unmet;
    }
    return {};
}

// How devices are chosen, by --gres-flags and SelectTypeParameters.
static void fill_device_rules(Need& need, const Shape& shape, const Settings& settings,
                              const Layout& layout) {
    need.binds_gpus =
        shape.bind_gpus_to_cores || (settings.device_rules.enforces_binding && !shape.unbind_gpus);
    need.parts_of_several_gpus = settings.device_rules.parts_of_several_gpus;
    need.one_task_per_gpu = shape.one_task_per_gpu.value_or(settings.device_rules.one_task_per_gpu);
    need.spreads_parts = settings.device_rules.spreads_parts;
    for (const std::vector<GresCount>* demands :
         {&std::as_const(need.gres_per_node), &std::as_const(need.gpus), &shape.gpus_per_task}) {
        for (const GresCount& demand : *demands) {
            for (const NodeKind& kind : layout.kinds) {
                const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
                if (entry && (entry->is_shared || !kind.is_planned(*entry)))
                    need.counts_too_much = true;
            }
        }
    }
    for (const NodeKind& kind : layout.kinds)
        need.counts_too_much = need.counts_too_much || !kind.for_gpus.empty();
}

// Computed once: searches use it for every node.
static void fill_least(Need& need, const Layout& layout) {
    std::uint32_t tasks = need.is_uniform() ? need.tasks_on_each() : 1;
    std::vector<std::uint32_t> gpus(need.gpus.size(), 1);
    need.least.assign(layout.kinds.size(), Amounts::cpus_only(Need::kNowhere));
    for (std::size_t k = 0; k < layout.kinds.size(); ++k) {
        bool wanted = std::any_of(need.ways.begin(), need.ways.end(),
                                  [&](const FeatureWay& way) { return way.kinds[k]; });
        if (need.possible[k] && wanted)
            need.least[k] = amounts_for(need, layout.kinds[k], tasks, gpus);
    }
}

Result<Need> need_of(const Cluster& cluster, const Job& job, const Partition& partition) {
    const Shape& shape = job.request->shape;
    const Settings& settings = cluster.settings();
    const Layout& layout = cluster.layout();
    Need need{.shape = &shape, .partition = &partition, .user = job.user};
    need.exclusive = exclusive_in(job, partition.config);
    need.sharers = sharers_in(job, partition.config);
    need.unit = settings.unit;
    need.memory_counts = settings.memory_is_consumable;
    need.tasks_max = settings.max_tasks_per_node;
    fill_sizes_of_gpus(need, shape, settings);
    fill_tasks(need, shape, bounds_of(cluster, *job.request, partition.config), layout);
    TRY(fill_sizes(need, shape));
    fill_defaults(need, shape, settings);
    TRY(fill_names(need, shape, cluster));
    TRY(fill_features(need, shape, layout));
    fill_device_rules(need, shape, settings, layout);
    std::uint32_t most_on_a_node = 0;
    const std::uint32_t least = need.is_uniform() ? need.tasks_on_each() : 1;
    for (const NodeKind& kind : layout.kinds) {
        std::uint32_t tasks = has_devices(need, kind) && is_large_enough(need, kind)
                                  ? tasks_that_fit(need, kind, kind.total)
                                  : 0;
        need.possible.push_back(tasks >= least);
        most_on_a_node = std::max(most_on_a_node, tasks);
    }
    // Tasks as large as nodes: then the number of nodes is known, which is far easier to plan.
    bool open = need.tasks_given && !need.nodes_max && need.gpus.empty() && !shape.spread;
    if (open && most_on_a_node == 1) need.nodes_min = need.tasks;
    if (open && most_on_a_node == 1) need.nodes_max = need.tasks;
    fill_least(need, layout);
    return need;
}

}  // namespace sluice
