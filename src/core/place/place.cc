#include "core/place/place.h"

#include <algorithm>

#include "core/node/use.h"
#include "core/place/detail.h"
#include "core/schedule/scheduler.h"
#include "model/hostlist.h"

namespace sluice {

Choice on_idle_nodes(const Cluster& cluster, const Need& need) {
    const Layout& layout = cluster.scheduler().layout;
    std::vector<Candidate> candidates;
    SelectOptions options{.least_loaded = false, .any_switches = true};
    bool may_stop_early = takes_first_that_suffice(need, layout, options) && need.is_uniform();
    for (NodeIndex node : need.partition->nodes) {
        std::uint32_t kind = layout.kind_of[node.value];
        if (!need.possible[kind] || need.excludes(node)) continue;
        std::uint32_t tasks = need.is_uniform() ? need.tasks_on_each() : tasks_that_fit(need, layout.kinds[kind], layout.kinds[kind].total);
        if (tasks > 0) candidates.push_back({node, layout.kinds[kind].total, tasks});
        if (may_stop_early && candidates.size() >= need.nodes_min) {
            Choice choice = select_nodes(need, layout, candidates, options);
            if (!choice.empty()) return choice;
        }
    }
    return select_nodes(need, layout, std::move(candidates), options);
}

// Where some CPUs are kept for others, nothing is shared either.
static std::optional<NodeShare> share_between(const Cluster& cluster, const Need& need, const Chosen& chosen,
                                              const std::vector<bool>& barred) {
    Node view = cluster.node(chosen.node);
    for (std::size_t cpu = 0; cpu < view.cpu_used.size(); ++cpu) {
        if (barred[cpu]) view.cpu_used[cpu] = 1;
    }
    return share_on(need, cluster.scheduler().layout.kind(chosen.node), view, chosen);
}

// Where others may hold the same CPUs, those that the fewest hold are taken. A node that this leaves no
// share on is taken as it is: jobs that make room have been set aside.
static std::optional<NodeShare> share_beside(const Cluster& cluster, const Need& need, const Chosen& chosen,
                                             const std::vector<bool>* barred) {
    if (barred) return share_between(cluster, need, chosen, *barred);
    const Node& node = cluster.node(chosen.node);
    const NodeKind& kind = cluster.scheduler().layout.kind(chosen.node);
    if (has_alternating(cluster, node)) {
        std::vector<std::uint8_t> holders = cpu_holders(cluster, node, need.sharers);
        Node view = node;
        for (std::uint8_t most = 0; most < need.sharers; ++most) {
            for (std::size_t cpu = 0; cpu < holders.size(); ++cpu) view.cpu_used[cpu] = holders[cpu] > most ? 1 : 0;
            if (auto share = share_on(need, kind, view, chosen)) return share;
        }
    }
    return share_on(need, kind, node, chosen);
}

std::optional<Allocation> allocate(const Cluster& cluster, const Need& need, const Choice& choice,
                                   const BarredCpus& barred) {
    Allocation allocation;
    for (const Chosen& chosen : choice) {
        auto others = barred.find(chosen.node);
        auto share = share_beside(cluster, need, chosen, others == barred.end() ? nullptr : &others->second);
        if (!share) return {};
        allocation.nodes.push_back(*std::move(share));
    }
    allocation.node_names = names_of(cluster, choice);
    allocation.sharers = need.sharers;
    return allocation;
}

std::string names_of(const Cluster& cluster, const Choice& choice) {
    std::vector<std::string> names;
    for (const Chosen& chosen : choice) names.push_back(cluster.node(chosen.node).config.name);
    return Hostlist(std::move(names)).sorted().to_string();
}

bool depends_on_detail(const Need& need) {
    const Shape& shape = *need.shape;
    return shape.ntasks_per_socket || shape.sockets_per_node.value_or(1) > 1 || !shape.gpus_per_socket.empty() ||
           shape.bind_gpus_to_cores || need.partition->config.max_cpus_per_socket;
}

std::uint32_t tasks_in_detail(const Cluster& cluster, const Need& need, NodeIndex node, std::uint32_t tasks) {
    const NodeKind& kind = cluster.scheduler().layout.kind(node);
    for (; tasks > 0; --tasks) {
        if (share_on(need, kind, cluster.node(node), {node, tasks, {}, amounts_for(need, kind, tasks)})) break;
    }
    return tasks;
}

static void give_back(Node& view, const NodeShare& share) {
    for (std::uint32_t cpu : share.cpus) view.cpu_used[cpu] = 0;
    for (const NodeShare::Devices& devices : share.gres) {
        for (GresPool& pool : view.gres) {
            if (pool.name != devices.name || pool.type != devices.type) continue;
            pool.used_count -= devices.count;
            for (std::uint32_t index : devices.indexes) pool.used[index - pool.first_index] = false;
        }
    }
}

bool fits_without(const Cluster& cluster, const Need& need, const Choice& choice,
                  const std::vector<std::shared_ptr<const Job>>& leaving) {
    return std::all_of(choice.begin(), choice.end(), [&](const Chosen& chosen) {
        Node view = cluster.node(chosen.node);
        for (const auto& job : leaving) {
            if (const NodeShare* share = job->allocation->find(chosen.node)) give_back(view, *share);
        }
        return share_on(need, cluster.scheduler().layout.kind(chosen.node), view, chosen).has_value();
    });
}

}  // namespace sluice
