// model/gpu_use_fields.h
//
// The members of what is measured of GPUs. See fields.h.
#pragma once

#include "model/fields.h"
#include "model/gpu_use.h"
#include "model/sizes.h"

namespace sluice {

template <>
inline constexpr auto kFields<GpuUse> =
    fields<GpuUse>(field(1, "GPU", &GpuUse::gpu, at_most(sizes::kNodeCount)),
                   field(2, "samples", &GpuUse::samples, at_most(sizes::kAmount)),
                   field(3, "utilisation", &GpuUse::percent_sum, at_most(sizes::kAmount)),
                   field(4, "utilisation", &GpuUse::percent_most, at_most(100)),
                   field(5, "idle samples", &GpuUse::idle_samples, at_most(sizes::kAmount)),
                   field(6, "GPU memory", &GpuUse::memory_sum, at_most(sizes::kAmount)),
                   field(7, "GPU memory", &GpuUse::memory_most, at_most(sizes::kAmount)),
                   field(8, "GPU memory", &GpuUse::memory_all, at_most(sizes::kAmount)));

template <>
inline constexpr auto kFields<NodeUse> =
    fields<NodeUse>(field(1, "node", &NodeUse::node),
                    field(2, "CPU time", &NodeUse::cpu_ms, at_most(sizes::kAmount)),
                    field(3, "memory", &NodeUse::memory_kb, at_most(sizes::kAmount)),
                    field(4, "GPUs", &NodeUse::gpus, entries_at_most(sizes::kNameCount)));

template <>
inline constexpr auto kFields<GpuSummary> =
    fields<GpuSummary>(field(1, "GPUs", &GpuSummary::gpus), field(2, "GPU use", &GpuSummary::use));

template <>
inline constexpr auto kFields<DrainedGpu> = fields<DrainedGpu>(
    field(1, "GPU", &DrainedGpu::gpu, at_most(sizes::kNodeCount)),
    field(2, "reason", &DrainedGpu::reason), field(3, "since", &DrainedGpu::since),
    field(4, "lasting", &DrainedGpu::is_lasting));

}  // namespace sluice
