// stepd/sampler.h
//
// What the tasks of a step on this node have used (JobAcctGatherType). A process belongs to the
// task that has started it, also when it has become an orphan since. Processes that have ended are
// counted when they are reaped; between samples nothing else is read.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/usage.h"
#include "order.pb.h"
#include "os/process_usage.h"

namespace sluice {

// The process of a task, or of its epilog.
struct TaskProcess {
    std::uint32_t task = 0;
    pid_t pid = -1;
};

struct SamplingDemand {
    bool enabled = false;             // false: jobacct_gather/none
    std::vector<std::uint32_t> gpus;  // to be sampled, by their number
    bool by_cgroup = false;
    Seconds interval{0};  // 0: only at the end
    MemoryCount memory_count = MemoryCount::Resident;
    std::uint64_t memory_kb_max = 0;  // OverMemoryKill: what the step may use here; 0: no limit
    std::string node;
    std::vector<std::uint32_t> tasks;  // of this node; of a batch script: 0
};
SamplingDemand sampling_of(const wire::StepOrder& order);

// What the step's cgroup has counted.
struct CgroupCount {
    std::uint64_t memory_kb = 0;  // 0: unknown, as the other
    std::uint64_t cpu_ms = 0;
};

// What processes use of all GPUs of the step.
struct GpuShare {
    std::uint64_t memory_kb = 0;
    std::uint32_t percent = 0;  // 200: two GPUs all of the time
};
using GpuShares = std::map<pid_t, GpuShare>;

class Sampler {
public:
    using Read = std::function<std::optional<ProcessUsage>(pid_t)>;

    Sampler(SamplingDemand demand, Read read);

    const SamplingDemand& demand() const { return demand_; }
    // Reads these processes, which are all of the step. Where the step has one task on this node,
    // what its cgroup has counted is that task's.
    void sample(const std::vector<TaskProcess>& tasks, const std::vector<pid_t>& pids,
                const CgroupCount& cgroup);
    // A process was reaped: `usage` is its own and that of the children that it has waited for.
    void on_exit(const std::vector<TaskProcess>& tasks, pid_t pid, const rusage& usage,
                 const ProcessBytes& bytes);
    void note_peak(std::uint64_t memory_kb);  // of the cgroup, at the end
    // What GPUs say after a sample. To be called only where they can be measured.
    void note_gpus(const GpuShares& shares);

    TaskUsage usage() const;
    std::uint64_t memory_kb() const;  // of all tasks at the last sample

private:
    struct Amounts {
        std::uint64_t cpu_ms = 0, pages = 0, read_bytes = 0, written_bytes = 0;
        void add(const Amounts& other);
        void raise_to(const Amounts& other);
    };
    struct Task {
        std::uint32_t id = 0;
        Amounts ended;                   // of processes that were reaped
        std::map<pid_t, Amounts> alive;  // at the last sample
        Amounts most;                    // so far; a sample never lowers it
        std::uint64_t rss_kb = 0, rss_peak_kb = 0, vm_peak_kb = 0;
        std::uint64_t frequency_sum = 0, frequency_count = 0;  // kHz
        std::uint64_t gpu_percent_sum = 0, gpu_percent_most = 0, gpu_memory_peak_kb = 0;
    };
    using Processes = std::map<pid_t, ProcessUsage>;
    std::size_t owner_in_tree(const std::vector<TaskProcess>& tasks, const Processes& found,
                              pid_t pid);
    Task& owner_of(const std::vector<TaskProcess>& tasks, pid_t pid);
    void settle(Task& task);
    bool counts_by_cgroup() const { return demand_.by_cgroup && tasks_.size() == 1; }

    SamplingDemand demand_;
    Read read_;
    std::vector<Task> tasks_;
    std::uint64_t gpu_samples_ = 0;
    std::map<pid_t, std::size_t> owners_;  // of processes that were seen: place in tasks_
};

}  // namespace sluice
