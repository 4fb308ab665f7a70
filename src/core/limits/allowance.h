// core/limits/allowance.h
//
// How much jobs may have: limits of their QOS and of their partition's. The partition's come first,
// unless the job's QOS has OverPartQOS; where the first has no limit the other one counts.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// One limit, and the job's amounts against it.
struct LimitCheck {
    const Qos* qos = nullptr;
    std::string_view key = {};  // "MaxTRESPerUser"
    Reason reason = Reason::None;
    std::uint64_t most = 0;
    std::uint64_t used = 0;  // by others
    std::uint64_t wanted = 0;
    std::string tres = {};   // of which, if it is of resources
    bool is_least = false;   // MinTRES: the job must have so much
    bool is_shared = false;  // with other jobs: of all, of the user, of the account
    enum class Among : unsigned char { All, User, Account } among = Among::All;

    std::string text() const;                       // "MaxTRESPerUser=gres/gpu=4"
    std::string amount(std::uint64_t count) const;  // of what it limits: "4", "64G", "00:30:00"
    // How much of it a job of the book holds; 0 if it does not count against the same limit.
    std::uint64_t held_by(const LimitBook::Entry& other, const Job& job) const;
    bool is_broken() const { return is_least ? wanted < most : used + wanted > most; }
};

constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

struct Allowance {
    std::uint32_t jobs = kNoLimit;  // how many such jobs may start now
    Reason reason = Reason::None;   // why no more
};

// What a job would really hold, once its placement is known.
struct Holding {
    Tres tres;
    std::vector<NodeIndex> nodes;
};

// In the partition, at this time.
Allowance allowance(const Cluster& cluster, const Job& job, const Partition& partition,
                    const Holding& held = {});
// All limits that apply to it there; and those of them that keep it from starting.
std::vector<LimitCheck> limits_on(const Cluster& cluster, const Job& job,
                                  const Partition& partition);
std::vector<LimitCheck> limits_reached(const Cluster& cluster, const Job& job,
                                       const Partition& partition);

// Whether it may be submitted: by number of jobs, and with DenyOnLimit by what it could have if it
// were alone.
Result<void> check_submission(const Cluster& cluster, const Job& job, std::uint64_t tasks);
Result<void> check_limits(const Cluster& cluster, const Job& job);
// Whether limits would ever let it start, if it were alone; with or without DenyOnLimit.
Result<void> check_limits_alone(const Cluster& cluster, const Job& job);
// MaxWall of the QOS that apply, which a job without a time limit of its own gets.
TimeLimit wall_limit(const Cluster& cluster, const JobTerms& demand,
                     const PartitionConfig& partition);
// A limit that the job breaks by itself in each of its partitions: it can never run. Empty: none.
std::string never_allowed(const Cluster& cluster, const Job& job);

// Limits of the partition itself; flags of QOS lift them.
struct PartitionBounds {
    std::uint32_t min_nodes = 0;
    std::optional<std::uint32_t> max_nodes;
    TimeLimit max_time;
};
PartitionBounds bounds_of(const Cluster& cluster, const JobTerms& demand,
                          const PartitionConfig& partition);

// Whether jobs have to be distinguished by user or account.
bool limits_users(const Cluster& cluster);
bool limits_accounts(const Cluster& cluster);

}  // namespace sluice
