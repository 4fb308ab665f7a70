// model/qos.h
//
// A quality of service (sacctmgr add qos): which jobs its own may preempt, and their limits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/preempt.h"
#include "model/quantity.h"

namespace sluice {

enum QosFlag : std::uint32_t {
    kQosDenyOnLimit = 1 << 0,        // a job that could not run alone is refused at submission
    kQosOverPartQos = 1 << 1,        // its limits take precedence over those of the partition's QOS
    kQosPartitionMaxNodes = 1 << 2,  // the partition's own limit does not apply to its jobs
    kQosPartitionMinNodes = 1 << 3,
    kQosPartitionTimeLimit = 1 << 4,
    kQosRequiresReservation = 1 << 5,
    kQosEnforceUsageThreshold = 1 << 6,  // jobs below UsageThreshold wait
    kQosNoReserve = 1 << 7,              // backfill reserves nothing for its jobs
    kQosNoDecay = 1 << 8,                // its usage does not decay
    kQosUsageFactorSafe = 1 << 9,        // with `safe`: UsageFactor counts before the start, too
    kQosRelative = 1 << 10,              // TRES limits are percentages of the cluster
};

constexpr std::uint32_t kQosFlagsAll = (1u << 11) - 1;

// What jobs may have together; absent: no limit.
struct Allotment {
    Tres tres;  // of running jobs
    std::optional<std::uint32_t> running;
    std::optional<std::uint32_t> submitted;      // running or waiting
    Tres minutes = {};                           // GrpTRESMins: of what was used, with its decay
    Tres run_minutes = {};                       // TRESRunMins: of what running jobs may still use
    std::optional<std::uint32_t> accruing = {};  // waiting jobs that gain priority by age
    std::optional<Seconds> wall = {};            // GrpWall: of what was used
    bool operator==(const Allotment&) const = default;
};

constexpr std::uint32_t kUnitFactor = 1000;

struct Qos {
    std::uint32_t id = 0;
    std::string name;
    std::string description;
    std::uint32_t priority = 0;
    std::vector<std::string> preempt;  // QOS whose jobs its own may preempt
    std::string preempt_mode;  // upper case words: "WITHIN,REQUEUE"; empty: that of slurm.conf
    Seconds grace_time{0};
    std::optional<Seconds> exempt_time;  // absent: that of slurm.conf
    std::uint32_t flags = 0;             // QosFlag
    Tres max_per_job, max_per_node, min_per_job;
    std::optional<Seconds> max_wall;  // of each job
    Allotment of_all, of_user, of_account;
    Tres max_minutes_per_job = {};                      // MaxTRESMinsPerJob
    std::optional<std::uint32_t> min_priority = {};     // MinPrioThreshold
    std::uint32_t usage_factor = kUnitFactor;           // in thousandths
    std::optional<std::uint32_t> usage_threshold = {};  // in thousandths
    std::optional<std::uint32_t> limit_factor = {};     // in thousandths
    bool deleted = false;
    bool has(QosFlag flag) const { return (flags & flag) != 0; }
    bool operator==(const Qos&) const = default;
};

// A new value; none: the limit is removed.
template <typename Value>
struct LimitChange {
    std::optional<Value> value;
    bool operator==(const LimitChange&) const = default;
};

// New limits by TRES; none: the limit is removed.
using TresChange = std::map<std::string, std::optional<std::uint64_t>>;
void apply_tres_change(const TresChange& change, Tres& tres);

struct AllotmentChange {
    TresChange tres;
    std::optional<LimitChange<std::uint32_t>> running;
    std::optional<LimitChange<std::uint32_t>> submitted;
    TresChange minutes = {}, run_minutes = {};
    std::optional<LimitChange<std::uint32_t>> accruing = {};
    std::optional<LimitChange<Seconds>> wall = {};

    void apply_to(Allotment& allotment) const;
    bool operator==(const AllotmentChange&) const = default;
};

// sacctmgr add and modify qos. Absent members stay, or have their default.
struct QosChange {
    std::optional<std::string> description;
    std::optional<std::uint32_t> priority;
    bool preempt_replaced = false;  // Preempt=: names that are not added are removed
    std::vector<std::string> preempt_added, preempt_removed;
    std::optional<PreemptWords> preempt_mode;
    std::optional<Seconds> grace_time;
    std::optional<LimitChange<Seconds>> exempt_time;
    bool flags_replaced = false;      // Flags=: flags that are not named are cleared
    std::uint32_t flags_set = 0;      // Flags= and Flags+=
    std::uint32_t flags_cleared = 0;  // Flags-=
    TresChange max_per_job, max_per_node, min_per_job;
    std::optional<LimitChange<Seconds>> max_wall;
    AllotmentChange of_all, of_user, of_account;
    TresChange max_minutes_per_job = {};
    std::optional<LimitChange<std::uint32_t>> min_priority = {};
    std::optional<std::uint32_t> usage_factor = {};  // this and the next ones in thousandths
    std::optional<LimitChange<std::uint32_t>> usage_threshold = {};
    std::optional<LimitChange<std::uint32_t>> limit_factor = {};

    void apply_to(Qos& qos) const;
    bool operator==(const QosChange&) const = default;
};

// Always exists; the QOS of jobs that name none, where QOS are enforced.
constexpr std::string_view kDefaultQos = "normal";

std::string print_qos_flags(std::uint32_t flags);             // "DenyOnLimit,OverPartQOS"
std::optional<QosFlag> find_qos_flag(std::string_view name);  // any case

using QosDefinitions = std::vector<std::pair<std::string, QosChange>>;  // by name

}  // namespace sluice
