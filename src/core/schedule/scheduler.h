// core/schedule/scheduler.h
//
// What the scheduler keeps between passes: the waiting jobs, the nodes by kind, the plan. All of it
// can be rebuilt from the records.
#pragma once

#include "core/schedule/planner.h"
#include "core/schedule/queue.h"

namespace sluice {

struct Scheduler {
    Queue queue;
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
    // Jobs suspended for others (Run::awaits_cpus), and the end of the time slice; see gang.h.
    std::set<JobId> set_aside;
    std::optional<Time> slice_end;

    bool is_being_made_room_for(const Cluster& cluster, JobId id);
};

}  // namespace sluice
