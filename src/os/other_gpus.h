// os/other_gpus.h
//
// GPUs and accelerators of other makers than NVIDIA: AMD's through ROCm SMI (librocm_smi64.so),
// Intel's through Level Zero (libze_loader.so), AWS Neuron devices through sysfs. Libraries are
// loaded at the first use, and their headers are not needed. `sys` is "/sys", or another directory
// in tests.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/nvml.h"

namespace sluice {

// By their number. The error says why there are none.
Result<std::vector<NvmlGpu>> read_amd_gpus(const std::string& sys);
Result<std::vector<NvmlGpu>> read_intel_gpus(const std::string& sys);
Result<std::vector<NvmlGpu>> read_neuron_devices(const std::string& sys);

}  // namespace sluice
