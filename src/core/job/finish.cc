// core/job/finish.cc
//
// How jobs end. A job has ended when the controller or its script says so; its nodes become free
// one by one, as each reports that nothing of the job is left. Until the last one has, the job
// shows as CG.
#include <fmt/format.h>

#include <algorithm>

#include "core/job/dependency.h"
#include "core/job/job_stats.h"
#include "core/job/mail.h"
#include "core/job/moves.h"
#include "core/job/preempt.h"
#include "core/job/suspend.h"
#include "core/job/verbs.h"
#include "core/limits/licenses.h"
#include "core/limits/limit_book.h"
#include "core/limits/usage.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/place/use.h"
#include "core/schedule/waiting.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr const char* kEpilogError = "Epilog error";  // what the node shows

JobState state_after(KillReason reason) {
    switch (reason) {
        case KillReason::Cancelled:
            return JobState::Cancelled;
        case KillReason::TimeLimit:
            return JobState::Timeout;
        case KillReason::NodeFail:
            return JobState::NodeFail;
        case KillReason::Preempted:
            return JobState::Preempted;
        case KillReason::Requeue:
        case KillReason::RequeueHold:
        case KillReason::PreemptedRequeue:
        case KillReason::NodeFailRequeue:
            return JobState::Running;  // until the nodes are clean
    }
    return JobState::Failed;
}

bool will_run_again(const Job& job) {
    return job.run.kill_reason && state_after(*job.run.kill_reason) == JobState::Running;
}

// The final state of a job that ended by itself.
JobState ending_of(const ExitStatus& exit) {
    if (exit.oom_killed) return JobState::OutOfMemory;
    return exit.failed() ? JobState::Failed : JobState::Completed;
}

// Compat: a job counts as out of memory if one of its steps was, whatever its script made of it.
// Not so a job of salloc, in which the user may go on.
bool had_step_without_memory(const Job& job) {
    const bool ends_by_itself =
        job.request->kind == JobKind::Batch || job.request->kind == JobKind::Srun;
    return job.run.derived_exit.oom_killed && ends_by_itself;
}

constexpr ExitStatus kOutOfMemoryExit{.code = 0, .signal = 125, .oom_killed = true};

// RequeueExit and RequeueExitHold: a batch job that ends with one of these codes runs again.
std::optional<KillReason> reason_after_exit(const Cluster& cluster, const Job& job,
                                            const JobEnded& event) {
    const auto has = [&](const std::vector<std::uint8_t>& codes) {
        return std::find(codes.begin(), codes.end(), event.exit.code) != codes.end();
    };
    if (!may_be_requeued(job) || event.launch_error || event.exit.signal != 0) return {};
    if (has(cluster.settings().requeue_exit_hold)) return KillReason::RequeueHold;
    if (has(cluster.settings().requeue_exit)) return KillReason::Requeue;
    return {};
}

Reason reason_of(JobState state, const ExitStatus& exit) {
    if (state == JobState::OutOfMemory) return Reason::OutOfMemory;
    if (exit.signal != 0) return Reason::RaisedSignal;
    return exit.code != 0 ? Reason::NonZeroExitCode : Reason::None;
}

Reason reason_of(const Error& launch_error) {
    switch (launch_error.code) {
        case ErrorCode::UserUnknown:
            return Reason::UserUnknown;
        case ErrorCode::InvalidDirectory:
            return Reason::InvalidWorkDir;
        default:
            return Reason::JobLaunchFailure;
    }
}

// The line about the job's end in its output.
std::string reason_line(const Cluster& cluster, const Job& job, Time now, NodeIndex node) {
    std::string_view cause;
    switch (*job.run.kill_reason) {
        case KillReason::Cancelled:
            cause = " DUE to SIGNAL Terminated";
            break;
        case KillReason::TimeLimit:
            cause = " DUE TO TIME LIMIT";
            break;
        case KillReason::Preempted:
        case KillReason::PreemptedRequeue:
            cause = " DUE TO PREEMPTION";
            break;
        case KillReason::NodeFail:
        case KillReason::NodeFailRequeue:
            cause = " DUE TO NODE FAILURE";
            break;
        case KillReason::Requeue:
        case KillReason::RequeueHold:
            cause = " DUE TO JOB REQUEUE";
            break;
    }
    return fmt::format("*** JOB {} ON {} CANCELLED AT {}{} ***", job.id.value,
                       cluster.node(node).config.name, print_moment(now), cause);
}

void set_completing(Cluster& cluster, Job& job, std::vector<NodeIndex> nodes) {
    job.run.completing_nodes = std::move(nodes);
    for (NodeIndex node : job.run.completing_nodes) ++cluster.edit_node(node)->completing;
    count_job(cluster, job);  // it uses no more minutes
}

std::vector<NodeIndex> nodes_of(const Job& job) {
    std::vector<NodeIndex> nodes;
    for (const NodeShare& share : job.run.allocation->nodes) nodes.push_back(share.node);
    return nodes;
}

void send_terminate(const Cluster& cluster, Time now, const Job& job, NodeIndex node,
                    Effects& effects) {
    TerminateJob order{.node = node, .run = {job.id, job.run.restarts, kBatchStep}};
    order.grace = cluster.settings().kill_wait;
    if (job.run.kill_reason) order.reason_line = reason_line(cluster, job, now, node);
    if (cluster.settings().has_epilog) order.for_epilog = cluster.find_job(job.id);
    effects.push_back(std::move(order));
}

// Tells all nodes of a completing job to end it, except the one that has reported its end.
void terminate_all(const Cluster& cluster, Time now, JobId id, std::optional<NodeIndex> except,
                   Effects& effects) {
    const std::shared_ptr<const Job> ending = cluster.find_job(id);
    for (NodeIndex node : ending->run.completing_nodes) {
        if (node != except) send_terminate(cluster, now, *ending, node, effects);
    }
}

// A task of the array has ended: tasks that waited because of the array's limit may start.
void task_is_gone(Cluster& cluster, Time now, JobId array) {
    cluster.arrays().task_left(array);
    for (JobId id : cluster.waiting().parked().take_tasks(array))
        enqueue(cluster, cluster.job(id), now);
}

// All nodes are clean.
void finish_run(Cluster& cluster, Time now, JobId id, Effects& effects) {
    if (std::string stats = job_stats(cluster, cluster.job(id)); !stats.empty())
        cluster.edit_job(id)->admin_comment = std::move(stats);
    cluster.gpu_loads().forget(id);
    const Job& job = cluster.job(id);
    if (cluster.settings().has_controller_epilog && job.run.start_time) {
        effects.push_back(RunJobProgram{false, cluster.find_job(id)});
    }
    give_licenses(cluster, job);
    if (!job.run.licenses_held.empty()) unpark_for_licenses(cluster, now);
    if (job.array_job) task_is_gone(cluster, now, *job.array_job);
    cluster.steps().forget_numbers(id, Time::max());
    if (will_run_again(job)) {
        requeue_now(cluster, now, id, job.run.kill_reason == KillReason::RequeueHold, effects);
        return;
    }
    count_end(job, cluster.tally());
    cluster.add_timer({now + cluster.settings().min_job_age, TimerKind::Forget, id.value});
    answer_waiters(cluster, id, WaitFor::Ended, effects);
    answer_waiters(cluster, id, WaitFor::StepsEnded, effects);
    // Clients that still wait for an allocation are told that there will be none.
    answer_waiters(cluster, id, WaitFor::Allocated, effects);
    mail_end(cluster, cluster.job(id), effects);
    tell_of_end(cluster, now, id, effects);
}

void end_steps(Cluster& cluster, Job& job, Time now, StepState state) {
    for (auto& step : job.run.steps) {
        if (step->state != StepState::Running) continue;
        auto ended = std::make_shared<Step>(*step);
        // Compat: however the job ends, its container has served its purpose.
        const bool is_done = step->id == kExternStep && state != StepState::NodeFail;
        ended->state = is_done ? StepState::Completed : state;
        ended->end_time = now;
        step = std::move(ended);
        cluster.facts().step_changed(job.id, job.run.restarts, step);
    }
    cluster.steps().forget_ended(job);
}

StepState step_state_after(JobState state) {
    switch (state) {
        case JobState::Completed:
            return StepState::Completed;
        case JobState::Timeout:
            return StepState::Timeout;
        case JobState::NodeFail:
            return StepState::NodeFail;
        case JobState::Failed:
            return StepState::Failed;
        default:
            return StepState::Cancelled;
    }
}

// The node of the batch script has reported its end: how the job ends, or whether it runs again.
void end_by_itself(Cluster& cluster, Time now, Job& job, const JobEnded& event) {
    const bool refused = event.launch_error && is_fault_of_node(event.launch_error->code);
    leave_suspension(job, now);
    job.run.exit = had_step_without_memory(job) ? kOutOfMemoryExit : event.exit;
    if (counts_as_preempted(cluster, job, event.exit)) {
        job.run.kill_reason = reason_to_end_preempted(cluster, job);
        JobState after = state_after(*job.run.kill_reason);
        if (after != job.state) move_to(job, after);
    } else if (refused && may_be_requeued(job)) {
        job.run.kill_reason = reason_after_refusal(cluster, job, event.node, *event.launch_error);
    } else if (auto again = reason_after_exit(cluster, job, event)) {
        job.run.kill_reason = again;
        job.special_exit = again == KillReason::RequeueHold;
    } else {
        move_to(job, event.launch_error ? JobState::Failed : ending_of(job.run.exit));
    }
    job.reason =
        event.launch_error ? reason_of(*event.launch_error) : reason_of(job.state, job.run.exit);
    if (event.launch_error) {  // the reason is shown as well
        const std::string& detail = event.launch_error->detail;
        job.reason_detail = detail.empty() ? to_string(*event.launch_error) : detail;
    }
    job.run.end_time = now;
    count_usage(cluster, now, job);
}

// A run that the controller had given up is gone from its node. After the last one the node takes
// jobs again; jobs that were parked because they named it are queued.
void no_longer_there(Cluster& cluster, Time now, NodeIndex node, const RunId& run) {
    if (cluster.node(node).orphans.empty()) return;
    std::erase(cluster.edit_node(node)->orphans, RunId{run.job, run.restarts, kBatchStep});
    if (may_take_jobs(cluster.node(node))) unpark_all(cluster, now);
    cluster.want_pass();
}

// What the run used of a node that is clean now.
void note_use(Cluster& cluster, JobId id, const NodeUse& use) {
    if (use == NodeUse{.node = use.node}) return;
    const Job& job = cluster.job(id);
    const std::vector<NodeIndex>& left = job.run.completing_nodes;
    if (std::find(left.begin(), left.end(), use.node) == left.end()) return;
    cluster.edit_job(id)->run.node_use.push_back(use);
}

}  // namespace

void node_is_clean(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects) {
    if (std::erase(cluster.edit_job(id)->run.completing_nodes, node) == 0) return;
    --cluster.edit_node(node)->completing;
    const Job& job = cluster.job(id);
    if (const NodeShare* share = job.run.allocation->find(node))
        give_back_share(cluster, job, *share, now);
    power_down_after(cluster, now, job, node);
    cluster.jobs_changed_state(id);
    if (job.run.completing_nodes.empty()) finish_run(cluster, now, id, effects);
}

// Nothing of the job was started on nodes that were still switched off.
static void leave_nodes_off(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const std::vector<NodeIndex> nodes = cluster.job(id).run.completing_nodes;
    for (NodeIndex node : nodes) {
        if (cluster.node(node).power.state != PowerState::Up)
            node_is_clean(cluster, now, id, node, effects);
    }
}

void end_running(Cluster& cluster, Time now, JobId id, KillReason reason, Effects& effects) {
    {
        const Edit<Job> job = cluster.edit_job(id);
        leave_suspension(*job, now);
        CHECK(job->state == JobState::Running);
        job->run.kill_reason = reason;
        const JobState after = state_after(reason);
        if (after != JobState::Running) move_to(*job, after);
        job->run.configuring = false;
        job->run.preparing_nodes.clear();
        // Already completing, to be requeued: a stronger reason changes that.
        if (is_completing(*job)) return;
        job->run.end_time = now;
        count_usage(cluster, now, *job);
        if (reason == KillReason::TimeLimit) job->reason = Reason::TimeLimit;
        if (reason == KillReason::NodeFail) job->reason = Reason::NodeDown;
        end_steps(cluster, *job, now,
                  reason == KillReason::TimeLimit ? StepState::Timeout : StepState::Cancelled);
        set_completing(cluster, *job, nodes_of(*job));
    }
    cluster.jobs_changed_state(id);
    terminate_all(cluster, now, id, {}, effects);
    retry_waiting_steps(cluster, now, id, effects);  // they are refused
    if (reason == KillReason::TimeLimit) mail(MailType::TimeLimit, now, cluster.job(id), effects);
    leave_nodes_off(cluster, now, id, effects);
}

void complete_without_nodes(Cluster& cluster, Time now, JobId id, Effects& effects) {
    {
        const Edit<Job> job = cluster.edit_job(id);
        move_to(*job, JobState::Completed);
        job->run.end_time = now;
        job->run.allocation.reset();
    }
    cluster.jobs_changed_state(id);
    retry_waiting_steps(cluster, now, id, effects);  // they are refused
    finish_run(cluster, now, id, effects);
}

void give_up_unplaced(Cluster& cluster, Time now, JobId id, Effects& effects) {
    bool is_requeued = false;
    {
        const Edit<Job> job = cluster.edit_job(id);
        job->run.completing_nodes.clear();
        leave_suspension(*job, now);
        end_steps(cluster, *job, now, StepState::NodeFail);
        job->run.cpus_lent = false;
        job->run.licenses_held.clear();
        if (!job->run.end_time) job->run.end_time = now;
        count_usage(cluster, now, *job);
        const bool was_running = job->state == JobState::Running;
        is_requeued = was_running && (may_be_requeued(*job) || will_run_again(*job));
        if (is_requeued && !job->run.kill_reason)
            job->run.kill_reason = KillReason::NodeFailRequeue;
        if (was_running && !is_requeued) {
            move_to(*job, JobState::NodeFail);
            job->reason = Reason::NodeDown;
        }
    }
    if (is_requeued) {
        const bool hold = cluster.job(id).run.kill_reason == KillReason::RequeueHold;
        return requeue_now(cluster, now, id, hold, effects);
    }
    count_end(cluster.job(id), cluster.tally());
    cluster.jobs_changed_state(id);
    cluster.add_timer({now + cluster.settings().min_job_age, TimerKind::Forget, id.value});
    tell_of_end(cluster, now, id, effects);
}

void on_step_out_of_memory(Cluster& cluster, Job& job) {
    const bool by_itself = job.state == JobState::Completed || job.state == JobState::Failed;
    if (!by_itself || !is_completing(job) || !had_step_without_memory(job)) return;
    move_to(job, JobState::OutOfMemory);
    job.run.exit = kOutOfMemoryExit;
    job.reason = Reason::OutOfMemory;
    cluster.jobs_changed_state(job.id);
}

void on_job_ended(Cluster& cluster, Time now, const JobEnded& event, Effects& effects) {
    auto found = cluster.find_job(event.run.job);
    if (event.epilog_failed) drain_after_hook(cluster, now, event.node, kEpilogError);
    if (!event.is_cleaning) no_longer_there(cluster, now, event.node, event.run);
    if (!found || found->run.restarts != event.run.restarts || !found->run.allocation) return;
    if (!found->run.allocation->find(event.node)) return;  // not a node of the job
    const bool refused = event.launch_error && is_fault_of_node(event.launch_error->code);
    if (refused && (is_live(*found) || is_completing(*found)))
        drain_after_refusal(cluster, now, event.node, *event.launch_error);
    if (!event.launch_error && (is_live(*found) || is_completing(*found))) {
        const Edit<Job> job = cluster.edit_job(found->id);
        job->run.usage = event.usage;
        job->run.usage.rss_max_node = cluster.node(event.node).config.name;
    }
    if (is_live(*found)) {
        {
            const Edit<Job> job = cluster.edit_job(found->id);
            end_by_itself(cluster, now, *job, event);
            end_steps(cluster, *job, now, step_state_after(job->state));
            set_completing(cluster, *job, nodes_of(*job));
        }
        terminate_all(cluster, now, found->id, event.node, effects);
        retry_waiting_steps(cluster, now, found->id, effects);
    } else if (is_finished(found->state) && is_completing(*found)) {
        cluster.edit_job(found->id)->run.exit = event.exit;
    }
    if (event.is_cleaning) return;
    note_use(cluster, found->id, event.use);
    node_is_clean(cluster, now, found->id, event.node, effects);
}

void on_node_cleaned(Cluster& cluster, Time now, const NodeCleaned& event, Effects& effects) {
    auto found = cluster.find_job(event.run.job);
    if (event.epilog_failed) drain_after_hook(cluster, now, event.node, kEpilogError);
    no_longer_there(cluster, now, event.node, event.run);
    if (!found || found->run.restarts != event.run.restarts || !is_completing(*found)) return;
    note_use(cluster, found->id, event.use);
    node_is_clean(cluster, now, found->id, event.node, effects);
}

void on_launch_reported(Cluster& cluster, Time now, const LaunchReported& event, Effects& effects) {
    auto found = cluster.find_job(event.run.job);
    bool wanted = found && is_wanted(*found, event.run, event.node);
    if (!wanted && !event.error) return end_stray(cluster, event.node, event.run, effects);
    const bool bad_prolog = is_prolog_failure(event.error);
    if (wanted && event.error && is_fault_of_node(event.error->code))
        drain_after_refusal(cluster, now, event.node, *event.error, event.run.step);
    if (!wanted || !is_live(*found)) return;  // its nodes were told to end it
    if (event.run.step == kExternStep)
        return on_preparation_reported(cluster, now, found->id, event, effects);
    if (event.run.step != kBatchStep) {
        if (bad_prolog) return step_prolog_failed(cluster, now, *found, effects);
        return step_is_launched(cluster, *found, event, effects);
    }
    if (event.error) {
        on_job_ended(cluster, now, {event.node, event.run, ExitStatus{1, 0, false}, event.error},
                     effects);
    } else if (!found->run.launched) {
        const Edit<Job> launched = cluster.edit_job(found->id);
        launched->run.launched = true;
        launched->refused_by.clear();
        // The order to stop came before there were processes.
        if (found->state == JobState::Suspended) repeat_suspension(*found, event.node, effects);
    }
}

void complete_running(Cluster& cluster, Time now, JobId id, const ExitStatus& exit,
                      Effects& effects) {
    {
        const Edit<Job> job = cluster.edit_job(id);
        leave_suspension(*job, now);
        job->run.exit = had_step_without_memory(*job) ? kOutOfMemoryExit : exit;
        const bool made_room = job->run.preempt_time && exit.failed();
        if (made_room) job->run.kill_reason = KillReason::Preempted;
        move_to(*job, made_room ? JobState::Preempted : ending_of(job->run.exit));
        job->reason = reason_of(job->state, job->run.exit);
        job->run.end_time = now;
        count_usage(cluster, now, *job);
        end_steps(cluster, *job, now, step_state_after(job->state));
        set_completing(cluster, *job, nodes_of(*job));
    }
    cluster.jobs_changed_state(id);
    terminate_all(cluster, now, id, {}, effects);
    retry_waiting_steps(cluster, now, id, effects);
}

void on_complete_job(Cluster& cluster, Time now, const CompleteJob& event, Effects& effects) {
    auto found = cluster.find_job(event.job);
    if (!found) {
        effects.push_back(Reply{event.request, Error{ErrorCode::InvalidJobId, {}}});
        return;
    }
    const Role role = role_in(cluster, event.caller, *found);
    if (auto allowed = permit(role, Action::CompleteJob); !allowed) {
        effects.push_back(Reply{event.request, allowed.error()});
        return;
    }
    if (found->state == JobState::Pending) {
        cancel_pending(cluster, now, found->id, event.caller.user, effects);
    } else if (is_live(*found)) {
        complete_running(cluster, now, found->id, event.exit, effects);
    }
    effects.push_back(Reply{event.request, Done{}});
}

}  // namespace sluice
