// core/schedule/start_finder.h
//
// Finds the earliest start and its nodes in a plan, for one need at a time. Cost is counted in
// nodes looked at, so that work can be budgeted without a clock.
#pragma once

#include <tuple>

#include "core/schedule/known_starts.h"
#include "core/schedule/planner.h"

namespace sluice {

struct Start {
    PlanTime at = kForever;
    Choice nodes;  // empty: never
};

// What a class knows about single nodes, so that its next job need not search all again: the
// earliest few. Bookings only delay nodes, so no other node can have become earlier.
struct Shortlist {
    struct Place {
        PlanTime at;
        std::uint32_t rank;  // in the partition's order
        bool operator<(const Place& other) const {
            return std::tie(at, rank) < std::tie(other.at, other.rank);
        }
    };
    static bool later(const Place& a, const Place& b) { return b < a; }
    std::vector<Place> places;  // a heap, earliest on top
    PlanTime bound = kForever;  // no node that is not on the list is earlier
};

// Where counts may promise too much, a node is also checked by CPU and device in its current state;
// that is valid until something changes there.
struct Detail {
    const Cluster& cluster;
    PlanTime now;
};

struct Search {
    const Need& need;
    const std::vector<NodeIndex>& nodes;  // in order of preference
    PlanTime from = 0;
    PlanTime length = 0;
    SelectOptions options = {};
    bool in_order = false;           // take `nodes` in order, gaps or not
    const Detail* detail = nullptr;  // for needs that depend on it
};

class StartFinder {
public:
    StartFinder(const Planner& planner, const Layout& layout)
        : planner_(planner), layout_(layout) {}

    // `shortlist`: what this class knew after its last job was booked; empty at first.
    Start find(const Search& search, Shortlist* shortlist = nullptr);
    // Any single node fits: then find() is as cheap as at_once() and says more.
    bool is_single(const Search& search) const;
    // Whether the node could take a share of the job at this time, ignoring later bookings.
    bool has_room(const Need& need, NodeIndex node, PlanTime at) const;
    // Where it can start at `search.from` exactly; empty: nowhere.
    Choice at_once(const Search& search);

    std::uint64_t steps = 0;

private:
    Start find_single(const Search& search, Shortlist* shortlist);
    NodeIndex gap_at_once(const Search& search, const Shortlist& list);
    void make_shortlist(const Search& search, Shortlist& list);
    Start find_uniform(const Search& search);
    using Ready = std::vector<std::pair<PlanTime, NodeIndex>>;  // a node, and since when it is free
    Ready first_ready(const Search& search, PlanTime from);
    Start sweep(const Search& search);
    std::vector<Candidate> candidates_at(const Search& search, PlanTime at,
                                         const std::vector<NodeIndex>& order);
    PlanTime earliest(const Search& search, NodeIndex node, PlanTime from,
                      PlanTime before = kForever) const;
    Choice one_node(const Search& search, NodeIndex node) const;
    std::uint32_t tasks_at(const Search& search, NodeIndex node, PlanTime at,
                           const Amounts& free) const;
    std::vector<NodeIndex> gaps_first(const Search& search);

    // Visits the nodes that are free for the search before `bound`, in order: visit(rank, since
    // when). `bound` may be lowered during the visit. Changes at the horizon or later may be
    // missed.
    template <typename Visit>
    void for_each_before(const PlanTime& bound, KnownStarts::Page& known, const Search& search,
                         PlanTime from, Visit visit, PlanTime horizon = kForever);
    // Looks as far ahead as the last search of this kind had to, then farther: look(until when),
    // which says up to where it found what it wanted; kForever: nothing yet.
    template <typename Look>
    void for_each_reach(KnownStarts::Page& known, PlanTime from, Look look);
    KnownStarts::Page& known_for(const Search& search) {
        return known_.page_for(planner_.plan(), search.need.least, search.from, search.length);
    }

    const Planner& planner_;
    const Layout& layout_;
    KnownStarts known_;
};

}  // namespace sluice
