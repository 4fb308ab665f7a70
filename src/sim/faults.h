// sim/faults.h
//
// Many fault worlds, one per seed. Prints each seed before its world starts, and how to replay one
// that fails.
#pragma once

#include <cstdint>
#include <cstdio>

namespace sluice {

struct FaultRuns {
    std::uint64_t first = 1, last = 20;  // seeds
    std::uint32_t nodes = 32, jobs = 500;
    bool print_events = false;
};

// 0, or 1 when a world failed.
int run_faults(const FaultRuns& runs, std::FILE* out);

}  // namespace sluice
