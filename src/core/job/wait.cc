// core/job/wait.cc: requests that wait for a job to start or to end.
//
// A salloc waits for the end of its job as long as it lives. If it is gone (killed, or its host),
// or ended while the controller was down, no request would end the job: it is ended when the salloc
// does not come back and no step runs in it.
#include <algorithm>

#include "core/job/verbs.h"
#include "core/permission.h"
#include "model/errors.h"

namespace sluice {

namespace {

bool steps_have_ended(const Cluster& cluster, const Job& job, std::optional<StepId> but) {
    if (cluster.steps().any_numbered(job.id)) return false;
    return std::none_of(job.run.steps.begin(), job.run.steps.end(), [&](const auto& step) {
        return step->state == StepState::Running && step->id != kExternStep && step->id != but;
    });
}

bool has_happened(const Cluster& cluster, const Job& job, const Waiter& waiter) {
    if (is_over(job)) return true;
    if (waiter.until == WaitFor::StepsEnded) return steps_have_ended(cluster, job, waiter.own_step);
    return waiter.until == WaitFor::Allocated && is_live(job) && job.run.allocation &&
           !job.run.configuring;
}

// How long a salloc may be gone.
Seconds back_within(const Cluster& cluster) {
    const Seconds limit = cluster.settings().inactive_limit;
    return limit > Seconds{0} ? limit : Seconds{60};
}

bool has_steps(const Cluster& cluster, const Job& job) {
    return cluster.steps().are_awaited(job.id) || runs_step_of_srun(job);
}

}  // namespace

void await_salloc(Cluster& cluster, Time now, const Job& job) {
    if (job.request->kind != JobKind::Salloc || !is_live(job) || job.run.configuring) return;
    if (cluster.clients().any_awaits_end_of(job.id)) return;
    Time end = now + back_within(cluster);
    cluster.clients().client_is_gone(job.id, end);
    cluster.add_timer({end, TimerKind::Silence, job.id.value});
}

void end_if_client_is_gone(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    if (!cluster.clients().take_lost(job.id, now)) return;
    const bool was_blocked =
        now < cluster.blocked_until() +
                  back_within(cluster);  // the controller was not accepting requests
    if (was_blocked || has_steps(cluster, job)) return await_salloc(cluster, now, job);
    if (is_live(job)) end_running(cluster, now, job.id, KillReason::Cancelled, effects);
}

void answer_waiters(Cluster& cluster, JobId id, WaitFor what, Effects& effects) {
    cluster.clients().answer(id, [&](const Waiter& waiter) {
        if (waiter.until != what || !has_happened(cluster, cluster.job(id), waiter)) return false;
        effects.push_back(Reply{waiter.request, AllocationShown{cluster.find_job(id)}});
        return true;
    });
}

void on_wait(Cluster& cluster, Time, const WaitJob& event, Effects& effects) {
    auto job = cluster.find_job(event.job);
    if (!job) {
        effects.push_back(Reply{event.request, Error{ErrorCode::InvalidJobId, {}}});
        return;
    }
    const Role role = role_in(cluster, event.caller, *job);
    if (auto allowed = permit(role, Action::WaitForJob); !allowed) {
        effects.push_back(Reply{event.request, allowed.error()});
        return;
    }
    cluster.clients().add(event.job,
                          {event.request, event.until, event.caller.user, event.own_step});
    answer_waiters(cluster, event.job, event.until, effects);
}

void on_show_allocation(Cluster& cluster, Time, const ShowAllocation& event, Effects& effects) {
    auto job = cluster.find_job(event.job);
    if (!job) {
        effects.push_back(Reply{event.request, Error{ErrorCode::InvalidJobId, {}}});
        return;
    }
    const Role role = role_in(cluster, event.caller, *job);
    auto allowed = permit(role, Action::ShowAllocation);
    effects.push_back(
        Reply{event.request, allowed ? Answer{AllocationShown{job}} : Answer{allowed.error()}});
}

void on_request_dropped(Cluster& cluster, Time now, const RequestDropped& event, Effects& effects) {
    std::vector<JobId> abandoned, left;
    for (const auto& [id, user] : cluster.clients().drop(event.request)) {
        const Job& job = cluster.job(id);
        const bool waits = job.state == JobState::Pending && job.request->kind != JobKind::Batch;
        (waits && user == job.user ? abandoned : left).push_back(id);
    }
    for (JobId id : cluster.steps().drop_waiters(event.request, now + kNumberKept))
        cluster.add_timer({now + kNumberKept, TimerKind::Silence, id.value});
    // A step that was created meanwhile: no srun will launch it.
    for (const auto& [id, step] : cluster.steps().granted_to(event.request))
        end_step(cluster, id, step, StepEnding::Cancelled, effects);
    for (JobId id : abandoned) cancel_pending(cluster, now, id, cluster.job(id).user, effects);
    for (JobId id : left) await_salloc(cluster, now, cluster.job(id));
}

}  // namespace sluice
