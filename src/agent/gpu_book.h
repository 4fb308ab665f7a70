// agent/gpu_book.h
//
// Which job has which GPU of this node, what it has used of it so far, and which GPUs no job must
// get. No I/O: the samples are arguments. It can be written to a file and read again, for a slurmd
// that is started while jobs run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/gpu_sampler.h"
#include "model/gpu_report.h"
#include "model/gpu_use.h"
#include "model/usage.h"

namespace sluice {

struct CleanRules {
    bool checks = true;
    std::uint64_t memory_mb_most = 0;
    std::set<std::uint32_t> fatal_xids;
};

class GpuBook {
public:
    struct JobGpus {
        std::uint32_t user = 0;
        std::set<std::uint32_t> gpus;
        std::map<StepId, std::set<std::uint32_t>> runs;  // that have not ended
        NodeUse use;
    };

    void run_begins(const RunKey& run, std::uint32_t user, const std::set<std::uint32_t>& gpus);
    void run_ends(const RunKey& run, const Usage& usage);
    NodeUse job_leaves(const JobKey& job);
    const std::map<JobKey, JobGpus>& jobs() const { return jobs_; }

    // The steps that have the GPU, one for each job: the last that began.
    std::vector<GpuHolder> holders_of(std::uint32_t gpu) const;
    // Adds the sample to what jobs have used.
    void count(const Sample& sample);
    // What the controller is told of it. A GPU that a job has is only unfit for an error.
    GpuReport report(const Sample& sample, const CleanRules& rules);

    std::string print() const;
    static GpuBook parse(std::string_view text);

private:
    std::map<JobKey, JobGpus> jobs_;
};

// Why the GPU must not be given to a job, as far as processes and memory are concerned; empty: it
// can be.
std::string unclean_words(const GpuSample& sample, const CleanRules& rules);

}  // namespace sluice
