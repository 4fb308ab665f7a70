#include "core/place/select.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/distribution.h"

namespace sluice {

namespace {

using Candidates = std::vector<Candidate>;

// GPUs of the whole job: one for every node first, then as many as fit, from the first node on.
bool spread_gpus(const Need& need, const Layout& layout, const Candidates& nodes, Choice& choice) {
    for (std::size_t w = 0; w < need.gpus.size(); ++w) {
        const GresCount& demand = need.gpus[w];
        std::uint64_t left = demand.count;
        for (Chosen& chosen : choice) chosen.gpus.push_back(left > 0 ? (--left, 1) : 0);
        for (std::size_t i = 0; i < choice.size() && left > 0; ++i) {
            const NodeKind& kind = layout.kind(nodes[i].node);
            const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
            if (!entry) return false;
            std::int32_t free = kind.is_planned(*entry) ? nodes[i].free[kind.place_of(*entry)]
                                                        : static_cast<std::int32_t>(entry->count);
            while (left > 0 && static_cast<std::int32_t>(choice[i].gpus[w]) < free) {
                ++choice[i].gpus[w];
                Amounts more = amounts_for(need, kind, choice[i].tasks, choice[i].gpus);
                if (!nodes[i].free.holds(more)) {  // too few CPUs or memory for one more GPU
                    --choice[i].gpus[w];
                    break;
                }
                --left;
            }
        }
        if (left > 0) return false;
    }
    return true;
}

// -m arbitrary: as many as the job has named the node. Empty: one has too little room.
std::vector<std::uint32_t> tasks_named(const Need& need, const Candidates& nodes) {
    std::vector<std::uint32_t> counts;
    for (const Candidate& node : nodes) {
        const auto named = std::find(need.required.begin(), need.required.end(), node.node);
        if (named == need.required.end()) return {};
        counts.push_back(
            need.tasks_on_required[static_cast<std::size_t>(named - need.required.begin())]);
        if (counts.back() > node.tasks) return {};
    }
    return counts;
}

// One task for every node, then filled from the first on: Slurm's block distribution.
bool place_tasks(const Need& need, const Candidates& nodes, Choice& choice) {
    std::uint32_t tasks = need.tasks;
    if (!need.tasks_given) {
        tasks = std::max(tasks, static_cast<std::uint32_t>(nodes.size()) *
                                    std::max(1u, need.tasks_per_node.value_or(1)));
    }
    std::vector<TaskRoom> rooms;
    for (const Candidate& node : nodes) {
        rooms.push_back(
            {need.shape->overcommit ? std::min(1u, node.tasks) : node.tasks, node.tasks});
    }
    const std::vector<std::uint32_t> counts =
        need.tasks_on_required.empty() ? spread_tasks(tasks, rooms, {}) : tasks_named(need, nodes);
    if (counts.empty()) return false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        choice.push_back({nodes[i].node, counts[i], {}, {}});
    }
    return true;
}

Choice share_out(const Need& need, const Layout& layout, const Candidates& nodes) {
    Choice choice;
    if (!place_tasks(need, nodes, choice) || !spread_gpus(need, layout, nodes, choice)) return {};
    for (std::size_t i = 0; i < choice.size(); ++i) {
        choice[i].take =
            amounts_for(need, layout.kind(nodes[i].node), choice[i].tasks, choice[i].gpus);
        if (!nodes[i].free.holds(choice[i].take)) return {};
    }
    std::sort(choice.begin(), choice.end(),
              [](const Chosen& a, const Chosen& b) { return a.node < b.node; });
    return choice;
}

bool counts_are_met(const FeatureWay& way, const Layout& layout, const Candidates& nodes) {
    return std::all_of(way.counts.begin(), way.counts.end(), [&](const FeatureWay::Count& count) {
        auto fitting = std::count_if(nodes.begin(), nodes.end(), [&](const Candidate& candidate) {
            return count.kinds[layout.kind_of[candidate.node.value]];
        });
        return static_cast<std::uint32_t>(fitting) >= count.nodes;
    });
}

// Nodes with counted features first: the first `nodes` of each.
void counted_first(const FeatureWay& way, const Layout& layout, Candidates& candidates) {
    std::size_t placed = 0;
    for (const FeatureWay::Count& count : way.counts) {
        std::uint32_t found = 0;
        for (std::size_t i = placed; i < candidates.size() && found < count.nodes; ++i) {
            if (!count.kinds[layout.kind_of[candidates[i].node.value]]) continue;
            std::rotate(candidates.begin() + static_cast<std::ptrdiff_t>(placed),
                        candidates.begin() + static_cast<std::ptrdiff_t>(i),
                        candidates.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            ++placed;
            ++found;
        }
    }
}

std::size_t nodes_wanted(const Need& need, std::size_t available) {
    std::size_t most = need.nodes_max.value_or(static_cast<std::uint32_t>(available));
    return std::min(most, available);
}

// -N 2-4 takes four if four are free; without a maximum as few as possible.
bool wants_the_most(const Need& need) {
    return need.shape->spread || (need.nodes_max && *need.nodes_max > need.nodes_min &&
                                  need.shape->nodes_max && !need.shape->use_min_nodes);
}

Choice take_in_order(const Need& need, const Layout& layout, const FeatureWay& way,
                     const Candidates& candidates) {
    std::size_t least = std::max<std::size_t>(
        need.nodes_min, std::min<std::size_t>(need.required.size(), need.nodes_max.value_or(~0u)));
    for (const FeatureWay::Count& count : way.counts)
        least = std::max<std::size_t>(least, count.nodes);
    std::size_t most = nodes_wanted(need, candidates.size());
    if (need.tasks_given)
        most = std::min(most, std::max<std::size_t>(least, need.tasks));  // no node without a task
    if (least > most) return {};
    if (wants_the_most(need)) {
        for (std::size_t size = most; size >= least; --size) {
            if (!need.allows_size(size)) continue;
            Candidates taken(candidates.begin(),
                             candidates.begin() + static_cast<std::ptrdiff_t>(size));
            if (!counts_are_met(way, layout, taken)) continue;
            if (Choice choice = share_out(need, layout, taken); !choice.empty()) return choice;
        }
        return {};
    }
    // Prefers one node that fits all, among the cheapest, to parts of several.
    for (const Candidate& candidate : candidates) {
        bool dearer = layout.weight_of[candidate.node.value] >
                      layout.weight_of[candidates.front().node.value];
        if (dearer || least > 1 || !need.required.empty() || !need.tasks_given ||
            !way.counts.empty())
            break;
        if (candidate.tasks < need.tasks) continue;
        if (Choice choice = share_out(need, layout, {candidate}); !choice.empty()) return choice;
    }
    std::uint64_t capacity = 0;
    for (std::size_t size = 1; size <= most; ++size) {
        capacity += candidates[size - 1].tasks;
        if (size < least || (need.tasks_given && capacity < need.tasks) || !need.allows_size(size))
            continue;
        Candidates taken(candidates.begin(),
                         candidates.begin() + static_cast<std::ptrdiff_t>(size));
        if (!counts_are_met(way, layout, taken)) continue;
        if (Choice choice = share_out(need, layout, taken); !choice.empty()) return choice;
    }
    return {};
}

// The first ones in order of preference; if these are too small for the allowed number of nodes,
// the roomiest. Named nodes stay in front.
Choice take_first(const Need& need, const Layout& layout, const FeatureWay& way,
                  Candidates candidates) {
    if (Choice choice = take_in_order(need, layout, way, candidates); !choice.empty())
        return choice;
    if (!need.nodes_max || *need.nodes_max >= candidates.size() || !way.counts.empty()) return {};
    auto rest = candidates.begin() +
                static_cast<std::ptrdiff_t>(std::min(need.required.size(), candidates.size()));
    auto gpus_free = [&](const Candidate& candidate) {
        const NodeKind& kind = layout.kind(candidate.node);
        const NodeKind::Gres* entry =
            need.gpus.empty() ? nullptr
                              : kind.find_gres(need.gpus.front().name, need.gpus.front().type);
        return entry && kind.is_planned(*entry) ? candidate.free[kind.place_of(*entry)] : 0;
    };
    std::stable_sort(rest, candidates.end(), [&](const Candidate& a, const Candidate& b) {
        return std::tuple(gpus_free(a), a.tasks) > std::tuple(gpus_free(b), b.tasks);
    });
    return take_in_order(need, layout, way, candidates);
}

// Runs of neighbours in the node table; the shortest that is long enough.
Choice take_contiguous(const Need& need, const Layout& layout, const FeatureWay& way,
                       Candidates candidates) {
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.node < b.node; });
    Choice best;
    std::size_t best_run = ~std::size_t{0};
    for (std::size_t from = 0; from < candidates.size();) {
        std::size_t to = from + 1;
        while (to < candidates.size() &&
               candidates[to].node.value == candidates[to - 1].node.value + 1)
            ++to;
        Candidates run(candidates.begin() + static_cast<std::ptrdiff_t>(from),
                       candidates.begin() + static_cast<std::ptrdiff_t>(to));
        if (run.size() < best_run) {
            if (Choice choice = take_first(need, layout, way, run); !choice.empty()) {
                best = std::move(choice);
                best_run = run.size();
            }
        }
        from = to;
    }
    return best;
}

// The smallest part of the tree that has room for the job: one leaf, else below one switch, else
// anywhere, leaves with many candidates first so that few are used.
Choice take_near(const Need& need, const Layout& layout, const FeatureWay& way,
                 const Candidates& candidates, const SelectOptions& options) {
    std::map<std::uint32_t, Candidates> groups;  // by switch
    std::map<std::uint32_t, std::size_t> in_leaf;
    for (const Candidate& candidate : candidates) {
        std::uint32_t leaf = layout.leaf_of[candidate.node.value];
        if (leaf == Layout::kNoSwitch) continue;
        ++in_leaf[leaf];
        groups[leaf].push_back(candidate);
        for (std::uint32_t above : layout.above[leaf]) groups[above].push_back(candidate);
    }
    // Groups with the cheapest nodes first, then small groups: that is the best fit, and leaves
    // come before the switches above them.
    std::vector<std::tuple<std::uint64_t, std::size_t, std::uint32_t>> order;
    for (const auto& [number, group] : groups) {
        std::uint64_t dearest = 0;
        for (const Candidate& each : group)
            dearest = std::max(dearest, layout.weight_of[each.node.value]);
        order.emplace_back(dearest, group.size(), number);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [dearest, size, number] : order) {
        Candidates& group = groups[number];
        std::stable_sort(group.begin(), group.end(), [&](const Candidate& a, const Candidate& b) {
            auto size_of = [&](const Candidate& c) {
                return in_leaf[layout.leaf_of[c.node.value]];
            };
            return size_of(a) > size_of(b);
        });
        Choice choice = take_first(need, layout, way, group);
        if (choice.empty()) continue;
        if (!need.shape->switches_max || options.any_switches) return choice;
        std::map<std::uint32_t, int> leaves;
        for (const Chosen& chosen : choice) ++leaves[layout.leaf_of[chosen.node.value]];
        if (leaves.size() <= *need.shape->switches_max) return choice;
    }
    if (need.shape->switches_max && !options.any_switches) return {};
    return take_first(need, layout, way, candidates);
}

bool has_tree(const Layout& layout) {
    return !layout.above.empty();
}

Choice select_by_way(const Need& need, const Layout& layout, const FeatureWay& way,
                     const Candidates& all, const SelectOptions& options) {
    Candidates candidates;
    for (const Candidate& candidate : all) {
        if (way.kinds[layout.kind_of[candidate.node.value]]) candidates.push_back(candidate);
    }
    if (options.least_loaded || need.shape->spread) {
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) {
                             return a.free[Amounts::kCpus] > b.free[Amounts::kCpus];
                         });
    }
    if (!need.datasets.empty()) {
        const auto rank = [&](const Candidate& candidate) {
            const std::uint32_t node = candidate.node.value;
            return std::pair(layout.weight_of[node], ~need.datasets[node]);
        };
        std::stable_sort(candidates.begin(), candidates.end(),
                         [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
    }
    counted_first(way, layout, candidates);
    // Named nodes must be included: they come first.
    std::size_t placed = 0;
    for (NodeIndex node : need.required) {
        auto named =
            std::find_if(candidates.begin(), candidates.end(),
                         [&](const Candidate& candidate) { return candidate.node == node; });
        bool subset_will_do = need.nodes_max && *need.nodes_max < need.required.size();
        if (named == candidates.end()) {
            if (subset_will_do) continue;
            return {};
        }
        auto front = candidates.begin() + static_cast<std::ptrdiff_t>(placed++);
        if (named >= front) std::rotate(front, named, named + 1);
    }
    if (need.shape->contiguous) return take_contiguous(need, layout, way, std::move(candidates));
    bool one_node = need.nodes_max == 1u || need.tasks == 1;
    if (has_tree(layout) && !one_node && need.required.empty())
        return take_near(need, layout, way, candidates, options);
    return take_first(need, layout, way, candidates);
}

}  // namespace

bool takes_first_that_suffice(const Need& need, const Layout& layout,
                              const SelectOptions& options) {
    bool one_node = need.nodes_max == 1u || need.tasks == 1;
    return need.ways.size() == 1 && need.ways.front().counts.empty() && need.required.empty() &&
           need.preferred.empty() && need.datasets.empty() && !options.least_loaded &&
           !wants_the_most(need) && !need.shape->contiguous && (one_node || !has_tree(layout));
}

Choice select_nodes(const Need& need, const Layout& layout, std::vector<Candidate> candidates,
                    const SelectOptions& options) {
    for (bool only_preferred : {true, false}) {
        if (only_preferred && need.preferred.empty()) continue;
        Candidates wanted;
        for (const Candidate& candidate : candidates) {
            if (!only_preferred || need.preferred[layout.kind_of[candidate.node.value]])
                wanted.push_back(candidate);
        }
        for (const FeatureWay& way : need.ways) {
            if (Choice choice = select_by_way(need, layout, way, wanted, options); !choice.empty())
                return choice;
        }
    }
    return {};
}

}  // namespace sluice
