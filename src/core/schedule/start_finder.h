// core/schedule/start_finder.h
//
// When, and where, can it start at the earliest? Asked of a plan, for one need at a time. Cost is
// counted in nodes looked at, so that work can be budgeted without a clock.
#pragma once

#include <tuple>

#include "core/schedule/planner.h"

namespace sluice {

struct Start {
    PlanTime at = kForever;
    Choice nodes;                     // empty: never
};

// What a class has found out about single nodes, so that its next job need not look at all again:
// the earliest few. Bookings only make places later, so no other node can have become earlier.
struct Shortlist {
    struct Place {
        PlanTime at;
        std::uint32_t rank;           // in the partition's order
        bool operator<(const Place& other) const { return std::tie(at, rank) < std::tie(other.at, other.rank); }
    };
    std::vector<Place> places;        // a heap, earliest on top
    PlanTime bound = kForever;            // no node that is not on the list is earlier
};

struct Search {
    const Need& need;
    const std::vector<NodeIndex>& nodes;  // in order of preference
    PlanTime from = 0;
    PlanTime length = 0;
    SelectOptions options = {};
};

class StartFinder {
public:
    StartFinder(const Planner& planner, const Layout& layout) : planner_(planner), layout_(layout) {}

    // `shortlist`: what this class knew after its last job was booked; empty at first.
    Start find(const Search& search, Shortlist* shortlist = nullptr);
    // Where it can start at `search.from` exactly; empty: nowhere.
    Choice at_once(const Search& search);

    std::uint64_t steps = 0;

private:
    Start find_single(const Search& search, Shortlist* shortlist);
    void make_shortlist(const Search& search, Shortlist& list);
    Start find_uniform(const Search& search);
    Start sweep(const Search& search);
    std::vector<Candidate> candidates_at(const Search& search, PlanTime at, bool may_stop_early);
    void set_need(const Search& search);
    PlanTime earliest(const Search& search, NodeIndex node, PlanTime from) const;
    Choice one_node(const Search& search, NodeIndex node) const;
    bool may_use(const Search& search, NodeIndex node) const;

    const Planner& planner_;
    const Layout& layout_;
    std::vector<Amounts> amounts_;    // by kind: what a node of it gives at least
    std::vector<bool> kinds_;         // that will do
};

}  // namespace sluice
