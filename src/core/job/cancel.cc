// core/job/cancel.cc: scancel, with and without a signal.
#include <algorithm>

#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/moves.h"
#include "core/job/verbs.h"
#include "core/permission.h"
#include "core/query/match.h"
#include "core/schedule/scheduler.h"
#include "model/errors.h"

namespace sluice {

namespace {

void signal_running(const Job& job, const CancelJobs& event, Effects& effects) {
    for (const NodeShare& share : job.run.allocation->nodes) {
        bool head = &share == &job.run.allocation->nodes.front();
        SignalJob order{.node = share.node,
                        .run = {job.id, job.run.restarts, kBatchStep},
                        .signal = event.signal};
        order.batch_shell = head && (event.batch_shell || event.full);
        order.children = event.full;
        order.steps = !event.batch_shell;
        if (order.batch_shell || order.children || order.steps) effects.push_back(order);
    }
}

Result<void> may_cancel(const Cluster& cluster, const CancelJobs& event, const Job& job) {
    const Role role = role_in(cluster, event.caller, job);
    if (!event.admin_comment.empty()) TRY(permit(role, Action::SetAdminComment));
    return permit(role, Action::CancelJob);
}

// scontrol notify: where the script or the srun of each step takes the line.
std::optional<Error> notify_job(const Job& job, const CancelJobs& event, std::optional<StepId> step,
                                Effects& effects) {
    if (!is_live(job)) return Error{ErrorCode::JobNotRunning, {}};
    const RunId whole{job.id, job.run.restarts, kBatchStep};
    bool is_told = false;
    const auto tell = [&](SignalJob order) {
        order.message = event.message;
        effects.push_back(std::move(order));
        is_told = true;
    };
    const bool has_script = job.request->kind == JobKind::Batch && job.run.launched;
    if (has_script && (!step || step == kBatchStep)) {
        tell({.node = job.run.allocation->nodes.front().node, .run = whole, .batch_shell = true});
        if (!step) return {};  // Compat: a job with a script has it told there alone
    }
    for (const auto& each : job.run.steps) {
        const bool is_meant = step ? each->id == *step : each->id != kExternStep;
        if (!is_meant || each->state != StepState::Running || each->nodes_left.empty()) continue;
        tell({.node = each->nodes_left.front(),
              .run = {job.id, job.run.restarts, each->id},
              .steps = true,
              .only_step = true});
    }
    if (is_told) return {};
    return step ? Error{ErrorCode::InvalidStepId, {}}
                : Error{ErrorCode::NotSupported, "to notify a job without a script or a step"};
}

std::optional<Error> cancel_job(Cluster& cluster, Time now, const CancelJobs& event, JobId id,
                                Effects& effects) {
    auto job = cluster.find_job(id);
    if (auto allowed = may_cancel(cluster, event, *job); !allowed) return allowed.error();
    if (is_finished(job->state)) return Error{ErrorCode::JobFinished, {}};
    if (!event.message.empty()) return notify_job(*job, event, {}, effects);
    if (!event.admin_comment.empty()) cluster.edit_job(id)->admin_comment = event.admin_comment;
    if (event.signal != 0) {
        if (!is_live(*job) && !is_completing(*job)) return Error{ErrorCode::JobNotRunning, {}};
        signal_running(*job, event, effects);
    } else if (job->state == JobState::Pending) {
        cancel_pending(cluster, now, id, event.caller.user, effects);
    } else {
        cluster.edit_job(id)->run.killed_by = event.caller.user;
        end_running(cluster, now, id, KillReason::Cancelled, effects);
    }
    return {};
}

// scancel 12.0: one step.
std::optional<Error> cancel_step(Cluster& cluster, Time now, const CancelJobs& event, JobId id,
                                 StepId step, Effects& effects) {
    auto job = cluster.find_job(id);
    if (auto allowed = may_cancel(cluster, event, *job); !allowed) return allowed.error();
    if (!event.message.empty()) return notify_job(*job, event, step, effects);
    if (!is_live(*job)) return Error{ErrorCode::JobFinished, {}};
    if (step == kBatchStep && job->request->kind == JobKind::Batch) {
        NodeIndex head = job->run.allocation->nodes.front().node;
        int signal = event.signal == 0 ? 9 : event.signal;
        effects.push_back(SignalJob{.node = head,
                                    .run = {id, job->run.restarts, step},
                                    .signal = signal,
                                    .batch_shell = true,
                                    .children = event.signal == 0});
        return {};
    }
    for (const auto& found : job->run.steps) {
        if (found->id != step || found->state != StepState::Running) continue;
        if (event.signal == 0) {
            end_step(cluster, id, step, StepEnding::Cancelled, effects);
            return {};
        }
        for (NodeIndex node : found->nodes_left) {
            effects.push_back(SignalJob{.node = node,
                                        .run = {id, job->run.restarts, step},
                                        .signal = event.signal,
                                        .steps = true,
                                        .only_step = true});
        }
        return {};
    }
    if (event.signal == 0 && cancel_waiting_step(cluster, now, id, step, effects)) return {};
    return Error{ErrorCode::InvalidStepId, {}};
}

std::vector<JobId> search(const Cluster& cluster, const JobMatcher& matcher) {
    std::vector<JobId> found;
    cluster.jobs().for_each(
        [&](const ChunkSummary<Job>& summary) { return matcher.wants(summary); },
        [&](const Job& job) {
            if (matcher.matches(job)) found.push_back(job.id);
        });
    return found;
}

bool has_criteria(const Filter& filter) {
    return !filter.users.empty() || !filter.partitions.empty() || !filter.names.empty() ||
           !filter.accounts.empty() || !filter.qos.empty() || !filter.nodes.empty() ||
           !filter.states.empty() || !filter.reservations.empty() || !filter.wckeys.empty();
}

// scancel 12_[1-99000]: tasks that have not started are split off and end together, as one record.
void cut_waiting(Cluster& cluster, const CancelJobs& event, const JobMatcher& matcher,
                 const JobRef& ref) {
    auto record = cluster.find_job(ref.job);
    if (!ref.tasks || ref.step || event.signal != 0 || !event.message.empty() || !record ||
        !is_array_record(*record))
        return;
    if (record->state != JobState::Pending || !may_cancel(cluster, event, *record)) return;
    if (!has_criteria(event.filter) || matcher.matches(*record))
        cut_off(cluster, ref.job, *ref.tasks);
}

}  // namespace

void end_pending(Cluster& cluster, Time now, JobId id, JobState state, std::optional<UserId> by,
                 Effects& effects) {
    dequeue(cluster, cluster.job(id));
    cluster.scheduler().making_room.erase(id.value);
    {
        const Edit<Job> job = cluster.edit_job(id);
        move_to(*job, state);
        job->run.killed_by = by;
        job->run.start_time = now;
        job->run.end_time = now;
    }
    count_end(cluster.job(id), cluster.tally());
    cluster.jobs_changed_state(id);
    cluster.want_pass();  // others may have waited behind it
    cluster.add_timer({now + cluster.settings().min_job_age, TimerKind::Forget, id.value});
    answer_waiters(cluster, id, WaitFor::Ended, effects);
    answer_waiters(cluster, id, WaitFor::StepsEnded, effects);
    answer_waiters(cluster, id, WaitFor::Allocated, effects);
    mail_end(cluster, cluster.job(id), effects);
}

void cancel_pending(Cluster& cluster, Time now, JobId id, UserId by, Effects& effects) {
    end_pending(cluster, now, id, JobState::Cancelled, by, effects);
    tell_of_end(cluster, now, id, effects);
}

void on_cancel(Cluster& cluster, Time now, const CancelJobs& event, Effects& effects) {
    std::vector<JobResult> results;
    std::vector<NodeIndex> nodes;
    for (const std::string& name : event.filter.nodes) {
        if (auto index = cluster.find_node(name)) nodes.push_back(*index);
    }
    const JobMatcher matcher(event.filter, std::move(nodes));
    for (const JobRef& ref : event.filter.jobs) {
        cut_waiting(cluster, event, matcher, ref);
        std::vector<JobId> ids = find_jobs(cluster, ref);
        if (ids.empty()) {
            results.push_back({to_string(ref), Error{ErrorCode::InvalidJobId, {}}});
            continue;
        }
        std::optional<Error> error;
        bool any = false;
        for (JobId id : ids) {
            if (has_criteria(event.filter) && !matcher.matches(cluster.job(id))) continue;
            auto refused = ref.step ? cancel_step(cluster, now, event, id, *ref.step, effects)
                                    : cancel_job(cluster, now, event, id, effects);
            any = any || !refused;
            if (refused) error = refused;
        }
        // Of an array, tasks that have already ended are not reported as errors.
        results.push_back({to_string(ref), any ? std::nullopt : error});
    }
    if (event.filter.jobs.empty() && has_criteria(event.filter)) {
        for (JobId id : search(cluster, matcher)) {
            const Job& job = cluster.job(id);
            if (!may_cancel(cluster, event, job) || is_finished(job.state)) continue;
            std::string name = print_job_id(job);
            results.push_back({std::move(name), cancel_job(cluster, now, event, id, effects)});
        }
    }
    effects.push_back(Reply{event.request, std::move(results)});
}

void send_warning(Cluster& cluster, const Job& job, Effects& effects) {
    const WarnSignal& warn = *job.request->warn_signal;
    for (const NodeShare& share : job.run.allocation->nodes) {
        bool head = &share == &job.run.allocation->nodes.front();
        if (warn.batch_shell_only && !head) break;
        effects.push_back(SignalJob{.node = share.node,
                                    .run = {job.id, job.run.restarts, kBatchStep},
                                    .signal = warn.signal,
                                    .batch_shell = warn.batch_shell_only,
                                    .children = false,
                                    .steps = !warn.batch_shell_only});
    }
    cluster.edit_job(job.id)->run.warned = true;
}

}  // namespace sluice
