// agent/gpu_sampler.h
//
// One sample of all GPUs of the node, and of what the jobs that have them read and write. It is
// taken on a thread: a driver that does not answer must not block slurmd.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/gpu_history.h"
#include "agent/run_key.h"
#include "os/nvml.h"

namespace sluice {

struct SampleDemand {
    std::vector<GpuHere> gpus;
    std::map<JobKey, std::vector<pid_t>> supervisors;  // of jobs with GPUs
};

struct GpuSample {
    std::uint32_t gpu = 0;
    GpuReading reading;  // its processes are alive
    std::vector<std::uint32_t> xids;
    std::string failure = {};  // it could be read before, and now it cannot; then nothing else
};

struct Sample {
    std::string problem;  // why there is none
    std::vector<GpuSample> gpus;
    std::map<JobKey, std::uint64_t> io_bytes;           // since the last sample
    std::map<std::string, std::string> instance_names;  // by UUID, of parts of GPUs: "0.3"
};

// Used by one thread at a time.
class GpuSampler {
public:
    Sample take(const SampleDemand& demand);

private:
    using ProcessTotals = std::map<pid_t, std::uint64_t>;
    std::uint64_t io_since(const JobKey& job, const std::vector<pid_t>& supervisors);
    void learn_gpus();
    std::uint32_t number_of(const GpuHere& gpu) const;

    std::unique_ptr<Nvml> nvml_;
    std::map<std::string, std::string> instance_names_;
    std::map<std::uint32_t, std::uint32_t> numbers_;  // of the driver, by the minor number
    std::map<JobKey, ProcessTotals> totals_;
    std::map<std::uint32_t, std::string> uuids_;  // of GPUs that could be read
};

}  // namespace sluice
