// agent/gpu_watch.h
//
// The GPUs of this node while slurmd runs: samples them (GpuSampleTime), keeps the samples, tells
// the controller what jobs do with them and which must not be used, and answers sgpu.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/gpu_book.h"
#include "agent/gpu_files.h"
#include "agent/gpu_store.h"
#include "agent/site.h"
#include "agent/slow_work.h"
#include "auth/identity.h"
#include "os/fd.h"

namespace sluice {

class GpuWatch {
public:
    struct Handlers {
        // `reliable`: until the controller has it.
        std::function<void(const GpuReport&, bool reliable)> report;
        // The supervisors of a job that run here.
        std::function<std::vector<pid_t>(const JobKey&)> supervisors;
    };

    GpuWatch(EventLoop& loop, std::shared_ptr<const Site> site, Handlers handlers);

    void open();
    // When the runs that an earlier slurmd had started are known: forgets other jobs.
    void keep_only(const std::set<JobKey>& jobs);
    void replace_site(std::shared_ptr<const Site> site);

    void run_begins(const RunKey& run, std::uint32_t user, const std::vector<std::uint32_t>& gpus);
    void run_ends(const RunKey& run, const Usage& usage);
    // Nothing of the job is left here. Its GPUs are looked at again before `then` is called with
    // what the job has used: the controller must know first whether they can be given to the next
    // job.
    void job_leaves(const JobKey& job, std::function<void(const NodeUse&)> then);

    // sgpu. The connection is answered on a thread.
    void answer(const wire::AskGpus& question, const Identity& asker, Fd connection);

private:
    struct Leaving {
        std::uint64_t number = 0;
        NodeUse use;
        std::set<std::uint32_t> gpus;
        int looks_left = 0;
        std::function<void(const NodeUse&)> then;
    };
    bool samples() const { return !gpus_.empty() && site_->config.gpu_sample_time > Seconds{0}; }
    CleanRules rules() const;
    void find_gpus();
    void open_files();
    void set_timer();
    void take_sample();
    void on_sample(const Sample& sample);
    void keep(const Sample& sample);
    void tell(GpuReport report);
    void let_go(const Sample& sample);
    void give_up_looking(std::uint64_t number);
    void write_book();
    NodeUse numbered(NodeUse use) const;
    std::string book_path() const { return directory_ + "/book"; }

    EventLoop& loop_;
    std::shared_ptr<const Site> site_;
    Handlers handlers_;
    SlowWork threads_;  // of its own: a driver may never answer
    std::shared_ptr<GpuSampler> sampler_ = std::make_shared<GpuSampler>();
    std::string directory_;
    GpuStore store_;
    GpuBook book_;
    GpuFiles files_;
    std::vector<GpuHere> gpus_;
    std::vector<std::uint32_t> controller_numbers_;  // by the number on the node
    std::map<std::string, std::string> instance_names_;
    EventLoop::TimerId timer_ = 0;
    bool is_sampling_ = false;
    bool is_due_ = false;  // again, when the sample that is being taken is there
    std::string last_problem_;
    std::vector<UnfitGpu> told_;  // as unfit, in the last report
    std::vector<Leaving> leaving_;
    std::uint64_t last_leaving_ = 0;
};

}  // namespace sluice
