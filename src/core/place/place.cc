#include "core/place/place.h"

#include <algorithm>

#include "core/node/use.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

std::uint32_t tasks_wanted(const Shape& shape) {
    if (shape.ntasks) return *shape.ntasks;
    return std::max(1u, shape.ntasks_per_node.value_or(1)) * std::max(1u, shape.nodes_min);
}

// One node as a candidate: how many tasks it can take, at most.
struct Candidate {
    const Node* node = nullptr;
    std::uint32_t tasks_max = 0;
    std::uint32_t cpus_free = 0;
};

std::uint64_t count_of(const std::vector<GresCount>& wishes) {
    std::uint64_t sum = 0;
    for (const GresCount& wish : wishes) sum += wish.count;
    return sum;
}

bool has_feature(const Node& node, const std::string& feature) {
    return feature.empty() || std::find(node.config.features.begin(), node.config.features.end(),
                                        feature) != node.config.features.end();
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_eligible(const Node& node, const Need& need) {
    return has_feature(node, need.shape->constraint) && !contains(need.exclude, node.config.name) &&
           !node.removed;
}

// A node that cannot be shared with whoever is on it.
bool is_closed(const Node& node, const Need& need) {
    if (node.jobs.empty()) return false;
    if (node.exclusive || need.exclusive == Exclusive::Node) return true;
    if (node.exclusive_user && *node.exclusive_user != need.user) return true;
    return need.exclusive == Exclusive::User && !(node.exclusive_user == need.user);
}

Megabytes memory_free(const Node& node, bool ignore_use) {
    Megabytes usable = usable_memory(node);
    return ignore_use ? usable : usable - std::min(usable, node.memory_used);
}

std::uint64_t gres_left(const Node& node, const GresCount& wish, bool ignore_use) {
    return ignore_use ? gres_count(node, wish) : gres_free(node, wish);
}

// How many tasks fit on the node, zero when not even what is asked per node does.
std::uint32_t tasks_that_fit(const Cluster& cluster, const Node& node, const Need& need, bool ignore_use) {
    const Shape& shape = *need.shape;
    std::uint32_t cpus = node.config.cpus - std::min(node.config.cpus, ignore_use ? 0 : node.cpus_used);
    if (need.partition->config.max_cpus_per_node) {
        cpus = std::min(cpus, *need.partition->config.max_cpus_per_node);
    }
    if (cpus < shape.cpus_min_per_node.value_or(1)) return 0;
    std::uint32_t tasks = cpus / shape.cpus_per_task;
    if (shape.ntasks_per_node) tasks = std::min(tasks, *shape.ntasks_per_node);
    if (cluster.settings().memory_is_consumable) {
        Megabytes free = memory_free(node, ignore_use);
        if (need.mem_per_node) {
            Megabytes wanted = *need.mem_per_node == 0 ? usable_memory(node) : *need.mem_per_node;
            if (free < wanted) return 0;
        } else if (need.mem_per_cpu && *need.mem_per_cpu > 0) {
            tasks = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(tasks, free / (*need.mem_per_cpu * shape.cpus_per_task)));
        }
    }
    if (shape.tmp_min && node.config.tmp_disk < *shape.tmp_min) return 0;
    for (const GresCount& wish : shape.gres_per_node) {
        if (gres_left(node, wish, ignore_use) < wish.count) return 0;
    }
    for (const GresCount& wish : shape.gpus_per_task) {
        if (wish.count == 0) continue;
        tasks = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(tasks, gres_left(node, wish, ignore_use) / wish.count));
    }
    for (const GresCount& wish : shape.gpus) {
        if (gres_left(node, wish, ignore_use) == 0) return 0;
    }
    return tasks;
}

std::vector<Candidate> candidates_of(const Cluster& cluster, const Need& need, bool ignore_use,
                                     bool& some_unavailable) {
    std::vector<Candidate> candidates;
    for (NodeIndex index : need.partition->nodes) {
        const Node& node = cluster.node(index);
        if (!is_eligible(node, need)) continue;
        if (!ignore_use && !may_take_jobs(node)) {
            some_unavailable = some_unavailable || node.down || !node.connected || node.admin_flags != 0;
            continue;
        }
        if (!ignore_use && is_closed(node, need)) continue;
        std::uint32_t tasks = tasks_that_fit(cluster, node, need, ignore_use);
        if (tasks == 0) continue;
        candidates.push_back({&node, tasks, node.config.cpus - (ignore_use ? 0 : node.cpus_used)});
    }
    return candidates;
}

// Nodes that are named must be among them: they come first.
bool prefer_named(std::vector<Candidate>& candidates, const std::vector<std::string>& names) {
    std::size_t found = 0;
    for (const std::string& name : names) {
        auto named = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return candidate.node->config.name == name;
        });
        if (named == candidates.end()) return false;
        auto front = candidates.begin() + static_cast<std::ptrdiff_t>(found++);
        if (named >= front) std::rotate(front, named, named + 1);
    }
    return true;
}

// Whole-job GPU wishes (--gpus): does the chosen set hold them, and how many on each node?
std::vector<std::vector<GresCount>> spread_gpus(const std::vector<Candidate>& chosen,
                                                const std::vector<GresCount>& gpus, bool ignore_use,
                                                bool& enough) {
    std::vector<std::vector<GresCount>> shares(chosen.size());
    for (const GresCount& wish : gpus) {
        // One for every node first, then as many as fit, from the first node on.
        std::vector<std::uint64_t> counts(chosen.size(), 0);
        std::uint64_t left = wish.count;
        for (std::size_t i = 0; i < chosen.size() && left > 0; ++i, --left) counts[i] = 1;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            std::uint64_t more = std::min(left, gres_left(*chosen[i].node, wish, ignore_use) - counts[i]);
            counts[i] += more;
            left -= more;
        }
        if (left > 0) enough = false;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (counts[i] > 0) shares[i].push_back({wish.name, wish.type, counts[i]});
        }
    }
    return shares;
}

// The first nodes that together hold all tasks, at least nodes_min and at most nodes_max of them.
std::vector<Candidate> choose(const std::vector<Candidate>& candidates, const Need& need, bool ignore_use) {
    std::vector<Candidate> chosen;
    std::size_t most = need.nodes_max.value_or(static_cast<std::uint32_t>(candidates.size()));
    std::uint64_t capacity = 0;
    std::uint64_t gpus_wanted = count_of(need.shape->gpus);
    std::size_t least = std::max<std::size_t>(need.nodes_min, need.nodelist.size());
    for (const Candidate& candidate : candidates) {
        if (chosen.size() >= most) break;
        chosen.push_back(candidate);
        capacity += candidate.tasks_max;
        if (chosen.size() < least || capacity < need.tasks) continue;
        bool enough = true;
        if (gpus_wanted > 0) spread_gpus(chosen, need.shape->gpus, ignore_use, enough);
        if (enough) return chosen;
    }
    return {};
}

// One task for every node, then filled from the first on: Slurm's block distribution.
std::vector<std::uint32_t> spread_tasks(const std::vector<Candidate>& chosen, std::uint32_t tasks) {
    std::vector<std::uint32_t> counts(chosen.size(), 0);
    std::uint32_t left = tasks;
    for (std::size_t i = 0; i < chosen.size() && left > 0; ++i, --left) counts[i] = 1;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        std::uint32_t more = std::min(left, chosen[i].tasks_max - counts[i]);
        counts[i] += more;
        left -= more;
    }
    return counts;
}

std::vector<std::uint32_t> pick_cpus(const Node& node, std::uint32_t count) {
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < node.config.cpus && cpus.size() < count; ++cpu) {
        if (!node.cpu_used[cpu]) cpus.push_back(cpu);
    }
    CHECK(cpus.size() == count);
    return cpus;
}

NodeShare share_of(const Cluster& cluster, const Need& need, const Candidate& candidate, std::uint32_t tasks,
                   const std::vector<GresCount>& gpus) {
    const Node& node = *candidate.node;
    const Shape& shape = *need.shape;
    bool whole = need.exclusive == Exclusive::Node;
    std::uint32_t cpus = std::max({tasks * shape.cpus_per_task, shape.cpus_min_per_node.value_or(1), 1u});
    if (whole) cpus = candidate.cpus_free;
    // CPUs are handed out in whole cores.
    std::uint32_t threads = std::max(1u, node.config.threads_per_core);
    if (node.config.cpus > node.config.sockets * node.config.cores_per_socket) {
        cpus = std::min((cpus + threads - 1) / threads * threads, candidate.cpus_free);
    }
    NodeShare share{.node = node.index, .tasks = tasks, .cpus = pick_cpus(node, cpus), .memory = 0, .gres = {}};
    if (cluster.settings().memory_is_consumable) {
        if (need.mem_per_node) {
            share.memory = *need.mem_per_node == 0 ? usable_memory(node) : *need.mem_per_node;
        } else {
            share.memory = std::min(need.mem_per_cpu.value_or(0) * cpus, memory_free(node, false));
        }
    }
    std::vector<GresCount> wishes = shape.gres_per_node;
    wishes.insert(wishes.end(), gpus.begin(), gpus.end());
    for (GresCount wish : shape.gpus_per_task) {
        wish.count *= std::max(1u, tasks);
        wishes.push_back(wish);
    }
    if (whole && wishes.empty()) {
        for (const GresPool& pool : node.gres) wishes.push_back({pool.name, pool.type, pool.count});
    }
    Node trial = node;  // two wishes for the same pool must not get the same device
    for (const GresCount& wish : wishes) {
        if (wish.count == 0) continue;
        for (NodeShare::Devices& devices : pick_gres(trial, wish)) {
            for (GresPool& pool : trial.gres) {
                if (pool.name != devices.name || pool.type != devices.type) continue;
                pool.used_count += devices.count;
                for (std::uint32_t index : devices.indexes) pool.used[index - pool.first_index] = true;
            }
            share.gres.push_back(std::move(devices));
        }
    }
    return share;
}

// Where it could run, were all nodes idle: names and sizes, nothing that could be handed out.
Allocation sketch(const std::vector<Candidate>& chosen, const Need& need) {
    Allocation allocation;
    std::vector<std::string> names;
    std::vector<std::uint32_t> tasks = spread_tasks(chosen, need.tasks);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        NodeShare share{.node = chosen[i].node->index, .tasks = tasks[i], .cpus = {}, .memory = 0, .gres = {}};
        share.cpus.resize(tasks[i] * need.shape->cpus_per_task);
        allocation.nodes.push_back(std::move(share));
        names.push_back(chosen[i].node->config.name);
    }
    allocation.node_names = Hostlist(std::move(names)).sorted().to_string();
    return allocation;
}

}  // namespace

Result<Need> need_of(const Cluster& cluster, const Job& job, const Partition& partition) {
    const Shape& shape = job.request->shape;
    Need need{.shape = &shape, .partition = &partition, .user = job.user};
    need.exclusive = exclusive_in(job, partition.config);
    need.nodes_min = std::max(1u, shape.nodes_min);
    need.nodes_max = shape.nodes_max;
    need.tasks = tasks_wanted(shape);
    if (shape.ntasks && shape.nodes_min > *shape.ntasks) need.nodes_min = std::max(1u, *shape.ntasks);
    need.mem_per_cpu = shape.mem_per_cpu;
    need.mem_per_node = shape.mem_per_node;
    const Settings& settings = cluster.settings();
    if (!need.mem_per_cpu && !need.mem_per_node && settings.memory_is_consumable) {
        const PartitionConfig& config = partition.config;
        if (config.def_mem_per_cpu) need.mem_per_cpu = config.def_mem_per_cpu;
        else if (config.def_mem_per_node) need.mem_per_node = config.def_mem_per_node;
        else if (settings.def_mem_per_cpu) need.mem_per_cpu = settings.def_mem_per_cpu;
        else need.mem_per_node = settings.def_mem_per_node.value_or(0);
    }
    if (!shape.nodelist.empty()) need.nodelist = TRY(Hostlist::parse(shape.nodelist)).names();
    if (!shape.exclude.empty()) need.exclude = TRY(Hostlist::parse(shape.exclude)).names();
    return need;
}

Placement place(const Cluster& cluster, const Need& need, bool ignore_use) {
    bool some_unavailable = false;
    std::vector<Candidate> candidates = candidates_of(cluster, need, ignore_use, some_unavailable);
    Placement placement;
    placement.obstacle = ignore_use ? Obstacle::Never : Obstacle::Busy;
    if (!ignore_use && some_unavailable) {
        for (const std::string& name : need.nodelist) {
            auto index = cluster.find_node(name);
            if (index && !may_take_jobs(cluster.node(*index))) {
                placement.obstacle = Obstacle::NotAvailable;
                placement.detail += placement.detail.empty() ? "UnavailableNodes:" + name : "," + name;
            }
        }
    }
    if (!prefer_named(candidates, need.nodelist)) return placement;
    std::vector<Candidate> chosen = choose(candidates, need, ignore_use);
    if (chosen.empty()) return placement;
    if (ignore_use) {
        placement.allocation = sketch(chosen, need);
        return placement;
    }
    bool enough = true;
    auto gpus = spread_gpus(chosen, need.shape->gpus, ignore_use, enough);
    std::vector<std::uint32_t> tasks = spread_tasks(chosen, need.tasks);
    Allocation allocation;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        allocation.nodes.push_back(share_of(cluster, need, chosen[i], tasks[i], gpus[i]));
    }
    std::sort(allocation.nodes.begin(), allocation.nodes.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    for (const NodeShare& share : allocation.nodes) names.push_back(cluster.node(share.node).config.name);
    allocation.node_names = Hostlist(std::move(names)).to_string();
    placement.allocation = std::move(allocation);
    return placement;
}

}  // namespace sluice
