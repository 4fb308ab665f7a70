// model/gpu_use.h
//
// What a run has used of its GPUs, measured by slurmd, and which GPUs of a node are out of service.
// GPUs are numbered as in NodeShare. Memory is in megabytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/quantity.h"

namespace sluice {

// One GPU, over the samples that were taken while the run had it.
struct GpuUse {
    std::uint32_t gpu = 0;
    std::uint64_t samples = 0;
    std::uint64_t percent_sum = 0;  // utilisation
    std::uint32_t percent_most = 0;
    std::uint64_t idle_samples = 0;  // with a utilisation below kGpuIdlePercent
    std::uint64_t memory_sum = 0;
    Megabytes memory_most = 0;
    Megabytes memory_all = 0;  // that the GPU has
    bool operator==(const GpuUse&) const = default;
};
constexpr std::uint32_t kGpuIdlePercent = 5;

// What a run used on one node.
struct NodeUse {
    NodeIndex node;
    std::uint64_t cpu_ms = 0;
    std::uint64_t memory_kb = 0;  // the most of one of its steps
    std::vector<GpuUse> gpus;
    bool operator==(const NodeUse&) const = default;
};

// All GPUs of a run together.
struct GpuSummary {
    std::uint32_t gpus = 0;  // that were measured
    GpuUse use;              // sums over all; memory_most and memory_all of one GPU
    bool operator==(const GpuSummary&) const = default;
};
GpuSummary summary_of(const std::vector<NodeUse>& nodes);

// A GPU that gets no new jobs.
struct DrainedGpu {
    std::uint32_t gpu = 0;
    std::string reason;
    Time since{};
    bool is_lasting = false;  // until an administrator puts it back; else until it is found clean
    bool operator==(const DrainedGpu&) const = default;
};

}  // namespace sluice
