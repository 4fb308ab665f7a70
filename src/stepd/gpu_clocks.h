// stepd/gpu_clocks.h
//
// --gpu-freq: sets the frequencies of a step's GPUs for as long as the step lasts. That they cannot
// be set is told in the step's output; it is no reason not to run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/gpu_freq.h"
#include "order.pb.h"
#include "os/nvml.h"

namespace sluice {

class GpuFrequencies {
public:
    // As the order says; nothing where it says nothing. What there is to say about it, in lines, is
    // for the stderr of the first task.
    Result<std::string> set(const wire::StepOrder& order);
    // Once nothing of the step runs any more: back to where they were, or to what the job has asked
    // for.
    void reset();

private:
    Result<void> set_one(std::uint32_t gpu, const GpuFreq& demand) const;

    std::unique_ptr<Nvml> nvml_;  // while there is something to reset
    std::vector<std::uint32_t> gpus_;
    std::optional<GpuFreq> afterwards_;  // the clocks of the batch script, to be set again
};

}  // namespace sluice
