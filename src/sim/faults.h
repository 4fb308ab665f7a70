// sim/faults.h
//
// Many fault worlds, one per seed. Prints each seed before its world starts. All that was random in
// a world that fails is written to a file, which replays it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/result.h"

namespace sluice {

struct FaultRuns {
    std::uint64_t first = 1, last = 20;  // seeds
    std::uint32_t nodes = 32, jobs = 500;
    bool print_events = false;
};

// 0, or 1 when a world failed: then its trace is in the working directory.
Result<int> run_faults(const FaultRuns& runs, std::FILE* out);
// The same for the world of a trace.
Result<int> replay_faults(const std::string& path, bool print_events, std::FILE* out);

}  // namespace sluice
