// stepd/cpu_clocks.h
//
// --cpu-freq: sets the frequency or the governor of a step's CPUs for as long as the step lasts.
// That they cannot be set is told in the step's output; it is no reason not to run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/cpu_freq.h"
#include "order.pb.h"

namespace sluice {

class CpuFrequencies {
public:
    // `root` has cpu0/cpufreq and the others.
    explicit CpuFrequencies(std::string root = "/sys/devices/system/cpu")
        : root_(std::move(root)) {}

    // As the order says; nothing where it says nothing. What there is to say about it, in lines, is
    // for the stderr of the first task.
    std::string set(const wire::StepOrder& order);
    // Once nothing of the step runs any more: back to where they were.
    void reset();

private:
    Result<void> set_cpu(std::uint32_t cpu, const CpuFreq& demand);
    Result<void> write(const std::string& path, const std::string& value);
    Result<std::vector<std::uint32_t>> frequencies_of(const std::string& directory) const;

    std::string root_;
    std::vector<std::pair<std::string, std::string>> before_;  // file, content: in this order
};

}  // namespace sluice
