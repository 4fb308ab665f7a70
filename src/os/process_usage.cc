// os/process_usage.cc
#include "os/process_usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/files.h"

namespace sluice {

namespace {

// Fields of /proc/PID/stat, counted from the one after the program's name.
enum StatField : std::size_t {
    kParent = 1,
    kMajorFaults = 9,
    kMajorFaultsOfChildren = 10,
    kUserTime = 11,
    kSystemTimeOfChildren = 14,
    kVirtualSize = 20,
    kResidentPages = 21,
    kLastCpu = 36,
    kFieldCount
};

// The number after a name in a file of lines such as "Pss:   12 kB" and "rchar: 34".
std::uint64_t named_number(std::string_view text, std::string_view name) {
    for (std::string_view line : split(text, '\n')) {
        const std::vector<std::string_view> parts = words(line);
        if (parts.size() >= 2 && parts[0] == name) return to_number(parts[1]).value_or(0);
    }
    return 0;
}

std::uint64_t page_kb() {
    static const auto size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return size / 1024;
}

// /proc/PID/statm: the third number is the pages that are shared.
std::uint64_t shared_kb(const std::string& directory) {
    const Result<std::string> text = read_file(directory + "/statm");
    if (!text) return 0;
    const std::vector<std::string_view> fields = words(*text);
    return fields.size() < 3 ? 0 : to_number(fields[2]).value_or(0) * page_kb();
}

std::uint64_t memory_kb(const std::string& directory, std::uint64_t resident_kb,
                        MemoryCount count) {
    if (count == MemoryCount::Unshared) {
        return resident_kb - std::min(resident_kb, shared_kb(directory));
    }
    if (count == MemoryCount::Proportional) {
        const Result<std::string> rollup = read_file(directory + "/smaps_rollup");
        return rollup ? named_number(*rollup, "Pss:") : resident_kb;
    }
    return resident_kb;
}

}  // namespace

ProcessBytes read_process_bytes(pid_t pid, const std::string& proc) {
    const Result<std::string> io = read_file(fmt::format("{}/{}/io", proc, pid));
    if (!io) return {};
    return {named_number(*io, "rchar:"), named_number(*io, "wchar:")};
}

std::optional<ProcessUsage> read_process_usage(pid_t pid, MemoryCount count,
                                               const std::string& proc) {
    const std::string directory = fmt::format("{}/{}", proc, pid);
    const Result<std::string> stat = read_file(directory + "/stat");
    const std::size_t after = stat ? stat->rfind(')') : std::string::npos;
    if (after == std::string::npos) return {};
    const std::vector<std::string_view> fields = words(std::string_view(*stat).substr(after + 1));
    if (fields.size() < kFieldCount) return {};
    const auto number = [&](std::size_t field) { return to_number(fields[field]).value_or(0); };
    static const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));

    ProcessUsage usage;
    usage.parent = static_cast<pid_t>(number(kParent));
    std::uint64_t time = 0;
    for (std::size_t field = kUserTime; field <= kSystemTimeOfChildren; ++field) {
        time += number(field);
    }
    usage.cpu_ms = time * 1000 / ticks;
    usage.pages = number(kMajorFaults) + number(kMajorFaultsOfChildren);
    usage.vm_kb = number(kVirtualSize) / 1024;
    usage.rss_kb = memory_kb(directory, number(kResidentPages) * page_kb(), count);
    usage.cpu = static_cast<int>(number(kLastCpu));
    const ProcessBytes bytes = read_process_bytes(pid, proc);
    usage.read_bytes = bytes.read;
    usage.written_bytes = bytes.written;
    return usage;
}

std::uint32_t cpu_frequency(int cpu, const std::string& sys) {
    const Result<std::string> text =
        read_file(fmt::format("{}/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", sys, cpu));
    if (!text) return 0;
    return static_cast<std::uint32_t>(to_number(trim(*text)).value_or(0));
}

}  // namespace sluice
