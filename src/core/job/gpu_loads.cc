#include "core/job/gpu_loads.h"

#include <cstdlib>

namespace sluice {

namespace {

// Between two reports; threads that wait for something wake up now and then.
constexpr std::uint64_t kQuietBytes = 4096;
constexpr std::uint32_t kSamePercent = 5;

std::uint32_t difference(std::uint32_t a, std::uint32_t b) {
    return a > b ? a - b : b - a;
}

}  // namespace

GpuLoads::Loads& GpuLoads::loads_of(const JobGpuLoad& load) {
    Loads& loads = jobs_[load.job.value];
    if (loads.restarts != load.restarts) loads = Loads{.restarts = load.restarts};
    return loads;
}

std::optional<JobGpuLoad> GpuLoads::add(NodeIndex node, const JobGpuLoad& load, std::size_t nodes) {
    Loads& loads = loads_of(load);
    JobGpuLoad& known = loads.reported[node];
    const std::uint64_t io_bytes = known.io_bytes + load.io_bytes;
    known = load;
    known.io_bytes = io_bytes;
    if (loads.reported.size() < nodes) return {};
    JobGpuLoad sum{.job = load.job, .restarts = load.restarts};
    for (const auto& [_, each] : loads.reported) {
        sum.gpus += each.gpus;
        sum.percent_sum += each.percent_sum;
        sum.io_bytes += each.io_bytes;
    }
    loads.reported.clear();
    return sum;
}

std::optional<Time> GpuLoads::still_since(const JobGpuLoad& sum, std::uint32_t idle_percent,
                                          Time now) {
    Loads& loads = loads_of(sum);
    const std::uint32_t percent = sum.percent_sum / sum.gpus;
    const bool is_still = percent >= idle_percent && sum.io_bytes <= kQuietBytes;
    const bool is_same =
        loads.still_since && difference(percent, loads.still_percent) <= kSamePercent;
    if (!is_still) {
        loads.still_since.reset();
    } else if (!is_same) {
        loads.still_since = now;
        loads.still_percent = percent;
    }
    return loads.still_since;
}

void GpuLoads::shift_times(Seconds by) {
    for (auto& [_, loads] : jobs_) {
        if (loads.still_since) *loads.still_since += by;
    }
}

}  // namespace sluice
