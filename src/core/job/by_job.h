// core/job/by_job.h
//
// Lists of values by job. A job that has none has no list.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/ids.h"

namespace sluice {

template <typename Value>
using ByJob = std::unordered_map<std::uint32_t, std::vector<Value>>;

// Removes the values of the job for which is_gone(value) is true, in their order.
template <typename Value, typename IsGone>
void erase_of(ByJob<Value>& lists, JobId job, IsGone is_gone) {
    const auto found = lists.find(job.value);
    if (found == lists.end()) return;
    std::erase_if(found->second, is_gone);
    if (found->second.empty()) lists.erase(found);
}

}  // namespace sluice
