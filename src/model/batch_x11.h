// model/batch_x11.h
//
// sbatch --x11: the X server that a batch script reaches by TCP, and its cookie, as one text:
// "host:10.0 00112233".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

struct BatchDisplay {
    std::string display;       // "host:10.0"
    std::uint32_t number = 0;  // 10
    std::string cookie;        // bytes
    bool operator==(const BatchDisplay&) const = default;
};

std::string print_batch_display(std::string_view display, std::string_view cookie);
Result<BatchDisplay> parse_batch_display(std::string_view text);

}  // namespace sluice
