#include "core/job/step_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/job/step_nodes.h"
#include "core/job/step_ports.h"
#include "core/place/use.h"
#include "model/distribution.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/node_counts.h"

namespace sluice {

namespace {

// What other steps of the job hold on a node.
struct Held {
    std::vector<std::uint32_t> cpus;
    Megabytes memory = 0;
    std::vector<std::pair<std::string, std::uint32_t>> devices;  // name, index
    std::map<std::pair<std::string, std::string>, std::uint64_t>
        counts;  // name, type: without indexes
    std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>
        parts;  // name, index: of GPUs, as shard and mps
};

Held held_on(const StepList& others, NodeIndex node) {
    Held held;
    for (const auto& step : others) {
        if (step->state != StepState::Running || step->overlap) continue;
        for (const NodeShare& share : step->nodes) {
            if (share.node != node) continue;
            bool still_there = std::find(step->nodes_left.begin(), step->nodes_left.end(), node) !=
                               step->nodes_left.end();
            if (!still_there) continue;
            held.cpus.insert(held.cpus.end(), share.cpus.begin(), share.cpus.end());
            if (step->holds_memory) held.memory += share.memory;
            for (const auto& devices : share.gres) {
                for (std::size_t i = 0; i < devices.indexes.size(); ++i) {
                    if (i < devices.parts.size())
                        held.parts[{devices.name, devices.indexes[i]}] += devices.parts[i];
                    else
                        held.devices.emplace_back(devices.name, devices.indexes[i]);
                }
                if (devices.indexes.empty())
                    held.counts[{devices.name, devices.type}] += devices.count;
            }
        }
    }
    return held;
}

std::uint32_t threads_of_core(const NodeConfig& node) {
    return std::max(1u, node.cpus / std::max(1u, node.sockets * node.cores_per_socket));
}

// The job's CPUs on a node, without the threads that --threads-per-core leaves idle.
std::vector<std::uint32_t> usable_cpus(const NodeConfig& node, const NodeShare& share,
                                       const StepDemand& demand) {
    if (!demand.threads_per_core) return share.cpus;
    std::map<std::uint32_t, std::uint32_t> used;  // by core
    std::vector<std::uint32_t> usable;
    for (std::uint32_t cpu : share.cpus) {
        if (used[cpu / threads_of_core(node)]++ < *demand.threads_per_core) usable.push_back(cpu);
    }
    return usable;
}

std::vector<std::uint32_t> free_cpus(const std::vector<std::uint32_t>& cpus, const Held& held,
                                     bool overlap) {
    std::vector<std::uint32_t> free;
    for (std::uint32_t cpu : cpus) {
        bool taken = std::find(held.cpus.begin(), held.cpus.end(), cpu) != held.cpus.end();
        if (overlap || !taken) free.push_back(cpu);
    }
    return free;
}

// At most so many free parts of GPUs, from the first one on.
NodeShare::Devices pick_parts(const NodeShare::Devices& devices, const Held& held, bool overlap,
                              std::uint64_t most) {
    NodeShare::Devices picked{.name = devices.name, .type = devices.type, .indexes = {}};
    for (std::size_t i = 0; i < devices.indexes.size(); ++i) {
        auto taken = held.parts.find({devices.name, devices.indexes[i]});
        const std::uint64_t used = overlap || taken == held.parts.end() ? 0 : taken->second;
        const std::uint64_t count =
            std::min(most - picked.count,
                     devices.parts[i] - std::min<std::uint64_t>(devices.parts[i], used));
        if (count == 0) continue;
        picked.indexes.push_back(devices.indexes[i]);
        picked.parts.push_back(static_cast<std::uint32_t>(count));
        picked.count += count;
    }
    return picked;
}

// A resource of the job that is compared with requests and not consumed.
bool is_endless(const NodeShare::Devices& devices) {
    return devices.count == 0 && devices.indexes.empty();
}

// At most so many free devices.
NodeShare::Devices pick(const NodeShare::Devices& devices, const Held& held, bool overlap,
                        std::uint64_t most) {
    if (!devices.parts.empty()) return pick_parts(devices, held, overlap, most);
    NodeShare::Devices picked{.name = devices.name, .type = devices.type, .indexes = {}};
    if (devices.indexes.empty()) {
        auto taken = held.counts.find({devices.name, devices.type});
        std::uint64_t used = overlap || taken == held.counts.end() ? 0 : taken->second;
        picked.count = std::min(most, devices.count - std::min(devices.count, used));
    }
    for (std::uint32_t index : devices.indexes) {
        bool taken = std::find(held.devices.begin(), held.devices.end(),
                               std::pair(devices.name, index)) != held.devices.end();
        if (picked.count == most || (taken && !overlap)) continue;
        picked.indexes.push_back(index);
        ++picked.count;
    }
    return picked;
}

std::uint64_t owned_on(const NodeShare& share, const GresCount& demand) {
    std::uint64_t owned = 0;
    for (const NodeShare::Devices& devices : share.gres) {
        if (devices.name == demand.name && (demand.type.empty() || demand.type == devices.type))
            owned += is_endless(devices) ? demand.count : devices.count;
    }
    return owned;
}

// GPUs for a step: as many free ones of the job as were asked for; all of them, shared, if the step
// asks for none.
Result<std::vector<NodeShare::Devices>> step_gres(const NodeShare& share, const Held& held,
                                                  bool overlap,
                                                  const std::vector<GresCount>& demands,
                                                  bool& busy) {
    if (demands.empty()) return share.gres;
    std::vector<NodeShare::Devices> result;
    for (const GresCount& demand : demands) {
        std::uint64_t missing = demand.count;
        for (const NodeShare::Devices& devices : share.gres) {
            if (devices.name != demand.name ||
                (!demand.type.empty() && demand.type != devices.type))
                continue;
            NodeShare::Devices picked = pick(devices, held, overlap, missing);
            missing -= is_endless(devices) ? missing : picked.count;
            if (picked.count > 0 || is_endless(devices)) result.push_back(std::move(picked));
        }
        if (owned_on(share, demand) < demand.count) return Error{ErrorCode::InvalidGres, {}};
        if (missing > 0) busy = true;
    }
    return result;
}

// A job that was resized has another number of tasks than it asked for.
bool has_its_tasks(const Job& job) {
    std::uint32_t tasks = 0;
    for (const NodeShare& share : job.run.allocation->nodes) tasks += share.tasks;
    return tasks == job.request->shape.ntasks;
}

// An overflow is replaced by the largest number, which is refused as well.
template <typename Number>
Number product(Number a, std::uint64_t b) {
    Number result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<Number>::max() : result;
}

std::uint32_t task_count(const Job& job, const StepDemand& demand, std::size_t nodes) {
    if (demand.ntasks) return *demand.ntasks;
    if (demand.ntasks_per_node) return product(*demand.ntasks_per_node, nodes);
    const Shape& shape = job.request->shape;
    if (nodes == job.run.allocation->nodes.size() && has_its_tasks(job)) return *shape.ntasks;
    return static_cast<std::uint32_t>(nodes) * shape.ntasks_per_node.value_or(1);
}

std::uint32_t cpus_each(const StepDemand& demand) {
    return std::max(1u, demand.cpus_per_task.value_or(1));
}

// How many tasks fit into this much of the job's memory on a node.
std::uint32_t tasks_by_memory(const NodeShare& share, Megabytes free, const StepDemand& demand) {
    constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
    if (share.memory == 0) return kAny;  // memory is not counted here
    if (demand.mem_per_node) return *demand.mem_per_node <= free ? kAny : 0;
    // With --overcommit tasks share CPUs, and so the memory of these.
    if (demand.overcommit) return demand.mem_per_cpu.value_or(0) <= free ? kAny : 0;
    const Megabytes each = demand.mem_per_cpu.value_or(0) * cpus_each(demand);
    return each == 0 ? kAny : static_cast<std::uint32_t>(free / each);
}

// Compat: --mem=0 uses all of the job's memory without keeping it from other steps.
bool asks_for_memory(const StepDemand& demand) {
    return demand.mem_per_node.value_or(0) > 0 ||
           (!demand.mem_per_node && demand.mem_per_cpu.value_or(0) > 0);
}

Megabytes free_memory(const NodeShare& share, const Held& held, const StepDemand& demand) {
    return demand.overlap ? share.memory : share.memory - std::min(share.memory, held.memory);
}

// The job's memory on a node for a step with so many CPUs there: all, unless the step says
// otherwise.
Megabytes step_memory(const NodeShare& share, const Held& held, const StepDemand& demand,
                      std::size_t cpus) {
    if (!asks_for_memory(demand)) return share.memory;
    if (demand.mem_per_node) return *demand.mem_per_node;
    return std::min(*demand.mem_per_cpu * cpus, free_memory(share, held, demand));
}

// Nodes that have room for a task when empty. A step does not use the others.
std::size_t count_large(const Cluster& cluster, const std::vector<const NodeShare*>& nodes,
                        const StepDemand& demand) {
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](const NodeShare* share) {
            const NodeConfig& node = cluster.node(share->node).config;
            return usable_cpus(node, *share, demand).size() >=
                       (demand.overcommit ? 1 : cpus_each(demand)) &&
                   tasks_by_memory(*share, share->memory, demand) > 0;
        }));
}

struct NodeOffer {
    const NodeShare* share = nullptr;
    std::vector<std::uint32_t> cpus;
    TaskRoom room;
};

// --ntasks-per-core, --ntasks-per-socket: how many tasks these CPUs may have.
std::uint32_t tasks_by_cores(const NodeConfig& node, const std::vector<std::uint32_t>& cpus,
                             const StepDemand& demand) {
    std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    if (!demand.ntasks_per_core && !demand.ntasks_per_socket) return most;
    const std::uint32_t per_core = threads_of_core(node);
    std::set<std::uint32_t> cores, sockets;
    for (std::uint32_t cpu : cpus) {
        cores.insert(cpu / per_core);
        sockets.insert(cpu / per_core / std::max(1u, node.cores_per_socket));
    }
    if (demand.ntasks_per_core) most = product(*demand.ntasks_per_core, cores.size());
    if (demand.ntasks_per_socket)
        most = std::min(most, product(*demand.ntasks_per_socket, sockets.size()));
    return most;
}

// `tasks_max`: tasks that a node may have with --overcommit.
NodeOffer offer_of(const NodeConfig& node, const StepList& others, const NodeShare& share,
                   const StepDemand& demand, std::uint32_t tasks_max) {
    Held held = held_on(others, share.node);
    const std::vector<std::uint32_t> usable = usable_cpus(node, share, demand);
    NodeOffer offer{.share = &share, .cpus = free_cpus(usable, held, demand.overlap), .room = {}};
    const bool others_run = free_cpus(share.cpus, held, false).size() < share.cpus.size();
    if (others_run && !demand.exact && !demand.overlap) offer.cpus.clear();
    const auto cpus = static_cast<std::uint32_t>(offer.cpus.size());
    const std::uint32_t most =
        std::min({tasks_by_memory(share, free_memory(share, held, demand), demand),
                  demand.ntasks_per_node.value_or(std::numeric_limits<std::uint32_t>::max()),
                  tasks_by_cores(node, offer.cpus, demand)});
    offer.room.with_cpus = std::min(cpus / cpus_each(demand), most);
    offer.room.most = offer.room.with_cpus;
    if (demand.overcommit && cpus > 0)
        offer.room.most = std::max(offer.room.most, std::min(tasks_max, most));
    return offer;
}

void sort_by_node(std::vector<NodeOffer>& offers) {
    std::sort(offers.begin(), offers.end(),
              [](const NodeOffer& a, const NodeOffer& b) { return a.share->node < b.share->node; });
}

// Keeps so many of the offers, still in the order of the nodes.
void keep_roomiest(std::vector<NodeOffer>& offers, std::size_t wanted) {
    std::stable_sort(offers.begin(), offers.end(), [](const NodeOffer& a, const NodeOffer& b) {
        return a.room.most > b.room.most;
    });
    offers.resize(wanted);
    sort_by_node(offers);
}

// Splits totals of the step: one for each node, then as many as the nodes have, from the first on.
std::vector<std::vector<GresCount>> split_totals(const std::vector<GresCount>& totals,
                                                 const std::vector<NodeOffer>& offers) {
    std::vector<std::vector<GresCount>> demands(offers.size());
    for (const GresCount& total : totals) {
        std::uint64_t left = total.count;
        for (std::size_t i = 0; i < offers.size(); ++i) {
            std::uint64_t one =
                std::min({left, owned_on(*offers[i].share, total), std::uint64_t{1}});
            demands[i].push_back({total.name, total.type, one});
            left -= one;
        }
        for (std::size_t i = 0; i < offers.size(); ++i) {
            std::uint64_t more =
                std::min(left, owned_on(*offers[i].share, total) - demands[i].back().count);
            demands[i].back().count += more;
            left -= more;
        }
        demands.front().back().count += left;  // more than there are: refused later
    }
    return demands;
}

std::vector<GresCount> demands_on(const StepDemand& demand, std::uint32_t tasks,
                                  const std::vector<GresCount>& totals) {
    std::vector<GresCount> demands = demand.gres_per_node;
    for (GresCount each : demand.gpus_per_task) {
        each.count = product(each.count, tasks);
        demands.push_back(each);
    }
    demands.insert(demands.end(), totals.begin(), totals.end());
    return demands;
}

// What the first `wanted` nodes with room offer. Unless nodes were named, the search continues
// until the offers have room for all tasks, and the roomiest are kept.
std::vector<NodeOffer> offers_of(const Cluster& cluster, const StepNodes& from,
                                 const StepList& others, const StepDemand& demand,
                                 std::size_t wanted, std::uint32_t tasks, std::uint32_t tasks_max) {
    std::vector<NodeOffer> offers;
    std::uint64_t offered = 0;
    for (const NodeShare* share : from.nodes) {
        if (offers.size() == wanted && (offered >= tasks || from.are_named)) break;
        NodeOffer offer =
            offer_of(cluster.node(share->node).config, others, *share, demand, tasks_max);
        if (offer.room.most == 0 && !from.are_named) continue;
        offered += offer.room.most;
        offers.push_back(std::move(offer));
    }
    if (offers.size() > wanted) keep_roomiest(offers, wanted);
    if (from.are_named && from.tasks.empty()) sort_by_node(offers);
    return offers;
}

// How many tasks run on each node; empty: there is too little room.
std::vector<std::uint32_t> counts_on(const std::vector<NodeOffer>& offers, const StepNodes& from,
                                     const StepDemand& demand, std::uint32_t tasks) {
    std::vector<TaskRoom> rooms;
    for (const NodeOffer& offer : offers) rooms.push_back(offer.room);
    if (from.tasks.empty()) return spread_tasks(tasks, rooms, distribution_of(demand.distribution));
    for (std::size_t i = 0; i < rooms.size(); ++i) {
        if (from.tasks[i] > rooms[i].most) return {};
    }
    return from.tasks;
}

// Compat: a step with few tasks is said to be cyclic.
std::string distribution_used(const StepDemand& demand, const Step& step) {
    if (!demand.distribution.empty()) return demand.distribution;
    return step.tasks <= step.nodes.size() ? "cyclic" : "block";
}

StepId number_of(const Job& job, const StepDemand& demand) {
    return demand.number.value_or(StepId{job.run.next_step});
}

void set_step_terms(Step& step, const StepDemand& demand, std::uint32_t tasks) {
    step.tasks = tasks;
    step.cpus_per_task = cpus_each(demand);
    step.distribution = distribution_used(demand, step);
    step.tres_bind = demand.tres_bind;
    step.container = demand.container;
    step.tres_per_node = print_tres_per(demand.gres_per_node);
    step.overlap = demand.overlap;
    step.holds_memory = asks_for_memory(demand);
    step.time_limit = demand.time_limit;
}

// Compat: an exclusive job has all devices of its nodes, but a step that asks for none has what the
// job has asked for.
StepDemand with_devices_of_job(const Cluster& cluster, const Job& job, StepDemand demand) {
    const Partition* partition = cluster.find_partition(job.partition);
    const bool names_some =
        !demand.gres_per_node.empty() || !demand.gpus_per_task.empty() || !demand.gpus.empty();
    if (names_some || !partition || exclusive_in(job, partition->config) != Exclusive::Node)
        return demand;
    const Shape& shape = job.request->shape;
    demand.gres_per_node = shape.gres_per_node;
    demand.gpus_per_task = shape.gpus_per_task;
    if (shape.gres_per_node.empty() && shape.gpus_per_task.empty()) demand.gpus = shape.gpus;
    if (demand.gres_per_node.empty()) demand.gres_per_node = {{"gpu", "", 0}};
    return demand;
}

}  // namespace

Result<StepPlan> plan_step(const Cluster& cluster, const Job& job, const StepList& others,
                           const StepDemand& asked) {
    const StepDemand demand = with_devices_of_job(cluster, job, asked);
    const StepNodes from = TRY(step_nodes(cluster, job, demand));
    const std::vector<const NodeShare*>& nodes = from.nodes;
    std::size_t wanted =
        demand.nodes_min > 0 ? std::max(demand.nodes_min, demand.nodes_max) : nodes.size();
    if (nodes.empty() || nodes.size() < demand.nodes_min)
        return Error{ErrorCode::NodeConfigUnavailable, {}};
    wanted = std::min(wanted, nodes.size());
    std::optional<TaskSet> sizes;
    if (!demand.node_sizes.empty()) sizes = TRY(parse_node_sizes(demand.node_sizes));
    if (sizes) wanted = last_size(*sizes, static_cast<std::uint32_t>(wanted));
    if (wanted == 0) return Error{ErrorCode::NodeConfigUnavailable, {}};
    std::uint32_t tasks = task_count(job, demand, wanted);
    if (tasks == 0) return Error{ErrorCode::InvalidTaskCount, {}};
    if (demand.nodes_min <= tasks) wanted = std::min<std::size_t>(wanted, tasks);
    auto has_memory = [&](const NodeShare* share) {
        return tasks_by_memory(*share, share->memory, demand) > 0;
    };
    if (std::none_of(nodes.begin(), nodes.end(), has_memory))
        return Error{ErrorCode::MemoryInvalid, {}};
    if (!from.are_named)
        wanted = std::min(
            wanted, std::max<std::size_t>(demand.nodes_min, count_large(cluster, nodes, demand)));
    if (sizes) wanted = last_size(*sizes, static_cast<std::uint32_t>(wanted));

    const std::uint32_t tasks_max = cluster.settings().max_tasks_per_node;
    if (demand.overcommit && tasks > tasks_max * std::uint64_t{wanted})
        return Error{ErrorCode::InvalidTaskCount, {}};
    const std::vector<NodeOffer> offers =
        offers_of(cluster, from, others, demand, wanted, tasks, tasks_max);
    if (offers.size() < wanted) return StepPlan{};
    const std::vector<std::uint32_t> counts = counts_on(offers, from, demand, tasks);
    if (counts.empty()) return StepPlan{};

    std::vector<std::vector<GresCount>> totals = split_totals(demand.gpus, offers);
    Step step{.id = number_of(job, demand), .name = demand.name, .user = job.user};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        NodeShare share{.node = offers[i].share->node,
                        .tasks = counts[i],
                        .cpus = offers[i].cpus,
                        .memory = 0,
                        .gres = {}};
        if (demand.exact)
            share.cpus.resize(
                std::min<std::size_t>(share.cpus.size(), counts[i] * cpus_each(demand)));
        bool busy = false;
        Held held = held_on(others, share.node);
        share.memory = step_memory(*offers[i].share, held, demand, share.cpus.size());
        share.gres = TRY(step_gres(*offers[i].share, held, demand.overlap,
                                   demands_on(demand, counts[i], totals[i]), busy));
        if (busy) return StepPlan{};
        names.push_back(cluster.node(share.node).config.name);
        step.nodes_left.push_back(share.node);
        step.nodes.push_back(std::move(share));
    }
    step.node_names = Hostlist(std::move(names)).to_string();
    set_step_terms(step, demand, tasks);
    if (!demand.resv_ports) return StepPlan{std::move(step)};
    std::optional<std::string> ports =
        TRY(reserve_ports(cluster, job, others, step, *demand.resv_ports));
    if (!ports) return StepPlan{};
    step.resv_ports = *std::move(ports);
    return StepPlan{std::move(step)};
}

}  // namespace sluice
