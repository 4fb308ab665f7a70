// agent/devices.h
//
// The devices of this node: those that gres.conf names and the GPUs that are found. The number of
// a device is its place among the devices of its name, in the order of gres.conf or NVML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"
#include "os/hardware.h"
#include "os/nvml.h"
#include "wire.pb.h"

namespace sluice {

struct NodeDevices {
    std::vector<GresDevices> gres;
    std::vector<std::string> notes;  // for the log: what was found, and what became of it
    std::string problem;             // gres.conf contradicts what was found; empty: none
};

// What AutoDetect has found.
struct Detected {
    std::string way = "nvml";
    std::vector<NvmlGpu> gpus;
    std::string mig_minors = {};  // the driver's list (os/nvidia_proc.h)
};

// The devices of gres.conf, completed by what was found, and those found GPUs that slurm.conf
// promises and gres.conf does not name. A found GPU has the type of slurm.conf that is part of its
// name.
NodeDevices merge_devices(const NodeConfig& node, const std::vector<GresDevices>& written,
                          const Detected& detected, const Hardware& hardware);

// Compat: "nvidia_a40" for "NVIDIA A40".
std::string gpu_type(std::string_view product_name);

// "0-3,8".
std::string print_ranges(std::vector<int> numbers);

// What is wrong with the device files; empty if all are there.
std::string missing_file(const std::vector<GresDevices>& gres);

// The controller counts devices type by type, in the order of slurm.conf. Gives those of the share
// the numbers that they have here.
void renumber(const NodeConfig& node, const std::vector<GresDevices>& gres, wire::NodeShare& share);

}  // namespace sluice
