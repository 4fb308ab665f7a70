// model/statistics.h
//
// What slurmctld counts of its own work, as sdiag shows it, and slurmdbd of its own, as sacctmgr
// show stats does. Times are microseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace sluice {

// Each task of an array is a job here.
struct JobTally {
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t completed = 0;  // ended, and neither of the next two
    std::uint64_t cancelled = 0;
    std::uint64_t failed = 0;      // lost with a node, or could not be launched
    std::uint64_t backfilled = 0;  // of the started: ahead of a job with a higher priority
    bool operator==(const JobTally&) const = default;
    JobTally& operator+=(const JobTally& other);
};

// Scheduling passes of one kind.
struct PassStatistics {
    std::uint64_t count = 0;
    std::optional<Time> last_start;
    std::uint64_t last_time = 0, max_time = 0, total_time = 0;
    std::uint64_t last_depth = 0, total_depth = 0;        // jobs that were looked at
    std::uint64_t last_tried = 0, total_tried = 0;        // jobs for which a place was searched
    std::uint64_t last_queue = 0, total_queue = 0;        // jobs in the queue before the pass
    std::uint64_t last_bookings = 0, total_bookings = 0;  // bookings that the pass made
    std::uint64_t hit_max_job_test = 0;  // passes that made no more bookings: bf_max_job_test
    bool operator==(const PassStatistics&) const = default;
};

// Requests of one type, or of one user.
struct RequestCount {
    std::uint32_t id = 0;  // number of the type, or uid
    std::string name;      // of the type
    std::uint64_t count = 0;
    std::uint64_t total_time = 0;
    bool operator==(const RequestCount&) const = default;
};

struct Statistics {
    Time time{};   // of the answer
    Time since{};  // when the counters were reset
    std::uint32_t active_requests = 0;
    std::uint64_t waiting_orders = 0;  // messages for nodes that are not passed to a connection yet
    std::uint64_t order_batches = 0;   // how many batches these came in
    std::uint64_t waiting_facts = 0;   // not in the accounting database yet
    JobTally jobs;
    std::uint64_t backfilled_ever = 0;  // since the start, or the last reset by an administrator
    Time job_states_time{};
    std::uint64_t jobs_pending = 0, jobs_running = 0;  // at that time
    PassStatistics quick_passes, full_passes;
    PassStatistics roll_ups;  // of the accounting database, where this daemon has it: times only
    std::uint64_t clock_latency = 0;  // of 1000 calls of gettimeofday(), at the start
    std::vector<RequestCount> by_type, by_user;
    bool operator==(const Statistics&) const = default;
};

}  // namespace sluice
