#include "core/place/place.h"

#include <algorithm>

#include "core/place/detail.h"
#include "core/place/pools.h"
#include "core/place/use.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

// The most tasks, from `most` down to `least`, that fit; 0: not even `least`.
std::uint32_t tasks_on(const Need& need, const NodeKind& kind, const Node& node, std::uint32_t most,
                       std::uint32_t least) {
    for (std::uint32_t tasks = most; tasks >= least; --tasks) {
        if (share_on(need, kind, node, {node.index, tasks, {}, amounts_for(need, kind, tasks)}))
            return tasks;
    }
    return 0;
}

Node idle(Node node) {
    std::fill(node.cpu_used.begin(), node.cpu_used.end(), 0);
    for (GresPool& pool : node.gres) {
        pool.used.assign(pool.used.size(), false);
        pool.used_count = 0;
        pool.drained.clear();
        for (GresPool::Part& part : pool.parts) part.used = 0;
    }
    return node;
}

// Groups equal nodes, including the cores that their devices are close to, by the first of each.
class Samples {
public:
    explicit Samples(const Cluster& cluster) : cluster_(cluster) {}

    // The number of the node's group; a new group gets the next number.
    std::size_t of(NodeIndex index) {
        auto found = std::find_if(first_.begin(), first_.end(),
                                  [&](NodeIndex each) { return are_alike(each, index); });
        if (found == first_.end()) found = first_.insert(found, index);
        return static_cast<std::size_t>(found - first_.begin());
    }

private:
    bool are_alike(NodeIndex a, NodeIndex b) const {
        const std::vector<std::uint32_t>& kinds = cluster_.layout().kind_of;
        const std::vector<GresPool>& pools = cluster_.node(b).gres;
        auto same_cores = [](const GresPool& x, const GresPool& y) {
            return x.cores == y.cores && x.only_if_asked == y.only_if_asked &&
                   x.one_gpu == y.one_gpu &&
                   std::equal(x.parts.begin(), x.parts.end(), y.parts.begin(), y.parts.end(),
                              [](const auto& p, const auto& q) { return p.count == q.count; });
        };
        return kinds[a.value] == kinds[b.value] &&
               std::equal(pools.begin(), pools.end(), cluster_.node(a).gres.begin(),
                          cluster_.node(a).gres.end(), same_cores);
    }

    const Cluster& cluster_;
    std::vector<NodeIndex> first_;
};

}  // namespace

Choice on_idle_nodes(const Cluster& cluster, const Need& need) {
    const Layout& layout = cluster.layout();
    std::vector<Candidate> candidates;
    SelectOptions options{.least_loaded = false, .any_switches = true};
    const bool in_detail = depends_on_detail(need), is_uniform = need.is_uniform();
    bool may_stop_early = takes_first_that_suffice(need, layout, options) && is_uniform;
    Samples samples(cluster);
    std::vector<std::uint32_t> fit;  // by sample
    for (NodeIndex node : need.partition->nodes) {
        std::uint32_t kind = layout.kind_of[node.value];
        if (!need.possible[kind] || need.excludes(node)) continue;
        std::uint32_t tasks =
            is_uniform ? need.tasks_on_each()
                       : tasks_that_fit(need, layout.kinds[kind], layout.kinds[kind].total);
        if (in_detail) {
            const std::size_t sample = samples.of(node);
            if (sample == fit.size()) {
                fit.push_back(tasks_on(need, layout.kinds[kind], idle(cluster.node(node)), tasks,
                                       is_uniform ? tasks : 1));
            }
            tasks = fit[sample];
        }
        if (tasks > 0) candidates.push_back({node, layout.kinds[kind].total, tasks});
        if (may_stop_early && candidates.size() >= need.nodes_min) {
            Choice choice = select_nodes(need, layout, candidates, options);
            if (!choice.empty()) return choice;
        }
    }
    return select_nodes(need, layout, std::move(candidates), options);
}

// On nodes where some CPUs are barred, CPUs are not shared either.
static std::optional<NodeShare> share_between(const Cluster& cluster, const Need& need,
                                              const Chosen& chosen,
                                              const std::vector<bool>& barred) {
    Node view = cluster.node(chosen.node);
    for (std::size_t cpu = 0; cpu < view.cpu_used.size(); ++cpu) {
        if (barred[cpu]) view.cpu_used[cpu] = 1;
    }
    return share_on(need, cluster.layout().kind(chosen.node), view, chosen);
}

// Where other jobs may hold the same CPUs, takes those with the fewest holders. If that leaves no
// share the node is used as it is: preempted jobs on it have been suspended.
static std::optional<NodeShare> share_beside(const Cluster& cluster, const Need& need,
                                             const Chosen& chosen,
                                             const std::vector<bool>* barred) {
    if (barred) return share_between(cluster, need, chosen, *barred);
    const Node& node = cluster.node(chosen.node);
    const NodeKind& kind = cluster.layout().kind(chosen.node);
    if (has_alternating(cluster, node)) {
        std::vector<std::uint8_t> holders = cpu_holders(cluster, node, need.sharers);
        Node view = node;
        for (std::uint8_t most = 0; most < need.sharers; ++most) {
            for (std::size_t cpu = 0; cpu < holders.size(); ++cpu)
                view.cpu_used[cpu] = holders[cpu] > most ? 1 : 0;
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
        auto share =
            share_beside(cluster, need, chosen, others == barred.end() ? nullptr : &others->second);
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
    return shape.ntasks_per_socket || shape.sockets_per_node.value_or(1) > 1 ||
           !shape.gpus_per_socket.empty() || need.binds_gpus || need.counts_too_much ||
           need.partition->config.max_cpus_per_socket;
}

std::uint32_t tasks_in_detail(const Cluster& cluster, const Need& need, NodeIndex node,
                              std::uint32_t tasks) {
    return tasks_on(need, cluster.layout().kind(node), cluster.node(node), tasks, 1);
}

std::uint32_t most_cpus_in_detail(const Cluster& cluster, const Need& need) {
    const std::uint32_t tasks = need.is_uniform() ? need.tasks_on_each() : 1;
    Samples samples(cluster);
    std::size_t seen = 0;
    std::uint32_t most = 0;
    for (NodeIndex node : need.partition->nodes) {
        if (need.excludes(node) || samples.of(node) < seen) continue;
        ++seen;
        const NodeKind& kind = cluster.layout().kind(node);
        const Node view = idle(cluster.node(node));
        for (std::uint32_t cpus = kind.usable(); cpus > most; --cpus) {
            const Amounts take = Amounts::cpus_only(static_cast<std::int32_t>(cpus));
            if (share_on(need, kind, view, {node, tasks, {}, take})) most = cpus;
        }
    }
    return most;
}

static void give_back(Node& view, const NodeShare& share) {
    for (std::uint32_t cpu : share.cpus) view.cpu_used[cpu] = 0;
    set_gres(view, share, false);
}

bool fits_without(const Cluster& cluster, const Need& need, const Choice& choice,
                  const std::vector<std::shared_ptr<const Job>>& leaving) {
    return std::all_of(choice.begin(), choice.end(), [&](const Chosen& chosen) {
        Node view = cluster.node(chosen.node);
        for (const auto& job : leaving) {
            if (const NodeShare* share = job->run.allocation->find(chosen.node))
                give_back(view, *share);
        }
        return share_on(need, cluster.layout().kind(chosen.node), view, chosen).has_value();
    });
}

}  // namespace sluice
