// core/schedule/scheduler.h
//
// What the scheduler keeps between passes: the nodes by kind, and the plan. All of it can be
// rebuilt from the records.
#pragma once

#include "core/schedule/planner.h"
#include "core/schedule/queue.h"

namespace sluice {

struct Scheduler {
    Layout layout;
    std::uint64_t layout_version = 0;  // 0: no layout yet
    Planner planner;
    bool is_planned = false;
    Time planned_at{};
    std::uint64_t plan_steps = 0;  // what the last full plan cost
    std::uint64_t passes = 0;      // so far; each may change the plan
    // The last booked job: jobs after it cannot delay a booking.
    struct Turn {
        std::uint32_t tier;
        QueueKey key;
        bool comes_before(std::uint32_t other_tier, const QueueKey& other) const {
            return tier != other_tier ? tier > other_tier : key < other;
        }
    };
    std::optional<Turn> last_booked;

    // By job for which others are preempted, until it starts: the runs that are ending.
    std::unordered_map<std::uint32_t, std::vector<std::pair<JobId, std::uint32_t>>> making_room;
    std::optional<Time> slice_end;  // of jobs that share CPUs in turn; see gang.h

    bool is_being_made_room_for(const Cluster& cluster, JobId id);
};

}  // namespace sluice
