// model/run.h
//
// One run of a job, from its start to its end: where it runs (Allocation), its steps, how it ended.
// A requeued job begins a new run under the same id.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/gpu_use.h"
#include "model/ids.h"
#include "model/job_id.h"
#include "model/quantity.h"
#include "model/usage.h"

namespace sluice {

// One run of a job (or of one of its steps): a requeued job runs again under the same id.
struct RunId {
    JobId job;
    std::uint32_t restarts = 0;
    StepId step = kBatchStep;
    bool operator==(const RunId&) const = default;
};

// What a job holds on one node. cores are the node's core (or CPU) numbers.
struct NodeShare {
    NodeIndex node;
    std::uint32_t tasks = 0;
    std::vector<std::uint32_t> cpus;  // abstract CPU ids on that node
    Megabytes memory = 0;
    struct Devices {
        std::string name;                    // "gpu"
        std::string type;                    // "a40"
        std::vector<std::uint32_t> indexes;  // empty for countable ones without devices
        std::uint64_t count = 0;
        std::vector<std::uint32_t> parts;  // shard, mps: of each of the GPUs; else empty
        bool operator==(const Devices&) const = default;
    };
    std::vector<Devices> gres;

    bool operator==(const NodeShare&) const = default;
};

struct Allocation {
    std::vector<NodeShare> nodes;  // in the order of the node table; the node of a batch script
                                   // stays first even if nodes were added
    std::string node_names;        // compact list, made once
    std::uint8_t sharers = 1;  // jobs that may hold its CPUs at once (OverSubscribe); 1: this one
    std::uint32_t cpus() const;
    const NodeShare* find(NodeIndex node) const;  // nullptr: the node is not part of it
    bool operator==(const Allocation&) const = default;
};

struct ExitStatus {
    std::uint8_t code = 0;
    std::uint8_t signal = 0;
    bool oom_killed = false;

    bool failed() const { return code != 0 || signal != 0 || oom_killed; }
    bool operator==(const ExitStatus&) const = default;
};

enum class StepState : std::uint8_t {
    Running,
    Completed,
    Failed,
    Cancelled,
    Timeout,
    NodeFail,
    OutOfMemory
};

// One srun inside a job. The batch script has no such record.
struct Step {
    StepId id;
    std::string name;
    UserId user;
    std::vector<NodeShare> nodes;
    std::string node_names;
    std::uint32_t tasks = 0;
    std::uint32_t cpus_per_task = 1;
    std::string distribution;   // "block:cyclic", "plane=4": model/distribution.h
    std::string tres_bind;      // "gres/gpu:per_task:1"
    std::string tres_per_node;  // "gres/gpu:a40:2": what it asked for
    std::string resv_ports;     // "12000-12003": kept for it on its nodes
    std::string container;      // --container or --container-image, as JobDetails has it
    bool overlap = false;       // does not hold the resources it uses
    bool holds_memory = false;  // asked for an amount, which other steps cannot use meanwhile
    StepState state = StepState::Running;
    Time start_time;
    std::optional<Time> end_time;
    TimeLimit time_limit;
    Seconds suspended_before{0};  // of its job, when the step started
    bool timed_out = false;       // told to end by its time limit
    ExitStatus exit;
    Usage usage;                        // of the nodes that have reported their end
    std::vector<NodeIndex> nodes_left;  // have not reported their end
    std::string key;                    // from its srun: a repeated request gets the same step
    bool cancelled = false;             // told to end; a node that missed it is told again

    bool operator==(const Step&) const = default;
};

// Why the controller ends a job that is still running.
enum class KillReason : std::uint8_t {
    Cancelled,
    TimeLimit,
    Requeue,
    RequeueHold,
    NodeFail,
    Preempted,
    PreemptedRequeue,
    NodeFailRequeue,  // its node was lost, and it may run again
};

// How far a node is with the data that the job needs before it starts.
struct DataProgress {
    NodeIndex node;
    std::string phase;              // "STAGING", "READY"; model/stage_in.h
    std::uint64_t bytes_done = 0;   // that are on the node
    std::uint64_t bytes_total = 0;  // 0: not known yet
    std::uint64_t bytes_read = 0;   // from the source, by this node
    bool operator==(const DataProgress&) const = default;
};

// All that starts again with a requeue. A job that waits for its first start has an empty run; one
// that is cancelled before it starts ends that run without an allocation.
struct Run {
    std::uint32_t restarts = 0;  // the number of the run: 0 is the first
    std::uint64_t sluid = 0;     // printed in base 32: unique per run

    std::optional<Time> start_time;
    std::optional<Time> end_time;      // when it ended; while running: see Job::time_limit
    Seconds suspended{0};              // in total, without the current suspension
    std::optional<Time> suspend_time;  // when it was last suspended or resumed
    bool cpus_lent = false;            // suspended: other jobs may use its CPUs
    bool awaits_cpus = false;          // suspended for another job: resumes when they are free

    std::shared_ptr<const Allocation> allocation;  // kept after the end
    std::vector<NodeIndex> completing_nodes;       // still to be cleaned: the job shows as CG
    std::string reservation;                       // the one it runs or ran in
    std::string licenses_held;  // "matlab:2": taken at the start, kept after the end
    bool configuring =
        false;  // PrologSlurmctld or the Prolog has not ended: nothing of it runs yet
    std::vector<NodeIndex> preparing_nodes;  // PrologFlags=Alloc: have not confirmed the Prolog
    // As nodes have reported it; not stored.
    std::shared_ptr<const std::vector<DataProgress>> data_progress;
    bool launched = false;  // the head node has confirmed the batch script's start
    bool overtook = false;  // it started ahead of a job with a higher priority

    std::optional<KillReason> kill_reason;
    std::optional<UserId> killed_by;
    bool warned = false;                  // --signal was sent
    std::optional<Time> preempt_time;     // when it was told that it is preempted
    std::optional<JobId> preemptor;       // by this job; for the log only, not stored
    std::optional<Time> last_checkpoint;  // its work until then is saved, as it reported
    std::string data_problem;  // what last went wrong with its files on a node; empty: nothing
    std::optional<Time> gpus_idle_since;  // they are used less than GpuIdlePercent
    std::optional<Time> gpu_idle_warned;  // for that
    std::optional<Time> gpu_hung_warned;  // GPUs are busy, and nothing else happens
    std::vector<NodeUse> node_use;        // of the nodes that it has left
    ExitStatus exit;
    ExitStatus derived_exit;  // the worst of its steps
    Usage usage;              // of the batch script; each step has its own
    Seconds accounted{0};     // of its run time: in the usage of its association (UsageBook)

    std::vector<std::shared_ptr<const Step>> steps;  // the live ones and some that have ended
    std::uint32_t next_step = 0;

    bool operator==(const Run&) const = default;
};

}  // namespace sluice
