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

bool has_happened(const Job& job, WaitFor what) {
    if (is_over(job)) return true;
    return what == WaitFor::Allocated && is_live(job) && job.run.allocation;
}

constexpr Seconds kBackWithin{60};

bool is_attended(const Cluster& cluster, JobId id) {
    auto waiting = cluster.waiters.find(id.value);
    return waiting != cluster.waiters.end() &&
           std::any_of(waiting->second.begin(), waiting->second.end(),
                       [](const Waiter& waiter) { return waiter.until == WaitFor::Ended; });
}

bool has_steps(const Cluster& cluster, const Job& job) {
    return cluster.step_waiters.contains(job.id.value) ||
           std::any_of(job.run.steps.begin(), job.run.steps.end(),
                       [](const auto& step) { return step->state == StepState::Running; });
}

}  // namespace

void await_salloc(Cluster& cluster, Time now, const Job& job) {
    if (job.request->kind != JobKind::Salloc || !is_live(job) || is_attended(cluster, job.id))
        return;
    Time end = now + kBackWithin;
    cluster.deserted[job.id.value] = end;
    cluster.add_timer({end, TimerKind::Silence, job.id.value});
}

void end_if_deserted(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    auto found = cluster.deserted.find(job.id.value);
    if (found == cluster.deserted.end() || found->second > now) return;  // it is back, or was
    bool was_deaf =
        now < cluster.listening_since + kBackWithin;  // the controller was not accepting requests
    cluster.deserted.erase(found);
    if (was_deaf || has_steps(cluster, job)) return await_salloc(cluster, now, job);
    if (is_live(job)) end_running(cluster, now, job.id, KillReason::Cancelled, effects);
}

void answer_waiters(Cluster& cluster, JobId id, WaitFor what, Effects& effects) {
    auto waiting = cluster.waiters.find(id.value);
    if (waiting == cluster.waiters.end()) return;
    std::shared_ptr<const Job> job = cluster.find_job(id);
    std::erase_if(waiting->second, [&](const Waiter& waiter) {
        if (waiter.until != what || !has_happened(*job, what)) return false;
        effects.push_back(Reply{waiter.request, AllocationShown{job}});
        return true;
    });
    if (waiting->second.empty()) cluster.waiters.erase(waiting);
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
    cluster.waiters[event.job.value].push_back({event.request, event.until, event.caller.user});
    if (event.until == WaitFor::Ended) cluster.deserted.erase(event.job.value);
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
    for (auto& [id, waiting] : cluster.waiters) {
        auto job = cluster.find_job(JobId{id});
        bool by_owner = false;
        auto count = std::erase_if(waiting, [&](const Waiter& waiter) {
            if (waiter.request != event.request) return false;
            by_owner = job && waiter.user == job->user;
            return true;
        });
        if (count == 0 || !job) continue;
        bool waits = job->state == JobState::Pending && job->request->kind != JobKind::Batch;
        if (waits && by_owner)
            abandoned.push_back(job->id);
        else
            left.push_back(job->id);
    }
    std::erase_if(cluster.waiters, [](const auto& entry) { return entry.second.empty(); });
    for (auto& [id, waiting] : cluster.step_waiters) {
        std::erase_if(waiting,
                      [&](const StepWaiter& waiter) { return waiter.request == event.request; });
    }
    std::erase_if(cluster.step_waiters, [](const auto& entry) { return entry.second.empty(); });
    // A step that was created meanwhile: no srun will launch it.
    for (const auto& [id, grants] : cluster.step_grants) {
        for (const StepGrant& grant : grants) {
            if (grant.request == event.request) end_step(cluster, JobId{id}, grant.step, effects);
        }
    }
    for (JobId id : abandoned) cancel_pending(cluster, now, id, cluster.job(id).user, effects);
    for (JobId id : left) await_salloc(cluster, now, cluster.job(id));
}

}  // namespace sluice
