// model/node_counts.h
//
// How many nodes a job wants: -N and scontrol update NumNodes=.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job_id.h"

namespace sluice {

struct WantedNodes {
    std::uint32_t min = 1;
    std::uint32_t max = 1;
    std::string sizes;  // as written, if not every count from min to max is allowed
    bool operator==(const WantedNodes&) const = default;
};

// "4", "2-8", "1,5,9", "2-16:2", "1-4,8-16:4". An error's detail says what is wrong in Slurm's
// words; a count of zero is InvalidNodeCount.
Result<WantedNodes> parse_node_counts(std::string_view text);

// The counts of a list.
Result<TaskSet> parse_node_sizes(std::string_view text);
// The smallest of them from `least` on, the largest up to `most`; 0: there is none.
std::uint32_t next_size(const TaskSet& sizes, std::uint32_t least);
std::uint32_t last_size(const TaskSet& sizes, std::uint32_t most);

}  // namespace sluice
