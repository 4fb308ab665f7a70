// stepd/limits.h
//
// The submitter's resource limits (PropagateResourceLimits), from their names on the wire.
#pragma once

#include <utility>
#include <vector>

#include "order.pb.h"
#include "os/process.h"

namespace sluice {

inline std::vector<std::pair<int, rlim_t>> limits_of(
    const google::protobuf::RepeatedPtrField<wire::Rlimit>& limits) {
    std::vector<std::pair<int, rlim_t>> result;
    for (const wire::Rlimit& limit : limits) {
        // RLIM_INFINITY is the largest number on the wire, too.
        if (auto number = limit_number(limit.name())) result.emplace_back(*number, limit.soft());
    }
    return result;
}

}  // namespace sluice
