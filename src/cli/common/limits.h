// cli/common/limits.h
//
// Resource limits that a job inherits from the process that submits it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice {

// `propagate` is a list as in --propagate and PropagateResourceLimits: ALL, NONE, or names; those
// in `except` are left out.
Result<std::vector<std::pair<std::string, std::uint64_t>>> limits_to_propagate(
    std::string_view propagate, std::string_view except);

}  // namespace sluice
