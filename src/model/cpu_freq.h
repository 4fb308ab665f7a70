// model/cpu_freq.h
//
// The frequency of a step's CPUs: --cpu-freq, CpuFreqDef, SLURM_CPU_FREQ_REQ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

struct CpuClock {
    enum class Kind : std::uint8_t { Low, Medium, HighMinusOne, High, Kilohertz };
    Kind kind = Kind::High;
    std::uint32_t kilohertz = 0;  // Kind::Kilohertz only
    bool operator==(const CpuClock&) const = default;
};

struct CpuFreq {
    std::optional<CpuClock> speed;        // exactly this, by the governor UserSpace
    std::optional<CpuClock> least, most;  // the range that the governor may use
    std::string governor;                 // "Performance"; empty: stays as it is
    bool operator==(const CpuFreq&) const = default;
};

// "2400000", "high", "Performance", "low-high", "1800000-high:OnDemand". The detail of an error
// says what was expected.
Result<CpuFreq> parse_cpu_freq(std::string_view text);

// The first governor of `freq` that is not in the list "OnDemand,Performance"; empty: none.
std::string forbidden_governor(const CpuFreq& freq, std::string_view allowed);

// The closest of the frequencies that a CPU has; `possible` is not empty, in any order.
std::uint32_t nearest_frequency(const CpuClock& demand, std::vector<std::uint32_t> possible);

}  // namespace sluice
