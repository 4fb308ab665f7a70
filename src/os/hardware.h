// os/hardware.h
//
// What this machine is made of. Reading the topology takes tens of milliseconds: once, at start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

// Where a CPU is: sockets and cores are counted over the whole machine.
struct CpuPlace {
    std::uint32_t socket = 0;
    std::uint32_t core = 0;
    std::uint32_t domain = 0;  // NUMA, by the kernel's number
    bool operator==(const CpuPlace&) const = default;
};

struct Hardware {
    std::uint32_t cpus = 1;
    std::uint32_t boards = 1;
    std::uint32_t sockets = 1;
    std::uint32_t cores_per_socket = 1;
    std::uint32_t threads_per_core = 1;
    std::uint64_t memory_mb = 1;
    std::vector<int> cpu_order;  // the kernel's numbers, core by core: how the n-th CPU is called
    std::vector<CpuPlace> cpu_places;  // of those
};

Result<Hardware> read_hardware();

struct Machine {
    std::string arch;    // "x86_64"
    std::string kernel;  // "Linux 6.1.0-37-amd64 #1 SMP ..."
    std::string boot_id;
    Time boot_time;
};
Machine read_machine();

struct Load {
    double one_minute = 0;
    std::uint64_t free_memory_mb = 0;
};
Load read_load();
// Of the file system that the path is on, or will be on when it is made; 0: it cannot be told.
std::uint64_t disk_size_mb(const std::string& path);
std::uint64_t disk_free_mb(const std::string& path);  // for users

}  // namespace sluice
