// core/job/control.cc: scontrol hold, release, requeue, suspend, resume.
#include "core/job/dependency.h"
#include "core/job/suspend.h"
#include "core/job/verbs.h"
#include "core/permission.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

namespace {

Action action_of(JobVerb verb) {
    switch (verb) {
        case JobVerb::Hold:
        case JobVerb::UserHold:
            return Action::HoldJob;
        case JobVerb::Release:
            return Action::ReleaseJob;
        case JobVerb::Requeue:
        case JobVerb::RequeueHold:
            return Action::RequeueJob;
        case JobVerb::Suspend:
        case JobVerb::Resume:
            return Action::SuspendJob;
        case JobVerb::Top:
            break;
    }
    return Action::TopJob;
}

Result<void> may_control(const Cluster& cluster, const ControlJobs& event, const Job& job) {
    const Role role = role_in(cluster, event.caller, job);
    TRY(permit(role, action_of(event.verb)));
    // Compat: the owner may not release a job whose request cannot be met any more, but may change
    // it.
    const bool needs_admin =
        job.priority == 0 && (job.admin_hold || job.reason == Reason::BadConstraints);
    if (event.verb == JobVerb::Release && needs_admin)
        return permit(role, Action::ReleaseAdminHold);
    return {};
}

std::optional<Error> requeue_refusal(const Job& job, bool held) {
    if (job.request->kind != JobKind::Batch) return Error{ErrorCode::DisabledForJob, {}};
    if (job.state == JobState::Pending)
        return held ? std::nullopt : std::optional(Error{ErrorCode::JobPending, {}});
    if (!job.request->requeue) return Error{ErrorCode::DisabledForJob, {}};
    const bool runs = job.state == JobState::Running || job.state == JobState::Suspended;
    if (!runs && is_completing(job)) return Error{ErrorCode::JobFinished, {}};
    return {};
}

// Why the job cannot be controlled like this; changes nothing.
std::optional<Error> control_refusal(const Cluster& cluster, const ControlJobs& event,
                                     const Job& job) {
    if (auto allowed = may_control(cluster, event, job); !allowed) return allowed.error();
    // Compat: a job that waits cannot end in a special exit.
    if (event.special_exit && job.state == JobState::Pending)
        return Error{ErrorCode::JobPending, {}};
    const bool is_hold_of_pending =
        event.verb == JobVerb::RequeueHold && job.state == JobState::Pending;
    switch (event.verb) {
        case JobVerb::Hold:
        case JobVerb::UserHold:
        case JobVerb::Release:
            if (is_finished(job.state)) return Error{ErrorCode::JobIsOver, {}};
            return {};
        case JobVerb::Requeue:
        case JobVerb::RequeueHold:
            if (is_hold_of_pending) return {};
            return requeue_refusal(job, event.verb == JobVerb::RequeueHold);
        case JobVerb::Suspend:
            return suspend_refusal(job);
        case JobVerb::Resume:
            return resume_refusal(cluster, job);
        case JobVerb::Top:
            break;
    }
    return Error{ErrorCode::NotSupported, {}};
}

// A running job continues; the hold takes effect when it is requeued.
void hold(Cluster& cluster, const Caller& caller, JobId id, JobVerb verb) {
    const Job& held = cluster.job(id);
    const Role role = role_in(cluster, caller, held);
    // The stronger hold stays.
    if (held.admin_hold && !may(role, Action::ReleaseAdminHold)) return;
    if (held.state == JobState::Pending) dequeue(cluster, held);
    const Edit<Job> job = cluster.edit_job(id);
    job->priority = 0;
    job->priority_by_hand = false;
    job->admin_hold = verb == JobVerb::Hold && may(role, Action::HoldAsAdmin);
    job->reason = reason_of_hold(*job);
    job->reason_detail.clear();
    cluster.want_pass();
}

void release(Cluster& cluster, Time now, JobId id) {
    if (cluster.job(id).priority != 0) return;
    const bool waits = cluster.job(id).state == JobState::Pending;
    {
        const Edit<Job> job = cluster.edit_job(id);
        job->admin_hold = false;
        job->special_exit = false;
        if (waits) job->eligible_time = std::max(job->eligible_time, now);
        // Compat: from now on the priority is calculated, even if it was set by hand.
        calculate_priority(cluster, *job);
        job->reason_detail.clear();
        job->reason = waits ? reason_to_wait(*job, now) : Reason::None;
    }
    if (waits) enqueue(cluster, cluster.job(id), now);
}

// `special`: State=SpecialExit, shown from the requeue to the release.
void requeue(Cluster& cluster, Time now, JobId id, bool held, bool special, Effects& effects) {
    const JobState state = cluster.job(id).state;
    if (special) cluster.edit_job(id)->special_exit = true;
    if (state == JobState::Running || state == JobState::Suspended) {
        end_running(cluster, now, id, held ? KillReason::RequeueHold : KillReason::Requeue,
                    effects);
    } else {
        requeue_now(cluster, now, id, held, effects);
    }
}

std::optional<Error> control(Cluster& cluster, Time now, const ControlJobs& event, JobId id,
                             Effects& effects) {
    if (auto refused = control_refusal(cluster, event, cluster.job(id))) return refused;
    switch (event.verb) {
        case JobVerb::Hold:
        case JobVerb::UserHold:
            hold(cluster, event.caller, id, event.verb);
            break;
        case JobVerb::Release:
            release(cluster, now, id);
            break;
        case JobVerb::Requeue:
            requeue(cluster, now, id, false, false, effects);
            break;
        case JobVerb::RequeueHold:
            if (cluster.job(id).state == JobState::Pending)
                hold(cluster, event.caller, id, JobVerb::UserHold);
            else
                requeue(cluster, now, id, true, event.special_exit, effects);
            break;
        case JobVerb::Suspend:
            return suspend_job(cluster, now, id, effects);
        case JobVerb::Resume:
            return resume_job(cluster, now, id, effects);
        case JobVerb::Top:
            break;
    }
    return {};
}

// Controls all of them; returns the last error if none could be controlled.
std::optional<Error> control_all(Cluster& cluster, Time now, const ControlJobs& event,
                                 const std::vector<JobId>& ids, Effects& effects) {
    std::optional<Error> error;
    bool any = false;
    for (JobId id : ids) {
        // Of an array, tasks that have ended are skipped, unless the caller may not control them.
        const bool is_skipped = ids.size() > 1 && is_finished(cluster.job(id).state);
        if (is_skipped && may_control(cluster, event, cluster.job(id))) continue;
        auto refused = control(cluster, now, event, id, effects);
        any = any || !refused;
        if (refused) error = refused;
    }
    return any ? std::nullopt : error;
}

}  // namespace

Reason reason_of_hold(const Job& job) {
    return job.admin_hold ? Reason::JobHeldAdmin : Reason::JobHeldUser;
}

void on_control(Cluster& cluster, Time now, const ControlJobs& event, Effects& effects) {
    if (event.verb == JobVerb::Top) return on_top(cluster, event, effects);
    std::vector<JobResult> results;
    for (const JobRef& ref : event.jobs) {
        // Tasks of a record that refuses the request are not split off: a refusal changes nothing.
        const auto is_allowed = [&](const Job& job) {
            return !control_refusal(cluster, event, job);
        };
        const std::vector<JobId> ids = split_off(cluster, ref, is_allowed);
        std::optional<Error> error = Error{ErrorCode::InvalidJobId, {}};
        if (!ids.empty()) error = control_all(cluster, now, event, ids, effects);
        results.push_back({to_string(ref), std::move(error)});
    }
    effects.push_back(Reply{event.request, std::move(results)});
}

}  // namespace sluice
