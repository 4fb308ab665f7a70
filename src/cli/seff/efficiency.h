// cli/seff/efficiency.h
//
// What a run of a job used of what it had, and what the next one could ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "model/accounted.h"

namespace sluice {

struct Efficiency {
    Seconds elapsed{0};
    std::uint64_t cpus = 0, nodes = 0, gpus = 0;
    Seconds cpu_used{0};
    std::uint64_t memory_kb = 0;       // the peak of all tasks of the largest step
    std::uint64_t memory_node_kb = 0;  // the same on one node
    bool memory_is_sum = false;        // of the peaks of several tasks
    std::uint64_t memory_allocated_mb = 0;
    std::optional<double> gpu_percent;  // of all GPUs together; absent: not measured
    std::optional<GpuSummary> gpu_use;  // as slurmd sampled it, once the job has ended
    std::uint64_t gpu_memory_kb = 0;
};

Efficiency efficiency_of(const AccountedRun& run, Time now);

// "--mem=120M --time=00:10:00 --cpus-per-task=1"; empty: the job needed what it had asked for.
std::string suggestion_for(const AccountedRun& run, const Efficiency& efficiency);

}  // namespace sluice
