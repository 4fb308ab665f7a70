// core/limits/limit_check.h
//
// One limit that applies to a job, and the job's amounts against it. The limit is held by a QOS or
// by an association.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/cluster.h"

namespace sluice {

// Has the limit: one of them is set.
struct LimitHolder {
    const Qos* qos = nullptr;
    const Association* association = nullptr;
    std::string name() const;  // "QOS lab", "account vision"
};

enum class LimitKind : std::uint8_t {
    Wall,         // MaxWall
    PerJob,       // MaxTRES
    PerNode,      // MaxTRESPerNode
    Least,        // MinTRES: the job must have so much
    JobMinutes,   // MaxTRESMins
    FairShare,    // UsageThreshold: the least factor of fair share
    Tres,         // of running jobs together
    Running,      // how many jobs run
    Submitted,    // how many run or wait
    RunMinutes,   // TRESRunMins: what running jobs may still use
    UsedMinutes,  // GrpTRESMins
    UsedWall,     // GrpWall
};

struct LimitCheck {
    LimitHolder holder = {};
    LimitKind kind = LimitKind::Tres;
    std::string_view key = {};  // "MaxTRESPerUser"
    Reason reason = Reason::None;
    // Times and minutes of resources are in seconds, factors in thousandths.
    std::uint64_t most = 0;
    std::uint64_t used = 0;  // by others
    std::uint64_t wanted = 0;
    std::string tres = {};  // of which, if it is of resources
    enum class Among : unsigned char { All, User, Account } among = Among::All;

    std::string text() const;                       // "MaxTRESPerUser=gres/gpu=4"
    std::string amount(std::uint64_t count) const;  // of what it limits: "4", "64G", "00:30:00"
    // How much of it a job of the book holds at the time; 0 if it does not count against the same
    // limit.
    std::uint64_t held_by(const LimitBook::Entry& other, const Job& job, Time now) const;
    // With other jobs, which give it back when they end.
    bool is_shared() const;
    // What was used is given back by decay only.
    bool is_of_usage() const {
        return kind == LimitKind::UsedMinutes || kind == LimitKind::UsedWall;
    }
    bool is_of_minutes() const;
    bool is_broken() const;
    // The same limit, maybe of another holder.
    bool is_same_as(LimitKind other, Among others, const std::string& of) const {
        return kind == other && among == others && tres == of;
    }
};

}  // namespace sluice
