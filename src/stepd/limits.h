// stepd/limits.h
//
// The submitter's resource limits (PropagateResourceLimits), from their names on the wire.
#pragma once

#include <utility>
#include <vector>

#include "order.pb.h"
#include "os/process.h"

namespace sluice {

// RLIM_INFINITY is the largest number on the wire, too.
inline std::vector<std::pair<int, rlim_t>> limits_of(
    const std::vector<std::pair<std::string, std::uint64_t>>& limits) {
    std::vector<std::pair<int, rlim_t>> result;
    for (const auto& [name, soft] : limits) {
        if (auto number = limit_number(name)) result.emplace_back(*number, soft);
    }
    return result;
}

}  // namespace sluice
