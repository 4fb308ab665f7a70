// model/qos.h
//
// A quality of service, as far as scheduling looks at it (sacctmgr add qos).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace sluice {

struct Qos {
    std::uint32_t id = 0;
    std::string name;
    std::string description;
    std::uint32_t priority = 0;
    std::vector<std::string> preempt;     // whose jobs its own may preempt
    std::string preempt_mode;             // upper case words: "WITHIN,REQUEUE"; empty: as slurm.conf has it
    Seconds grace_time{0};
    std::optional<Seconds> exempt_time;   // absent: as slurm.conf has it
    bool operator==(const Qos&) const = default;
};

// Always there; where QOS count, jobs that name none are of it.
constexpr std::string_view kDefaultQos = "normal";

}  // namespace sluice
