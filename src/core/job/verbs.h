// core/job/verbs.h
//
// Operations on jobs: on_* handle events, the others are shared by several of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// submit.cc
void on_submit(Cluster& cluster, Time now, const SubmitJob& event, Effects& effects);
// sbatch --test-only: when and where it would start, or why it would be refused.
Answer test_submission(const Cluster& cluster, Time now, const SubmitJob& question);

struct StartTerms {
    Allocation allocation;
    std::string partition, reservation;
    std::optional<TimeLimit> shortened = {};  // its time limit from now on (--time-min)
    bool overtakes = false;                   // a job with a higher priority
};
// start.cc: takes the allocation, sets the timers and launches the job. For an array record a task
// is split off first.
void start_job(Cluster& cluster, Time now, JobId id, StartTerms terms, Effects& effects);

// configure.cc: PrologSlurmctld runs first, if there is one. Then the nodes are prepared
// (PrologFlags=Alloc), and the job is launched.
bool waits_before_launch(const Settings& settings, const Job& job);
void prepare_job(Cluster& cluster, Time now, JobId id, Effects& effects);
void node_is_prepared(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects);
void on_job_program_ended(Cluster& cluster, Time now, const JobProgramEnded& event,
                          Effects& effects);

// extern.cc
void add_extern_step(Cluster& cluster, Time now, JobId id);
// A node of a live job has registered: it may not have got the order to prepare the job.
void prepare_again(const Cluster& cluster, const Job& job, const NodeRegistered& event,
                   Effects& effects);
// A node of a live job has prepared it, or could not.
void on_preparation_reported(Cluster& cluster, Time now, JobId id, const LaunchReported& event,
                             Effects& effects);
bool runs_step_of_srun(const Job& job);  // not counting the step "extern"

// Timers for the time limit of a running job and the warning before it.
void set_clocks(Cluster& cluster, const Job& job);
// When its time limit plus OverTimeLimit of its partition or the cluster is over; it has started.
Time end_by_limit(const Cluster& cluster, const Job& job);
// core/node/power.cc: how much longer it may last because its nodes boot.
Seconds boot_time_left(const Cluster& cluster, const Job& job);

// used_minutes.cc
void watch_used_minutes(Cluster& cluster, Time now);  // looks at jobs every minute, if necessary
void on_used_minutes_timer(Cluster& cluster, Time now, Effects& effects);

// finish.cc
void on_data_reported(Cluster& cluster, Time now, const DataReported& event);
void on_job_ended(Cluster& cluster, Time now, const JobEnded& event, Effects& effects);
void on_node_cleaned(Cluster& cluster, Time now, const NodeCleaned& event, Effects& effects);
void on_launch_reported(Cluster& cluster, Time now, const LaunchReported& event, Effects& effects);
void on_complete_job(Cluster& cluster, Time now, const CompleteJob& event, Effects& effects);
// Ends a running job: its nodes are told to, and it shows as completing until they are clean.
void end_running(Cluster& cluster, Time now, JobId id, KillReason reason, Effects& effects);
// Sends the signal of the job's --signal option, which it must have.
void send_warning(Cluster& cluster, const Job& job, Effects& effects);
// A step ran out of memory: the job ends as OutOfMemory, also if the step's end is reported last.
void on_step_out_of_memory(Cluster& cluster, Job& job);
void complete_running(Cluster& cluster, Time now, JobId id, const ExitStatus& exit,
                      Effects& effects);
// Nothing of the job is left on this node (or the node itself is gone).
void node_is_clean(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects);

// Ends a live job whose nodes now belong to another job: there is nothing to wait for.
void complete_without_nodes(Cluster& cluster, Time now, JobId id, Effects& effects);

// Its nodes are no longer in slurm.conf: it ends or is requeued. For a restart, when no resources
// are held yet.
void give_up_unplaced(Cluster& cluster, Time now, JobId id, Effects& effects);

// requeue.cc
void requeue_now(Cluster& cluster, Time now, JobId id, bool hold, Effects& effects);

// cancel.cc
void on_cancel(Cluster& cluster, Time now, const CancelJobs& event, Effects& effects);
// Ends a job that never started; jobs that depend on it are not told: see tell_of_end().
void end_pending(Cluster& cluster, Time now, JobId id, JobState state, std::optional<UserId> by,
                 Effects& effects);
void cancel_pending(Cluster& cluster, Time now, JobId id, UserId by, Effects& effects);

// control.cc
Reason reason_of_hold(const Job& job);  // of a job whose priority is 0
void on_control(Cluster& cluster, Time now, const ControlJobs& event, Effects& effects);

// top.cc
void on_top(Cluster& cluster, const ControlJobs& event, Effects& effects);

// update.cc
void on_update_job(Cluster& cluster, Time now, const UpdateJob& event, Effects& effects);

// wait.cc
void on_wait(Cluster& cluster, Time now, const WaitJob& event, Effects& effects);
void on_show_allocation(Cluster& cluster, Time now, const ShowAllocation& event, Effects& effects);
void on_request_dropped(Cluster& cluster, Time now, const RequestDropped& event, Effects& effects);
void answer_waiters(Cluster& cluster, JobId id, WaitFor what, Effects& effects);
// A job of salloc ends if its salloc is gone.
void await_salloc(Cluster& cluster, Time now, const Job& job);
void end_if_client_is_gone(Cluster& cluster, Time now, const Job& job, Effects& effects);

// step.cc
constexpr Seconds kNumberKept{60};  // a number that srun --async has told, for its next request
void on_create_step(Cluster& cluster, Time now, const CreateStep& event, Effects& effects);
void on_step_ended(Cluster& cluster, Time now, const StepEnded& event, Effects& effects);
void retry_waiting_steps(Cluster& cluster, Time now, JobId id, Effects& effects);
// False: no srun --async waits for a step with this number.
bool cancel_waiting_step(Cluster& cluster, Time now, JobId id, StepId number, Effects& effects);
enum class StepEnding : std::uint8_t { Cancelled, TimeLimit };
void end_step(Cluster& cluster, JobId id, StepId step, StepEnding why, Effects& effects);
// step_limit.cc
void set_step_clocks(Cluster& cluster, const Job& job);
void on_step_limit_timer(Cluster& cluster, Time now, JobId id, Effects& effects);
void on_update_step(Cluster& cluster, const UpdateJob& event, Effects& effects);
// A node has registered: steps that were cancelled meanwhile, or are lost, end there.
void reconcile_steps(Cluster& cluster, Time now, JobId id, const NodeRegistered& event,
                     bool other_boot, Effects& effects);

// launch.cc: an srun that was granted a step launches it on its nodes, or the step ends.
void await_launch(Cluster& cluster, Time now, JobId id, const Step& step, RequestId request);
void launch_is_here(Cluster& cluster, NodeIndex node, const RunId& run);
void on_launch_timer(Cluster& cluster, Time now, JobId id, Effects& effects);
// An srun with a job of its own reports how it ends, or the controller ends it.
void await_srun(Cluster& cluster, Time now, const Job& job);
void srun_may_be_gone(Cluster& cluster, Time now, JobId id, bool is_lost,
                      Effects& effects);  // a step has ended
void on_silence_timer(Cluster& cluster, Time now, const Job& job, Effects& effects);
// A batch script has to start within BatchStartTimeout.
void await_batch_start(Cluster& cluster, Time now, const Job& job);
void on_batch_start_timer(Cluster& cluster, Time now, const Job& job, Effects& effects);
bool is_prolog_failure(const std::optional<Error>& error);
// A node could not launch the job for a reason of its own: it is drained, and the job is requeued,
// held if it was refused too often.
void drain_after_refusal(Cluster& cluster, Time now, NodeIndex node, const Error& error,
                         StepId step = kBatchStep);
KillReason reason_after_refusal(const Cluster& cluster, Job& job, NodeIndex node,
                                const Error& error);
KillReason reason_after_prolog(const Cluster& cluster);  // of a job that may be requeued
void step_prolog_failed(Cluster& cluster, Time now, const Job& job, Effects& effects);  // live
bool may_be_requeued(const Job& job);  // without a request

// find.cc: the jobs that a reference names: one job, or the records of an array.
std::vector<JobId> find_jobs(const Cluster& cluster, const JobRef& ref);
// Array tasks named by `ref` become jobs of their own, so that they can be changed separately:
// those of records that `may_split` selects. Returns the jobs that `ref` names then.
std::vector<JobId> split_off(Cluster& cluster, const JobRef& ref,
                             const std::function<bool(const Job& record)>& may_split);
JobId split_task(Cluster& cluster, JobId array, std::uint32_t task);
// Splits these waiting tasks off the array as one record, if it has others too.
void cut_off(Cluster& cluster, JobId array, const TaskSet& tasks);

}  // namespace sluice
