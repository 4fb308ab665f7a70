#include "core/schedule/start_finder.h"

#include <algorithm>
#include <queue>

#include "core/place/place.h"

namespace sluice {

namespace {

constexpr std::size_t kShortlistLength = 16;

// Books nodes that become free last rather than nodes that are free already: other jobs can use
// these until then.
std::vector<NodeIndex> latest_first(std::vector<std::pair<PlanTime, NodeIndex>>& ready) {
    std::stable_sort(ready.begin(), ready.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<NodeIndex> order;
    for (const auto& [since, node] : ready) order.push_back(node);
    return order;
}

}  // namespace

PlanTime StartFinder::earliest(const Search& search, NodeIndex node, PlanTime from,
                               PlanTime before) const {
    const Need& need = search.need;
    if (need.excludes(node)) return kForever;
    const Planner::Owner& owner = planner_.owner(node);
    std::uint32_t kind = layout_.kind_of[node.value];
    bool others = owner.user && *owner.user != need.user;
    if (others) from = std::max(from, owner.until);
    const Amounts* wanted = &need.least[kind];
    Amounts whole;
    if (need.exclusive == Exclusive::User && (!owner.user || others)) {  // needs the whole node
        whole = *wanted;
        whole[Amounts::kCpus] =
            std::max(whole[Amounts::kCpus], layout_.kinds[kind].total[Amounts::kCpus]);
        wanted = &whole;
    }
    PlanTime at = planner_.plan().earliest(node, *wanted, from, search.length, before);
    if (!search.detail || at == kForever) return at;
    PlanTime change = planner_.plan().next_change(node, search.detail->now);
    std::uint32_t tasks = std::max(1u, need.is_uniform() ? need.tasks_on_each() : 1);
    if (at >= change || tasks_in_detail(search.detail->cluster, need, node, tasks) == tasks)
        return at;
    return change == kForever
               ? kForever
               : planner_.plan().earliest(node, *wanted, change, search.length, before);
}

std::uint32_t StartFinder::tasks_at(const Search& search, NodeIndex node, PlanTime at,
                                    const Amounts& free) const {
    std::uint32_t tasks = tasks_that_fit(search.need, layout_.kind(node), free);
    if (!search.detail || at >= planner_.plan().next_change(node, search.detail->now)) return tasks;
    return tasks_in_detail(search.detail->cluster, search.need, node, tasks);
}

template <typename Visit>
void StartFinder::for_each_before(const PlanTime& bound, KnownStarts::Page& known,
                                  const Search& search, PlanTime from, Visit visit,
                                  PlanTime horizon) {
    steps += search.nodes.size();
    const Plan& plan = planner_.plan();
    for (std::uint32_t rank = 0; rank < search.nodes.size(); ++rank) {
        NodeIndex node = search.nodes[rank];
        PlanTime& not_before = known.not_before[node.value];
        if (not_before >= bound) continue;
        not_before = plan.earliest(node, known.amounts[layout_.kind_of[node.value]], not_before,
                                   known.length, horizon);
        if (not_before >= horizon) not_before = horizon;
        if (not_before >= bound) continue;
        PlanTime at = earliest(search, node, std::max(not_before, from), bound);
        if (at < bound) visit(rank, at);
    }
}

template <typename Look>
void StartFinder::for_each_reach(KnownStarts::Page& known, PlanTime from, Look look) {
    constexpr PlanTime kHour = 3600;
    PlanTime ahead = std::max(known.reach - from, kHour), found = kForever;
    for (bool is_last = false; found == kForever && !is_last;) {
        is_last = ahead > kForever / 8;
        ahead = is_last ? kForever : ahead + ahead / 8;
        found = look(end_of(from, ahead));
        if (!is_last) ahead *= 4;
    }
    known.reach = found;
}

Choice StartFinder::one_node(const Search& search, NodeIndex node) const {
    return {
        {node, search.need.tasks_on_each(), {}, search.need.least[layout_.kind_of[node.value]]}};
}

// Any single node: the earliest, then the first in order; if it is free now, one in a gap before a
// booking is preferred.
Start StartFinder::find_single(const Search& search, Shortlist* shortlist) {
    Shortlist local;
    Shortlist& list = shortlist ? *shortlist : local;
    for (bool listed : {true, false}) {
        while (!list.places.empty()) {
            Shortlist::Place place = list.places.front();
            NodeIndex node = search.nodes[place.rank];
            ++steps;
            PlanTime at = earliest(search, node, std::max(place.at, search.from));
            if (at == place.at)
                return {at, one_node(search, at == search.from ? gap_at_once(search, list) : node)};
            std::pop_heap(list.places.begin(), list.places.end(), Shortlist::later);
            list.places.pop_back();
            if (at == kForever || at > list.bound) continue;  // other nodes may be earlier
            list.places.push_back({at, place.rank});
            std::push_heap(list.places.begin(), list.places.end(), Shortlist::later);
        }
        if (listed) make_shortlist(search, list);
    }
    return {};
}

// Of the nodes that are free now and as cheap as the first, one that is booked later, if any.
NodeIndex StartFinder::gap_at_once(const Search& search, const Shortlist& list) {
    NodeIndex first = search.nodes[list.places.front().rank];
    if (!planner_.has_bookings() || search.in_order) return first;
    std::optional<std::uint32_t> best;
    for (const Shortlist::Place& place : list.places) {
        NodeIndex node = search.nodes[place.rank];
        bool as_cheap = layout_.weight_of[node.value] == layout_.weight_of[first.value];
        if (place.at != search.from || !as_cheap || (best && *best < place.rank)) continue;
        ++steps;
        if (earliest(search, node, search.from) != search.from) continue;
        if (!planner_.plan().is_open_ended(node, search.need.least[layout_.kind_of[node.value]],
                                           search.from))
            best = place.rank;
    }
    return best ? search.nodes[*best] : first;
}

// Once the list is full, a node is searched only as far as it might be earlier than the last entry.
void StartFinder::make_shortlist(const Search& search, Shortlist& list) {
    KnownStarts::Page& known = known_for(search);
    for_each_reach(known, search.from, [&](PlanTime reach) {
        list.places.clear();
        list.bound = reach;
        for_each_before(list.bound, known, search, search.from,
                        [&](std::uint32_t rank, PlanTime at) {
                            if (list.places.size() == kShortlistLength) {
                                std::pop_heap(list.places.begin(), list.places.end());
                                list.places.pop_back();
                            }
                            list.places.push_back({at, rank});
                            std::push_heap(list.places.begin(), list.places.end());
                            if (list.places.size() == kShortlistLength)
                                list.bound = list.places.front().at;
                        });
        return list.places.empty() ? kForever : list.bound;
    });
    std::make_heap(list.places.begin(), list.places.end(), Shortlist::later);
}

// The nodes that are free first, and all that are as early as the last of those.
StartFinder::Ready StartFinder::first_ready(const Search& search, PlanTime from) {
    Ready ready;
    KnownStarts::Page& known = known_for(search);
    for_each_reach(known, from, [&](PlanTime reach) {
        ready.clear();
        std::vector<PlanTime> first;  // a heap of as many as are wanted, the last on top
        PlanTime bound = reach;
        for_each_before(bound, known, search, from, [&](std::uint32_t rank, PlanTime at) {
            ready.emplace_back(at, search.nodes[rank]);
            first.push_back(at);
            std::push_heap(first.begin(), first.end());
            if (first.size() > search.need.nodes_min) {
                std::pop_heap(first.begin(), first.end());
                first.pop_back();
            }
            if (first.size() == search.need.nodes_min) bound = first.front() + 1;
        });
        if (first.size() < search.need.nodes_min) ready.clear();
        std::erase_if(ready, [&](const auto& place) { return place.first >= bound; });
        return ready.empty() ? kForever : bound;
    });
    return ready;
}

// Several nodes with equal shares: the time at which enough of them are free together.
Start StartFinder::find_uniform(const Search& search) {
    for (PlanTime from = search.from;;) {
        Ready ready = first_ready(search, from);
        if (ready.empty()) return {};
        PlanTime at = std::max_element(ready.begin(), ready.end())->first;
        std::vector<Candidate> candidates = candidates_at(search, at, latest_first(ready));
        bool enough = candidates.size() >= search.need.nodes_min;
        Choice choice =
            enough ? select_nodes(search.need, layout_, std::move(candidates), search.options)
                   : Choice{};
        if (!choice.empty()) return {at, std::move(choice)};
        // Not free together at that time: try the next. Enough, but not the right ones: try each
        // change.
        from = at + 1;
        if (enough)
            return sweep({search.need, search.nodes, from, search.length, search.options,
                          search.in_order, search.detail});
    }
}

// Any number of tasks on any number of nodes: advances from one change of what fits to the next.
Start StartFinder::sweep(const Search& search) {
    struct Change {
        PlanTime at;
        std::uint32_t place;
        bool operator<(const Change& other) const { return at > other.at; }
    };
    std::vector<NodeIndex> nodes;
    std::vector<std::uint32_t> tasks;
    std::vector<PlanTime> since;  // when it last got more room
    std::priority_queue<Change> changes;
    std::uint64_t sum = 0, count = 0;
    auto look = [&](std::uint32_t place, PlanTime at) {
        ++steps;
        Plan::Window window = planner_.plan().window(nodes[place], at, search.length);
        const Planner::Owner& owner = planner_.owner(nodes[place]);
        bool others = owner.user && *owner.user != search.need.user && owner.until > at;
        std::uint32_t now_fit = others ? 0 : tasks_at(search, nodes[place], at, window.free);
        if (others) window.same_until = std::min(window.same_until, owner.until);
        sum += now_fit - std::uint64_t{tasks[place]};
        count += (now_fit > 0) - std::uint64_t{tasks[place] > 0};
        if (now_fit > tasks[place]) since[place] = at;
        tasks[place] = now_fit;
        if (window.same_until != kForever)
            changes.push({std::max(window.same_until, at + 1), place});
    };
    for (NodeIndex node : search.nodes) {
        bool will_do =
            search.need.may_use_kind(layout_.kind_of[node.value]) && !search.need.excludes(node);
        if (!will_do || planner_.plan().is_closed(node)) continue;
        nodes.push_back(node);
        tasks.push_back(0);
        since.push_back(search.from);
        look(static_cast<std::uint32_t>(nodes.size() - 1), search.from);
    }
    for (PlanTime at = search.from;;) {
        bool enough = count >= search.need.nodes_min &&
                      (sum >= search.need.tasks || !search.need.tasks_given);
        if (enough) {
            std::vector<std::pair<PlanTime, NodeIndex>> ready;
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                if (tasks[i] > 0) ready.emplace_back(since[i], nodes[i]);
            }
            Choice choice =
                select_nodes(search.need, layout_, candidates_at(search, at, latest_first(ready)),
                             search.options);
            if (!choice.empty()) return {at, std::move(choice)};
        }
        if (changes.empty()) return {};
        at = changes.top().at;
        while (!changes.empty() && changes.top().at == at) {
            std::uint32_t place = changes.top().place;
            changes.pop();
            look(place, at);
        }
    }
}

std::vector<Candidate> StartFinder::candidates_at(const Search& search, PlanTime at,
                                                  const std::vector<NodeIndex>& order) {
    std::vector<Candidate> candidates;
    bool may_stop_early = takes_first_that_suffice(search.need, layout_, search.options);
    bool uniform = search.need.is_uniform();
    std::uint64_t sum = 0;
    for (NodeIndex node : order) {
        ++steps;
        if (earliest(search, node, at, at + 1) != at) continue;
        Candidate candidate{node, planner_.plan().window(node, at, search.length).free,
                            search.need.tasks_on_each()};
        if (!uniform) candidate.tasks = tasks_at(search, node, at, candidate.free);
        if (candidate.tasks == 0) continue;
        candidates.push_back(candidate);
        sum += candidate.tasks;
        bool enough = candidates.size() >= search.need.nodes_min && sum >= search.need.tasks;
        if (may_stop_early && uniform && enough) break;
    }
    return candidates;
}

// Nodes free now, cheapest first; among equals those that are booked later: a job that fits into
// such a gap leaves the others to jobs that do not.
std::vector<NodeIndex> StartFinder::gaps_first(const Search& search) {
    std::vector<std::tuple<std::uint32_t, bool, NodeIndex>> ready;
    auto add = [&](NodeIndex node) {
        bool open = planner_.plan().is_open_ended(
            node, search.need.least[layout_.kind_of[node.value]], search.from);
        ready.emplace_back(layout_.weight_of[node.value], open, node);
    };
    PlanTime soon = search.from + 1;
    constexpr std::size_t kFew = 64;
    if (search.nodes.size() > kFew) {
        for_each_before(
            soon, known_for(search), search, search.from,
            [&](std::uint32_t rank, PlanTime) { add(search.nodes[rank]); }, soon);
    } else {
        for (NodeIndex node : search.nodes) {
            ++steps;
            if (earliest(search, node, search.from, soon) == search.from) add(node);
        }
    }
    std::stable_sort(ready.begin(), ready.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::vector<NodeIndex> order;
    for (const auto& [weight, open, node] : ready) order.push_back(node);
    return order;
}

Choice StartFinder::at_once(const Search& search) {
    bool one = is_single(search);
    if (planner_.has_bookings() && !search.in_order) {
        std::vector<NodeIndex> order = gaps_first(search);
        if (order.empty()) return {};
        if (one) return one_node(search, order.front());
        return select_nodes(search.need, layout_, candidates_at(search, search.from, order),
                            search.options);
    }
    if (!one)
        return select_nodes(search.need, layout_, candidates_at(search, search.from, search.nodes),
                            search.options);
    for (NodeIndex node : search.nodes) {
        ++steps;
        if (earliest(search, node, search.from, search.from + 1) == search.from)
            return one_node(search, node);
    }
    return {};
}

bool StartFinder::has_room(const Need& need, NodeIndex node, PlanTime at) const {
    return planner_.plan().earliest(node, need.least[layout_.kind_of[node.value]], at, 1, at + 1) ==
           at;
}

bool StartFinder::is_single(const Search& search) const {
    return search.need.is_uniform() && search.need.nodes_min == 1 &&
           takes_first_that_suffice(search.need, layout_, search.options);
}

Start StartFinder::find(const Search& search, Shortlist* shortlist) {
    if (is_single(search)) return find_single(search, shortlist);
    return search.need.is_uniform() ? find_uniform(search) : sweep(search);
}

}  // namespace sluice
