// stepd/gpu_usage.h
//
// What processes use of GPUs, through NVML. It is loaded at the first sample; where that fails,
// GPUs are not measured.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "os/nvml.h"
#include "stepd/sampler.h"

namespace sluice {

class GpuUsage {
public:
    // Nothing: there are no GPUs, or they cannot be measured.
    std::optional<GpuShares> read(const std::vector<std::uint32_t>& gpus);

private:
    std::unique_ptr<Nvml> nvml_;
    bool failed_ = false;
};

}  // namespace sluice
