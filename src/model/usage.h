// model/usage.h
//
// What the processes of a batch script or a step have used, as measured by slurmstepd.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice {

using Microseconds = std::chrono::duration<std::int64_t, std::micro>;

struct Usage {
    Microseconds cpu_user{0};
    Microseconds cpu_system{0};
    std::uint64_t rss_max_kb = 0;  // the most memory on one node
    std::string rss_max_node;      // the name of that node

    bool operator==(const Usage&) const = default;
};

// Adds the usage of one more node: CPU times are added, of the memory the largest value counts.
void add_usage(Usage& total, const Usage& part);

}  // namespace sluice
