// core/job/gpu_loads.h
//
// What running jobs do with their GPUs, as their nodes report it after each sample. A job is judged
// when all nodes that have GPUs of it have reported. Not stored: a restart begins anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/time.h"
#include "model/gpu_report.h"
#include "model/ids.h"
#include "model/run.h"

namespace sluice {

class GpuLoads {
public:
    // The sum over all nodes, when this report completes it. `nodes`: that have GPUs of the job.
    std::optional<JobGpuLoad> add(NodeIndex node, const JobGpuLoad& load, std::size_t nodes);
    // Since when the job's GPUs have been equally busy while nothing was read or written. Absent:
    // they are not.
    std::optional<Time> still_since(const JobGpuLoad& sum, std::uint32_t idle_percent, Time now);
    void forget(JobId job) { jobs_.erase(job.value); }
    void shift_times(Seconds by);

private:
    struct Loads {
        std::uint32_t restarts = 0;
        std::map<NodeIndex, JobGpuLoad> reported;
        std::optional<Time> still_since;
        std::uint32_t still_percent = 0;
    };
    Loads& loads_of(const JobGpuLoad& load);

    std::map<std::uint32_t, Loads> jobs_;
};

}  // namespace sluice
