// surface/statistics_derived.h
//
// Values that the text and the JSON document of sdiag derive from the counters.
#pragma once

#include <algorithm>

#include "model/statistics.h"
#include "os/user.h"

namespace sluice {

// Compat: whole numbers, cut; nothing counted gives 0.
inline std::uint64_t mean_of(std::uint64_t total, std::uint64_t count) {
    return count == 0 ? 0 : total / count;
}

inline std::uint64_t minutes_counted(const Statistics& statistics) {
    const Seconds length = std::max(statistics.time - statistics.since, Seconds{0});
    return static_cast<std::uint64_t>(std::chrono::floor<Minutes>(length).count());
}

// A full pass ends when the queue does, unless it may make no more bookings.
inline std::uint64_t end_of_queue(const PassStatistics& passes) {
    return passes.count - std::min(passes.count, passes.hit_max_job_test);
}

// One thread prepares messages for nodes.
inline int agent_threads(const Statistics& statistics) {
    return statistics.order_batches > 0 ? 1 : 0;
}

inline std::string user_of(const RequestCount& count) {
    const std::optional<User> user = find_user(count.id);
    return user ? user->name : std::to_string(count.id);
}

}  // namespace sluice
