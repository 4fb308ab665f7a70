// core/limits/allowance.h
//
// How much jobs may have: limits of QOS and of associations. Which of them apply to a job is in
// job_limits.h.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "core/cluster.h"
#include "core/limits/limit_check.h"

namespace sluice {

constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

struct Allowance {
    std::uint32_t jobs = kNoLimit;   // how many such jobs may start now
    Reason reason = Reason::None;    // why no more
    bool changes_with_time = false;  // more may start without the end of a job
};

// What a job would really hold, once its placement is known.
struct Holding {
    Tres tres;
    std::vector<NodeIndex> nodes;
};

// In the partition, at this time.
Allowance allowance(const Cluster& cluster, const Job& job, const Partition& partition, Time now,
                    const Holding& held = {});
// All limits that apply to it there; and those of them that keep it from starting.
std::vector<LimitCheck> limits_on(const Cluster& cluster, const Job& job,
                                  const Partition& partition, Time now, const Holding& held = {});
std::vector<LimitCheck> limits_reached(const Cluster& cluster, const Job& job,
                                       const Partition& partition, Time now,
                                       const Holding& held = {});

// Whether it may be submitted: by number of jobs, and with DenyOnLimit by what it could have if it
// were alone.
Result<void> check_submission(const Cluster& cluster, const Job& job, std::uint64_t tasks,
                              Time now);
Result<void> check_limits(const Cluster& cluster, const Job& job);
// Whether limits would ever let it start, if it were alone; with or without DenyOnLimit.
Result<void> check_limits_alone(const Cluster& cluster, const Job& job);
// MaxWall that applies, which a job without a time limit of its own gets.
TimeLimit wall_limit(const Cluster& cluster, UserId user, const JobTerms& demand,
                     const PartitionConfig& partition);
// A limit that the job breaks by itself in each of its partitions: it can never run. Empty: none.
std::string never_allowed(const Cluster& cluster, const Job& job);
// Whether resources are reserved for it, so that it starts at its estimated time: not with
// NoReserve, nor below MinPrioThreshold.
bool may_reserve(const Cluster& cluster, const Job& job, const PartitionConfig& partition);

// Limits of the partition itself; flags of QOS lift them.
struct PartitionBounds {
    std::uint32_t min_nodes = 0;
    std::optional<std::uint32_t> max_nodes;
    TimeLimit max_time;
};
PartitionBounds bounds_of(const Cluster& cluster, const JobTerms& demand,
                          const PartitionConfig& partition);

// Running jobs whose QOS or association has used up its GrpTRESMins. None with `safe`: they were
// started with enough for their time limits.
std::vector<JobId> jobs_out_of_minutes(const Cluster& cluster, Time now);
bool ends_jobs_by_minutes(const Cluster& cluster);  // whether there can be any
// What is done because time has passed is done at full minutes, so that it is done rarely.
Time next_minute(Time now);

// Whether jobs have to be distinguished by user or account.
bool limits_users(const Cluster& cluster);
bool limits_accounts(const Cluster& cluster);
// Whether they have to be distinguished by association; and by which value, for each of its
// partitions.
bool limits_associations(const Cluster& cluster);
std::vector<std::uint32_t> limit_groups_of(const Cluster& cluster, const Job& job);

}  // namespace sluice
