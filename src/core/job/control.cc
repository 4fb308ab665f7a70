// core/job/control.cc: scontrol hold, release, requeue, suspend, resume.
#include "core/job/dependency.h"
#include "core/job/suspend.h"
#include "core/job/verbs.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

namespace {

// One that runs goes on; the hold counts when it is put back into the queue.
std::optional<Error> hold(Cluster& cluster, const Caller& caller, JobId id, JobVerb verb) {
    if (is_finished(cluster.job(id).state)) return Error{ErrorCode::JobIsOver, {}};
    if (cluster.job(id).state == JobState::Pending) dequeue(cluster, cluster.job(id));
    Job& job = cluster.edit_job(id);
    job.priority = 0;
    job.priority_by_hand = false;
    // Compat: an operator's hold can only be lifted by an operator, unless it is a user's hold.
    bool by_operator = is_privileged(cluster, caller) && verb == JobVerb::Hold;
    job.reason = by_operator ? Reason::JobHeldAdmin : Reason::JobHeldUser;
    job.reason_detail.clear();
    cluster.schedule_wanted = true;
    return {};
}

std::optional<Error> release(Cluster& cluster, Time now, const Caller& caller, JobId id) {
    const Job& held = cluster.job(id);
    if (is_finished(held.state)) return Error{ErrorCode::JobIsOver, {}};
    if (held.priority != 0) return {};
    // Compat: nor is one whose request cannot be met any more; a user may change it instead.
    bool by_operator = held.reason == Reason::JobHeldAdmin || held.reason == Reason::BadConstraints;
    if (by_operator && !is_privileged(cluster, caller)) {
        return Error{ErrorCode::AccessDenied, {}};
    }
    Job& job = cluster.edit_job(id);
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
    if (!may_change(cluster, event.caller, cluster.job(id)))
        return Error{ErrorCode::AccessDenied, {}};
    switch (event.verb) {
        case JobVerb::Hold:
        case JobVerb::UserHold:
            return hold(cluster, event.caller, id, event.verb);
        case JobVerb::Release:
            return release(cluster, now, event.caller, id);
        case JobVerb::Requeue:
            return requeue(cluster, now, id, false, effects);
        case JobVerb::RequeueHold: {
            bool pending = cluster.job(id).state == JobState::Pending;
            return pending ? hold(cluster, event.caller, id, JobVerb::UserHold)
                           : requeue(cluster, now, id, true, effects);
        }
        case JobVerb::Suspend:
        case JobVerb::Resume: {
            if (!is_privileged(cluster, event.caller)) return Error{ErrorCode::AccessDenied, {}};
            return event.verb == JobVerb::Suspend ? suspend_job(cluster, now, id, effects)
                                                  : resume_job(cluster, now, id, effects);
        }
        case JobVerb::Top:
            break;
    }
    return Error{ErrorCode::NotSupported, {}};
}

}  // namespace

void on_control(Cluster& cluster, Time now, const ControlJobs& event, Effects& effects) {
    if (event.verb == JobVerb::Top) return on_top(cluster, event, effects);
    std::vector<JobResult> results;
    for (const JobRef& ref : event.jobs) {
        std::vector<JobId> ids = split_off(cluster, ref);
        if (ids.empty()) results.push_back({to_string(ref), Error{ErrorCode::InvalidJobId, {}}});
        std::optional<Error> error;
        bool any = false;
        for (JobId id : ids) {
            // Of an array, the tasks that have ended are not meant.
            if (ids.size() > 1 && is_finished(cluster.job(id).state)) continue;
            auto refused = control(cluster, now, event, id, effects);
            any = any || !refused;
            if (refused) error = refused;
        }
        if (!ids.empty()) results.push_back({to_string(ref), any ? std::nullopt : error});
    }
    effects.push_back(Reply{event.request, std::move(results)});
}

}  // namespace sluice
