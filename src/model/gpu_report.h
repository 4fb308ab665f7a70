// model/gpu_report.h
//
// What slurmd tells the controller after each sample of its GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/fields.h"
#include "model/job_id.h"
#include "model/sizes.h"

namespace sluice {

// What one job that has processes on a node runs at there. A GPU whose utilisation is unknown does
// not count; there may be no other.
struct JobGpuLoad {
    JobId job;
    std::uint32_t restarts = 0;
    std::uint32_t gpus = 0;
    std::uint32_t percent_sum = 0;
    std::uint64_t io_bytes = 0;  // that its processes read and wrote since the last report
    bool operator==(const JobGpuLoad&) const = default;
};

// A GPU that no job must get.
struct UnfitGpu {
    std::uint32_t gpu = 0;  // as in NodeShare
    std::string reason;
    bool is_lasting = false;  // reported once; others are reported as long as they last
    bool operator==(const UnfitGpu&) const = default;
};

struct GpuReport {
    std::vector<JobGpuLoad> jobs;
    bool has_health = false;  // `unfit` is complete, but for lasting faults that were reported
    std::vector<UnfitGpu> unfit;
    bool operator==(const GpuReport&) const = default;
};

template <>
inline constexpr auto kFields<JobGpuLoad> = fields<JobGpuLoad>(
    field(1, "job", &JobGpuLoad::job), field(2, "restarts", &JobGpuLoad::restarts),
    field(3, "GPUs", &JobGpuLoad::gpus, at_most(sizes::kNameCount)),
    field(4, "utilisation", &JobGpuLoad::percent_sum, at_most(100 * sizes::kNameCount)),
    field(5, "input and output", &JobGpuLoad::io_bytes, at_most(sizes::kAmount)));

template <>
inline constexpr auto kFields<UnfitGpu> = fields<UnfitGpu>(
    field(1, "GPU", &UnfitGpu::gpu, at_most(sizes::kNodeCount)),
    field(2, "reason", &UnfitGpu::reason), field(3, "lasting", &UnfitGpu::is_lasting));

template <>
inline constexpr auto kFields<GpuReport> = fields<GpuReport>(
    field(1, "jobs", &GpuReport::jobs, entries_at_most(sizes::kNodeCount)),
    field(2, "health", &GpuReport::has_health), field(3, "unfit GPUs", &GpuReport::unfit));

}  // namespace sluice
