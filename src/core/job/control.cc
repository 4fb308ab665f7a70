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
    // Compat: a job whose request cannot be met any more is not released by its owner either; the
    // owner may change it instead.
    const bool needs_admin =
        job.priority == 0 && (job.admin_hold || job.reason == Reason::BadConstraints);
    if (event.verb == JobVerb::Release && needs_admin)
        return permit(role, Action::ReleaseAdminHold);
    return {};
}

// A running job goes on; the hold counts when it is put back into the queue.
std::optional<Error> hold(Cluster& cluster, const Caller& caller, JobId id, JobVerb verb) {
    const Job& held = cluster.job(id);
    if (is_finished(held.state)) return Error{ErrorCode::JobIsOver, {}};
    const Role role = role_in(cluster, caller, held);
    // The stronger hold stays.
    if (held.admin_hold && !may(role, Action::ReleaseAdminHold)) return {};
    if (held.state == JobState::Pending) dequeue(cluster, held);
    Job& job = cluster.edit_job(id);
    job.priority = 0;
    job.priority_by_hand = false;
    job.admin_hold = verb == JobVerb::Hold && may(role, Action::HoldAsAdmin);
    job.reason = reason_of_hold(job);
    job.reason_detail.clear();
    cluster.schedule_wanted = true;
    return {};
}

std::optional<Error> release(Cluster& cluster, Time now, JobId id) {
    const Job& held = cluster.job(id);
    if (is_finished(held.state)) return Error{ErrorCode::JobIsOver, {}};
    if (held.priority != 0) return {};
    Job& job = cluster.edit_job(id);
    job.admin_hold = false;
    bool waits = job.state == JobState::Pending;
    if (waits) job.eligible_time = std::max(job.eligible_time, now);
    // Compat: whatever was set by hand, from here on the priority is calculated.
    calculate_priority(cluster, job);
    job.reason_detail.clear();
    job.reason = waits ? reason_to_wait(job, now) : Reason::None;
    if (waits) enqueue(cluster, cluster.job(id), now);
    return {};
}

std::optional<Error> requeue(Cluster& cluster, Time now, JobId id, bool held, Effects& effects) {
    const Job& job = cluster.job(id);
    if (job.request->kind != JobKind::Batch) return Error{ErrorCode::DisabledForJob, {}};
    if (job.state == JobState::Pending)
        return held ? std::nullopt : std::optional(Error{ErrorCode::JobPending, {}});
    if (!job.request->requeue) return Error{ErrorCode::DisabledForJob, {}};
    if (job.state == JobState::Running || job.state == JobState::Suspended) {
        end_running(cluster, now, id, held ? KillReason::RequeueHold : KillReason::Requeue,
                    effects);
    } else if (is_completing(job)) {
        return Error{ErrorCode::JobFinished, {}};
    } else {
        requeue_now(cluster, now, id, held, effects);
    }
    return {};
}

std::optional<Error> control(Cluster& cluster, Time now, const ControlJobs& event, JobId id,
                             Effects& effects) {
    if (auto allowed = may_control(cluster, event, cluster.job(id)); !allowed)
        return allowed.error();
    switch (event.verb) {
        case JobVerb::Hold:
        case JobVerb::UserHold:
            return hold(cluster, event.caller, id, event.verb);
        case JobVerb::Release:
            return release(cluster, now, id);
        case JobVerb::Requeue:
            return requeue(cluster, now, id, false, effects);
        case JobVerb::RequeueHold: {
            bool pending = cluster.job(id).state == JobState::Pending;
            return pending ? hold(cluster, event.caller, id, JobVerb::UserHold)
                           : requeue(cluster, now, id, true, effects);
        }
        case JobVerb::Suspend:
            return suspend_job(cluster, now, id, effects);
        case JobVerb::Resume:
            return resume_job(cluster, now, id, effects);
        case JobVerb::Top:
            break;
    }
    return Error{ErrorCode::NotSupported, {}};
}

// For all of them, or the last refusal if none could be controlled.
std::optional<Error> control_all(Cluster& cluster, Time now, const ControlJobs& event,
                                 const std::vector<JobId>& ids, Effects& effects) {
    std::optional<Error> error;
    bool any = false;
    for (JobId id : ids) {
        // Of an array, the tasks that have ended are not meant.
        if (ids.size() > 1 && is_finished(cluster.job(id).state)) continue;
        auto refused = control(cluster, now, event, id, effects);
        any = any || !refused;
        if (refused) error = refused;
    }
    return any ? std::nullopt : error;
}

// Asked before tasks are split off their array: a refused request changes nothing.
std::optional<Error> refused_for_all(const Cluster& cluster, const ControlJobs& event,
                                     const std::vector<JobId>& ids) {
    std::optional<Error> error = Error{ErrorCode::InvalidJobId, {}};
    for (JobId id : ids) {
        auto allowed = may_control(cluster, event, cluster.job(id));
        if (allowed) return std::nullopt;
        error = allowed.error();
    }
    return error;
}

}  // namespace

Reason reason_of_hold(const Job& job) {
    return job.admin_hold ? Reason::JobHeldAdmin : Reason::JobHeldUser;
}

void on_control(Cluster& cluster, Time now, const ControlJobs& event, Effects& effects) {
    if (event.verb == JobVerb::Top) return on_top(cluster, event, effects);
    std::vector<JobResult> results;
    for (const JobRef& ref : event.jobs) {
        auto error = refused_for_all(cluster, event, find_jobs(cluster, ref));
        if (!error) error = control_all(cluster, now, event, split_off(cluster, ref), effects);
        results.push_back({to_string(ref), std::move(error)});
    }
    effects.push_back(Reply{event.request, std::move(results)});
}

}  // namespace sluice
