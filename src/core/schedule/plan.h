// core/schedule/plan.h
//
// How much of each node is free, from now to forever: running jobs give back at their time limit,
// bookings take for a while. Backfill asks it for the earliest start of a waiting job; whoever
// starts or books takes the interval. Knows nothing of jobs: amounts and times only.
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
    // Begins anew at `epoch`, with all nodes closed.
    void restart(Time epoch, std::size_t nodes);

    PlanTime tick(Time time) const;
    Time time(PlanTime tick) const { return epoch_ + Seconds{tick}; }

    // From the first moment to forever; replaces what was known of the node.
    void set_free(NodeIndex node, const Amounts& free);
    void close(NodeIndex node) { nodes_[node.value].clear(); }  // nothing starts there
    bool is_closed(NodeIndex node) const { return nodes_[node.value].empty(); }
    void take(NodeIndex node, const Amounts& amounts, PlanTime from, PlanTime until);
    void give(NodeIndex node, const Amounts& amounts, PlanTime from, PlanTime until);

    // The first moment not before `from` at which `need` is free for `length`; kForever: never.
    PlanTime earliest(NodeIndex node, const Amounts& need, PlanTime from, PlanTime length) const;

    // Whether `need` is free from `from` on and ever after.
    bool is_open_ended(NodeIndex node, const Amounts& need, PlanTime from) const;

    // What is free all the time from `from` on for `length`, and until when (exclusively) a later
    // start would see the same.
    struct Window {
        Amounts free;
        PlanTime same_until = kForever;
    };
    Window window(NodeIndex node, PlanTime from, PlanTime length) const;

private:
    struct Slot {
        PlanTime start;
        Amounts free;
    };
    using Slots = std::vector<Slot>;  // ordered; the last one lasts forever

    static std::size_t split(Slots& slots, PlanTime at);
    static std::size_t slot_at(const Slots& slots, PlanTime at);

    Time epoch_;
    std::vector<Slots> nodes_;
};

// When something that starts at `from` and takes `length` is over.
inline PlanTime end_of(PlanTime from, PlanTime length) { return length >= kForever - from ? kForever : from + length; }

}  // namespace sluice
