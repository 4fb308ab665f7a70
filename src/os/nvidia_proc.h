// os/nvidia_proc.h
//
// NVIDIA's GPUs as the driver lists them in /proc, without a library. MIG devices and NVLinks are
// not listed there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/nvml.h"

namespace sluice {

// `proc` and `sys` are "/proc" and "/sys", or other directories in tests.
// The kernel's numbers of the CPUs close to a PCI device, as /sys has them; empty: unknown.
std::vector<int> cpus_close_to(const std::string& sys, const std::string& bus_id);
std::vector<int> parse_cpu_list(std::string_view text);  // "0-3,8"

Result<std::vector<NvmlGpu>> read_nvidia_gpus(const std::string& proc, const std::string& sys);

// The device files of an instance of a MIG GPU: the driver's numbers of them are in
// /proc/driver/nvidia-caps/mig-minors, as "gpu0/gi1/access 12" and "gpu0/gi1/ci0/access 13".
std::vector<std::string> mig_files(std::string_view minors, std::uint32_t gpu,
                                   const MigDevice& mig);

}  // namespace sluice
