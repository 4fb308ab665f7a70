// model/job.h
//
// A job as plain values: the request (JobRequest, kept as two immutable and shared parts), its
// state in the queue (Job) and its current run (model/run.h). Optional members may be absent; there
// are no operations on them here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/dependency.h"
#include "model/ids.h"
#include "model/job_details.h"
#include "model/job_id.h"
#include "model/quantity.h"
#include "model/run.h"
#include "model/signals.h"
#include "model/states.h"

namespace sluice {

enum class JobKind : std::uint8_t {
    Batch,        // sbatch
    Interactive,  // salloc --no-shell: continues without it
    Srun,         // for its one step
    Salloc,       // ends with its salloc
};
enum class OpenMode : std::uint8_t { Default, Append, Truncate };
enum class Exclusive : std::uint8_t { No, Node, User };

// All that placement depends on. Jobs whose Shape (and partition, limits, ...) are equal form a
// class.
struct Shape {
    std::uint32_t nodes_min = 1;
    std::optional<std::uint32_t> nodes_max;  // from -N; absent: as many as needed
    std::string node_sizes;  // -N 1,5,9 or 2-16:2: the allowed counts between; empty: all
    std::optional<std::uint32_t> ntasks;  // -n
    std::optional<std::uint32_t> ntasks_per_node;
    std::optional<std::uint32_t> ntasks_per_socket, ntasks_per_core, ntasks_per_gpu;
    std::uint32_t cpus_per_task = 1;
    bool cpus_per_task_set = false;         // -c was given (SLURM_CPUS_PER_TASK, CPUs/Task)
    std::optional<Megabytes> mem_per_node;  // --mem; 0 means all of the node's memory
    std::optional<Megabytes> mem_per_cpu;
    std::optional<Megabytes> mem_per_gpu;
    std::optional<std::uint32_t> cpus_per_gpu;
    std::vector<GresCount> gres_per_node;  // --gres, --gpus-per-node
    std::vector<GresCount> gpus;           // --gpus (whole job)
    std::vector<GresCount> gpus_per_task;
    std::vector<GresCount> gpus_per_socket;
    std::optional<std::uint32_t> sockets_per_node, cores_per_socket,
        threads_per_core;              // -B, at least
    bool one_thread_per_core = false;  // --hint=nomultithread: the others stay idle
    std::string constraint;            // -C, as written
    std::string prefer;                // --prefer, as written
    std::string nodelist;              // -w, compact
    std::string exclude;               // -x, compact
    Exclusive exclusive = Exclusive::No;
    bool oversubscribe = false;
    bool overcommit = false;  // --overcommit: the tasks on a node share the CPUs of one
    bool arbitrary = false;   // -m arbitrary: a task for each name in nodelist, also a repeated one
    std::optional<std::uint32_t> cpus_min;           // scontrol update NumCPUs=, of the whole job
    std::optional<std::uint32_t> cpus_min_per_node;  // --mincpus
    std::optional<Megabytes> tmp_min;                // --tmp
    std::optional<std::uint32_t> core_spec;          // --core-spec: cores left to the system
    std::optional<std::uint32_t> thread_spec;        // --thread-spec: threads left to it
    bool spread = false;                             // --spread-job: as many nodes as possible
    bool use_min_nodes = false;                      // --use-min-nodes
    bool contiguous = false;                         // neighbours in the node table
    bool bind_gpus_to_cores = false;                 // --gres-flags=enforce-binding
    bool unbind_gpus = false;                        // --gres-flags=disable-binding
    std::optional<bool> one_task_per_gpu;       // --gres-flags: one-, multiple-tasks-per-sharing
    std::optional<std::uint32_t> switches_max;  // --switches
    Seconds switches_wait{0};                   // how long to insist on it; 0: always

    bool operator==(const Shape&) const = default;
};

// The request of a job without its texts: where, for how long, under which rules. Often shared by
// many jobs.
struct JobTerms {
    JobKind kind = JobKind::Batch;
    std::string partition;  // as requested; empty: the default one. A comma list is kept
    std::string account;
    std::string qos;
    std::string wckey;
    std::string reservation;
    std::string licenses;
    OpenMode open_mode = OpenMode::Default;
    std::string mail_user;
    std::string mail_types;  // "END,FAIL"
    std::string submit_host;
    std::optional<TimeLimit> time_limit;  // absent: the partition's default
    std::optional<TimeLimit> time_min;
    std::optional<Time> begin;
    std::optional<Time> deadline;
    std::optional<std::uint32_t> priority;  // --priority
    std::int32_t nice = 0;
    bool hold = false;
    bool requeue = true;  // may it be requeued? (--requeue, --no-requeue, JobRequeue)
    bool requeue_set = false;
    bool immediate = false;                   // --immediate: refused if it cannot start now
    bool kill_on_node_fail = true;            // --no-kill
    std::optional<bool> kill_on_invalid_dep;  // absent: kill_invalid_depend of slurm.conf
    bool get_user_env = false;  // start from a login environment (--get-user-env, --export=NONE)
    std::optional<WarnSignal> warn_signal;
    std::optional<ArraySpec> array;
    std::uint32_t umask = 022;
    std::vector<std::pair<std::string, std::uint64_t>> rlimits;  // {"NOFILE", soft}: propagated
    std::string tres_bind;       // --gpu-bind, --tres-bind: "gres/gpu:single:1", for its steps
    std::string tres_freq;       // --gpu-freq: "gpu:medium,memory=high", for its steps
    std::string acctg_freq;      // --acctg-freq: model/sampling.h
    bool oom_kill_step = false;  // --oom-kill-step, for its steps
    Shape shape;

    bool operator==(const JobTerms&) const = default;
};

// The user's request, with the defaults that the client filled in. Scripts and environments are
// kept in the store, by their hash.
struct JobRequest : JobTerms, JobDetails {
    bool operator==(const JobRequest&) const = default;
};

// One job, or one array while its tasks have not started. Facts are stored, flags derived. Members
// here survive a requeue; those of the run start again.
struct Job {
    JobId id;
    std::shared_ptr<const JobTerms> request;  // immutable once accepted: an update makes a new one
    std::shared_ptr<const PackedDetails> details;
    UserId user;
    GroupId group;

    JobState state = JobState::Pending;
    Reason reason = Reason::None;
    std::string reason_detail;      // e.g. "UnavailableNodes:n1"; shown after the word
    std::string partition;          // the one in use, or the list while pending
    TimeLimit time_limit;           // in force
    std::uint32_t priority = 0;     // 0: held
    bool admin_hold = false;        // held by another than its owner: not released by the owner
    bool special_exit = false;      // held after an exit code of RequeueExitHold
    bool priority_by_hand = false;  // set with --priority or scontrol: not calculated any more
    std::int32_t site_factor = 0;   // scontrol update SiteFactor=
    double priority_base = 0;       // derived, not stored: the part that follows from the request
    std::uint32_t wait_class =
        0;  // derived, not stored: its class in the queue (core/schedule/queue.h)

    std::optional<JobId> array_job;           // set for arrays and their tasks
    std::optional<std::uint32_t> array_task;  // set once the task is a job of its own
    TaskSet array_tasks;                      // not yet started (the array's own record)
    std::uint32_t array_limit = 0;

    Dependency dependency;  // unfulfilled conditions; the request has all of them
    Time submit_time;
    Time eligible_time;
    std::optional<Time> last_sched_eval;
    std::vector<NodeIndex> refused_by = {};  // nodes that could not launch it; not stored
    std::string idempotency_key;  // 15 bytes from the client: equal for a repeated submission
    std::string admin_comment;

    Run run;  // the current one; the last one of a job that has ended

    bool operator==(const Job&) const = default;
};

// Of so many tasks on a node, those that get CPUs of their own.
inline std::uint64_t tasks_with_cpus(const Shape& shape, std::uint64_t tasks) {
    return shape.overcommit ? std::min<std::uint64_t>(tasks, 1) : tasks;
}
inline bool is_completing(const Job& job) {
    return !job.run.completing_nodes.empty();
}
inline bool is_over(const Job& job) {
    return is_finished(job.state) && !is_completing(job);
}
// Whether it has its nodes and keeps them: running or suspended.
inline bool is_live(const Job& job) {
    return (job.state == JobState::Running || job.state == JobState::Suspended) &&
           !is_completing(job);
}
// Whether it has its nodes and waits for PrologSlurmctld before it uses them.
inline bool is_configuring(const Job& job) {
    return is_live(job) && job.run.configuring;
}
// When its time limit ends, as far as is known; it has started and has a limit.
inline Time limit_end(const Job& job) {
    return *job.run.start_time + job.run.suspended + job.time_limit.length();
}
inline bool is_array_record(const Job& job) {
    return job.array_job && !job.array_task;
}
// Whether it is one of these tasks, or an array record with one of them.
bool has_any_task(const Job& job, const TaskSet& tasks);
// The reservation it runs in, or those it asks for while it waits.
inline const std::string& reservation_of(const Job& job) {
    return job.run.reservation.empty() ? job.request->reservation : job.run.reservation;
}
JobRequest request_of(const Job& job);  // both parts together
void set_request(Job& job, const JobRequest& request);
ShownState shown_state(const Job& job);
// "12", "12_3", "12_[1-5%2]".
std::string print_job_id(const Job& job);
std::string print_sluid(std::uint64_t sluid);  // "s54XM7GCBJVF00"

}  // namespace sluice
