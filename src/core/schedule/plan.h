// core/schedule/plan.h
//
// How much of each node is free over time: running jobs give back at their time limit, bookings
// take an interval. Backfill asks it for the earliest start of a waiting job, then takes the
// interval. It knows nothing of jobs, only amounts and times.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "base/time.h"
#include "core/place/amounts.h"
#include "model/job.h"

namespace sluice {

using PlanTime = std::int32_t;  // seconds since the plan's first moment
constexpr PlanTime kForever = std::numeric_limits<PlanTime>::max();

class Plan {
public:
    // Starts again at `epoch`, with all nodes closed.
    void restart(Time epoch, std::size_t nodes);

    PlanTime tick(Time time) const;
    Time time(PlanTime tick) const { return epoch_ + Seconds{tick}; }

    // From the first moment to forever; replaces what was known of the node.
    void set_free(NodeIndex node, const Amounts& free);
    void close(NodeIndex node) { nodes_[node.value].clear(); }  // nothing starts there
    bool is_closed(NodeIndex node) const { return nodes_[node.value].empty(); }
    void take(NodeIndex node, const Amounts& amounts, PlanTime from, PlanTime until);
    void give(NodeIndex node, const Amounts& amounts, PlanTime from, PlanTime until);

    // The first moment not before `from` at which `need` is free for `length`; kForever: never, or
    // so late that it is not before `before`: then the search may end early.
    PlanTime earliest(NodeIndex node, const Amounts& need, PlanTime from, PlanTime length,
                      PlanTime before = kForever) const;

    // When what is free on the node changes next after `at`.
    PlanTime next_change(NodeIndex node, PlanTime at) const {
        for (const Slot& slot : nodes_[node.value]) {
            if (slot.start > at) return slot.start;
        }
        return kForever;
    }

    // Whether `need` is free from `from` on and ever after.
    bool is_open_ended(NodeIndex node, const Amounts& need, PlanTime from) const;

    // What is free all the time from `from` on for `length`, and until when (exclusively) a later
    // start would see the same.
    struct Window {
        Amounts free;
        PlanTime same_until = kForever;
    };
    Window window(NodeIndex node, PlanTime from, PlanTime length) const;

    // Nodes that have become freer, numbered in the order in which that happened. Old numbers are
    // forgotten.
    std::uint64_t freed_first() const { return freed_first_; }
    std::uint64_t freed_end() const { return freed_first_ + freed_.size(); }
    std::span<const NodeIndex> freed_since(std::uint64_t number) const {
        return std::span(freed_).subspan(number - freed_first_);
    }
    std::size_t node_count() const { return nodes_.size(); }

private:
    struct Slot {
        PlanTime start;
        Amounts free;
    };
    using Slots = std::vector<Slot>;  // ordered; the last one lasts forever

    void note_freed(NodeIndex node);
    static std::size_t split(Slots& slots, PlanTime at);
    // The slot that `at` falls into. Few slots, and most questions are about the first ones.
    static std::size_t slot_at(const Slots& slots, PlanTime at) {
        std::size_t i = 0;
        while (i + 1 < slots.size() && slots[i + 1].start <= at) ++i;
        return i;
    }

    Time epoch_;
    std::vector<Slots> nodes_;
    std::vector<NodeIndex> freed_;
    std::uint64_t freed_first_ = 0;
};

// When something that starts at `from` and takes `length` is over.
inline PlanTime end_of(PlanTime from, PlanTime length) {
    return length >= kForever - from ? kForever : from + length;
}

// Here for speed: a pass asks this of millions of nodes.
inline PlanTime Plan::earliest(NodeIndex node, const Amounts& need, PlanTime from, PlanTime length,
                               PlanTime before) const {
    const Slots& slots = nodes_[node.value];
    if (slots.empty()) return kForever;
    PlanTime start = from;
    for (std::size_t i = slot_at(slots, from); i < slots.size(); ++i) {
        bool last = i + 1 == slots.size();
        if (!slots[i].free.holds(need)) {
            if (last) return kForever;
            start = slots[i + 1].start;
            if (start >= before) return kForever;
        } else if (last || slots[i + 1].start >= end_of(start, length)) {
            return start;
        }
    }
    return kForever;
}

}  // namespace sluice
