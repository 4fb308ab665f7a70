// model/gpu_freq.h
//
// The frequencies of a step's GPUs: --gpu-freq, stored as "gpu:medium,memory=high".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

struct GpuClock {
    enum class Kind : std::uint8_t { Low, Medium, High, HighMinusOne, Megahertz };
    Kind kind = Kind::High;
    std::uint32_t megahertz = 0;  // Kind::Megahertz only
    bool operator==(const GpuClock&) const = default;
};

struct GpuFreq {
    std::optional<GpuClock> graphics, memory;  // absent: unchanged
    bool verbose = false;                      // prints the frequencies
    bool operator==(const GpuFreq&) const = default;
};

// "medium", "450,memory=high", "graphics=low,verbose". Of two for the same clock the last counts.
Result<GpuFreq> parse_gpu_freq(std::string_view text);

// The same after "gpu:", as it is stored and sent.
Result<GpuFreq> parse_tres_freq(std::string_view text);

// The closest of the clocks that a device supports; `possible` is not empty, in any order.
std::uint32_t nearest_clock(const GpuClock& demand, std::vector<std::uint32_t> possible);

}  // namespace sluice
