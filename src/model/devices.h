// model/devices.h
//
// Facts about generic resources that several rooms need: how devices are numbered, which of them
// are parts of others, and what the words of Flags= in gres.conf mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"

namespace sluice {

// shard and mps: parts of GPUs, which several jobs hold at the same time.
bool is_part_of_gpu(std::string_view name);

// Flags= of gres.conf: a comma list of lower case words.
bool has_gres_flag(const GresDevices& devices, std::string_view word);

// The files of one device: MultipleFiles= names several.
std::vector<std::string> split_files(std::string_view files);

// The controller counts the devices of a name type by type, in the order of slurm.conf; a node
// counts them in the order of gres.conf. For each number of the controller: the number on the node.
std::vector<std::uint32_t> device_numbers(const std::vector<GresCount>& configured,
                                          const std::vector<GresDevices>& described,
                                          std::string_view name);

// One device of a node, as gres.conf describes it. A device without files is only counted.
struct Device {
    const GresDevices* line = nullptr;
    std::vector<std::string> files;
    std::string uuid;
};
constexpr std::uint64_t kDevicesMost = 1024;  // of one line, as in Slurm
std::vector<Device> devices_of(const std::vector<GresDevices>& described, std::string_view name);

// The parts of each of these GPUs, of which the node has `total`. A line of gres.conf with files is
// about these GPUs only; otherwise all GPUs have as many, as far as that is possible.
std::vector<std::uint64_t> parts_of_gpus(std::string_view name, std::uint64_t total,
                                         std::size_t gpus,
                                         const std::vector<GresDevices>& described);

}  // namespace sluice
