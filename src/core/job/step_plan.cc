#include "core/job/step_plan.h"

#include <algorithm>
#include <limits>
#include <map>

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
                for (std::uint32_t index : devices.indexes)
                    held.devices.emplace_back(devices.name, index);
                if (devices.indexes.empty())
                    held.counts[{devices.name, devices.type}] += devices.count;
            }
        }
    }
    return held;
}

std::vector<std::uint32_t> free_cpus(const NodeShare& share, const Held& held, bool overlap) {
    std::vector<std::uint32_t> free;
    for (std::uint32_t cpu : share.cpus) {
        bool taken = std::find(held.cpus.begin(), held.cpus.end(), cpu) != held.cpus.end();
        if (overlap || !taken) free.push_back(cpu);
    }
    return free;
}

// At most so many free devices.
NodeShare::Devices pick(const NodeShare::Devices& devices, const Held& held, bool overlap,
                        std::uint64_t most) {
    NodeShare::Devices picked{
        .name = devices.name, .type = devices.type, .indexes = {}, .count = 0};
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
            owned += devices.count;
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
            missing -= picked.count;
            if (picked.count > 0) result.push_back(std::move(picked));
        }
        if (owned_on(share, demand) < demand.count) return Error{ErrorCode::InvalidGres, {}};
        if (missing > 0) busy = true;
    }
    return result;
}

std::vector<const NodeShare*> nodes_wanted(const Cluster& cluster, const Job& job,
                                           const StepDemand& demand,
                                           const std::vector<std::string>& named,
                                           const std::vector<std::string>& excluded) {
    std::vector<const NodeShare*> nodes;
    auto has = [](const std::vector<std::string>& sorted, const std::string& name) {
        return std::binary_search(sorted.begin(), sorted.end(), name);
    };
    for (const NodeShare& share : job.run.allocation->nodes) {
        const std::string& name = cluster.node(share.node).config.name;
        if (has(excluded, name)) continue;
        if (named.empty() || has(named, name)) nodes.push_back(&share);
    }
    // Named nodes come first; more may be added if more were asked for.
    if (!named.empty() && nodes.size() < std::max(demand.nodes_min, demand.nodes_max)) {
        for (const NodeShare& share : job.run.allocation->nodes) {
            const std::string& name = cluster.node(share.node).config.name;
            if (!has(named, name) && !has(excluded, name)) nodes.push_back(&share);
        }
    }
    return nodes;
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
std::size_t count_large(const std::vector<const NodeShare*>& nodes, const StepDemand& demand) {
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](const NodeShare* share) {
            return share->cpus.size() >= cpus_each(demand) &&
                   tasks_by_memory(*share, share->memory, demand) > 0;
        }));
}

// Tasks per node: one each, then block (fill from the first) or cyclic (one after another).
std::vector<std::uint32_t> spread(std::uint32_t tasks, const std::vector<std::uint32_t>& capacity,
                                  bool cyclic) {
    std::vector<std::uint32_t> counts(capacity.size(), 0);
    std::uint32_t left = tasks;
    for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
        if (capacity[i] == 0) continue;
        counts[i] = 1;
        --left;
    }
    while (left > 0) {
        std::uint32_t before = left;
        for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
            std::uint32_t room = capacity[i] - std::min(capacity[i], counts[i]);
            std::uint32_t more = std::min({left, room, cyclic ? 1u : room});
            counts[i] += more;
            left -= more;
        }
        if (left == before) return {};  // no more room anywhere
    }
    return counts;
}

struct NodeOffer {
    const NodeShare* share = nullptr;
    std::vector<std::uint32_t> cpus;
    std::uint32_t tasks_max = 0;
};

NodeOffer offer_of(const StepList& others, const NodeShare& share, const StepDemand& demand) {
    Held held = held_on(others, share.node);
    NodeOffer offer{
        .share = &share, .cpus = free_cpus(share, held, demand.overlap), .tasks_max = 0};
    bool all_or_nothing = !demand.exact && !demand.overlap;
    if (all_or_nothing && offer.cpus.size() < share.cpus.size()) offer.cpus.clear();
    offer.tasks_max = static_cast<std::uint32_t>(offer.cpus.size()) / cpus_each(demand);
    offer.tasks_max =
        std::min(offer.tasks_max, tasks_by_memory(share, free_memory(share, held, demand), demand));
    if (demand.ntasks_per_node)
        offer.tasks_max = std::min(offer.tasks_max, *demand.ntasks_per_node);
    return offer;
}

// Keeps so many of the offers, still in the order of the nodes.
void keep_roomiest(std::vector<NodeOffer>& offers, std::size_t wanted) {
    std::stable_sort(offers.begin(), offers.end(), [](const NodeOffer& a, const NodeOffer& b) {
        return a.tasks_max > b.tasks_max;
    });
    offers.resize(wanted);
    std::sort(offers.begin(), offers.end(),
              [](const NodeOffer& a, const NodeOffer& b) { return a.share->node < b.share->node; });
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
std::vector<NodeOffer> offers_of(const std::vector<const NodeShare*>& nodes, const StepList& others,
                                 const StepDemand& demand, std::size_t wanted, std::uint32_t tasks,
                                 bool are_named) {
    std::vector<NodeOffer> offers;
    std::uint64_t offered = 0;
    for (const NodeShare* share : nodes) {
        if (offers.size() == wanted && (offered >= tasks || are_named)) break;
        NodeOffer offer = offer_of(others, *share, demand);
        if (offer.tasks_max == 0 && !are_named) continue;
        offered += offer.tasks_max;
        offers.push_back(std::move(offer));
    }
    if (offers.size() > wanted) keep_roomiest(offers, wanted);
    return offers;
}

void set_step_terms(Step& step, const StepDemand& demand, std::uint32_t tasks) {
    step.tasks = tasks;
    step.cpus_per_task = cpus_each(demand);
    step.tres_bind = demand.tres_bind;
    step.tres_per_node = print_tres_per(demand.gres_per_node);
    step.overlap = demand.overlap;
    step.holds_memory = asks_for_memory(demand);
    step.time_limit = demand.time_limit;
}

}  // namespace

Result<StepPlan> plan_step(const Cluster& cluster, const Job& job, const StepList& others,
                           const StepDemand& demand) {
    std::vector<std::string> named, excluded;
    if (!demand.nodelist.empty()) named = TRY(Hostlist::parse(demand.nodelist)).names();
    if (!demand.exclude.empty()) excluded = TRY(Hostlist::parse(demand.exclude)).names();
    std::sort(named.begin(), named.end());
    std::sort(excluded.begin(), excluded.end());
    std::vector<const NodeShare*> nodes = nodes_wanted(cluster, job, demand, named, excluded);
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
    if (named.empty())
        wanted =
            std::min(wanted, std::max<std::size_t>(demand.nodes_min, count_large(nodes, demand)));
    if (sizes) wanted = last_size(*sizes, static_cast<std::uint32_t>(wanted));

    const std::vector<NodeOffer> offers =
        offers_of(nodes, others, demand, wanted, tasks, !named.empty());
    if (offers.size() < wanted) return StepPlan{};
    std::vector<std::uint32_t> capacity;
    for (const NodeOffer& offer : offers) capacity.push_back(offer.tasks_max);
    std::vector<std::uint32_t> counts = spread(tasks, capacity, demand.cyclic);
    if (counts.empty()) return StepPlan{};

    std::vector<std::vector<GresCount>> totals = split_totals(demand.gpus, offers);
    Step step{.id = StepId{job.run.next_step}, .name = demand.name, .user = job.user};
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
    return StepPlan{std::move(step)};
}

}  // namespace sluice
