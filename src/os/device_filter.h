// os/device_filter.h
//
// Keeps the processes of a cgroup from device files. Cgroup v2 has no devices controller: a small
// eBPF program, attached to the cgroup, is asked at every open() and mknod() of a device.
#pragma once

#include <linux/bpf.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

struct DeviceNumber {
    bool block = false;  // otherwise a character device
    unsigned major = 0;
    unsigned minor = 0;
    bool operator==(const DeviceNumber&) const = default;
};

// The error names a file that is missing or no device.
Result<std::vector<DeviceNumber>> device_numbers(const std::vector<std::string>& files);

// Returns 0 (refused) for the devices named and 1 for all others.
std::vector<bpf_insn> device_program(const std::vector<DeviceNumber>& denied);

// Loads the program and attaches it to the cgroup v2 directory, beside programs that others have
// attached. It stays until the directory is removed.
Result<void> attach_device_filter(const std::string& directory,
                                  const std::vector<DeviceNumber>& denied);

}  // namespace sluice
