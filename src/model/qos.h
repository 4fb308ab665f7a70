// model/qos.h
//
// A quality of service (sacctmgr add qos): whom its jobs may preempt, and how much they may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/quantity.h"

namespace sluice {

enum QosFlag : std::uint32_t {
    kQosDenyOnLimit = 1 << 0,        // what could not run alone is refused at submission
    kQosOverPartQos = 1 << 1,        // its limits count before those of the partition's QOS
    kQosPartitionMaxNodes = 1 << 2,  // the partition's own limit does not count for its jobs
    kQosPartitionMinNodes = 1 << 3,
    kQosPartitionTimeLimit = 1 << 4,
    kQosRequiresReservation = 1 << 5,
};

constexpr std::uint32_t kQosFlagsAll = (1u << 6) - 1;

// What jobs may have together; absent: as much as there is.
struct Allotment {
    Tres tres;  // of those that run
    std::optional<std::uint32_t> running;
    std::optional<std::uint32_t> submitted;  // running or waiting
    bool operator==(const Allotment&) const = default;
};

struct Qos {
    std::uint32_t id = 0;
    std::string name;
    std::string description;
    std::uint32_t priority = 0;
    std::vector<std::string> preempt;  // whose jobs its own may preempt
    std::string preempt_mode;  // upper case words: "WITHIN,REQUEUE"; empty: as slurm.conf has it
    Seconds grace_time{0};
    std::optional<Seconds> exempt_time;  // absent: as slurm.conf has it
    std::uint32_t flags = 0;             // QosFlag
    Tres max_per_job, max_per_node, min_per_job;
    std::optional<Seconds> max_wall;  // of each job
    Allotment of_all, of_user, of_account;
    bool has(QosFlag flag) const { return (flags & flag) != 0; }
    bool operator==(const Qos&) const = default;
};

// Always there; where QOS count, jobs that name none are of it.
constexpr std::string_view kDefaultQos = "normal";

std::string print_qos_flags(std::uint32_t flags);             // "DenyOnLimit,OverPartQOS"
std::optional<QosFlag> find_qos_flag(std::string_view name);  // any case

}  // namespace sluice
