// os/process_usage.h
//
// What a process uses and has used, as /proc tells.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

struct ProcessUsage {
    pid_t parent = 0;
    // Of the process and those of its children that it has waited for.
    std::uint64_t cpu_ms = 0;
    std::uint64_t pages = 0;  // major faults
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    // Of the process, now.
    std::uint64_t rss_kb = 0;
    std::uint64_t vm_kb = 0;
    int cpu = 0;  // on which it ran last
    bool operator==(const ProcessUsage&) const = default;
};

// What counts as the memory of one process, of pages that several processes share.
enum class MemoryCount : std::uint8_t {
    Resident,      // all of them
    Proportional,  // its part (UsePss)
    Unshared,      // none (NoShared)
};

// Nothing if there is no such process. A zombie still has its CPU time, faults and bytes.
std::optional<ProcessUsage> read_process_usage(pid_t pid, MemoryCount count,
                                               const std::string& proc = "/proc");

// Bytes that the process has read and written, also from and to the page cache.
struct ProcessBytes {
    std::uint64_t read = 0, written = 0;
};
ProcessBytes read_process_bytes(pid_t pid, const std::string& proc = "/proc");

// The current frequency of a CPU in kHz; 0: unknown.
std::uint32_t cpu_frequency(int cpu, const std::string& sys = "/sys");

}  // namespace sluice
