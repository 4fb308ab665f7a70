// core/job/wait.cc: whoever waits for a job to start or to end.
#include <algorithm>

#include "core/job/verbs.h"
#include "model/errors.h"

namespace sluice {

namespace {

bool has_happened(const Job& job, WaitFor what) {
    if (is_over(job)) return true;
    return what == WaitFor::Allocated && is_live(job) && job.allocation;
}

}  // namespace

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
    cluster.waiters[event.job.value].push_back({event.request, event.until, event.caller.user});
    answer_waiters(cluster, event.job, event.until, effects);
}

void on_show_allocation(Cluster& cluster, Time, const ShowAllocation& event, Effects& effects) {
    auto job = cluster.find_job(event.job);
    if (!job) {
        effects.push_back(Reply{event.request, Error{ErrorCode::InvalidJobId, {}}});
    } else if (!may_change(cluster, event.caller, *job)) {
        effects.push_back(Reply{event.request, Error{ErrorCode::AccessDenied, {}}});
    } else {
        effects.push_back(Reply{event.request, AllocationShown{job}});
    }
}

void on_request_dropped(Cluster& cluster, Time now, const RequestDropped& event, Effects& effects) {
    std::vector<JobId> abandoned;
    for (auto& [id, waiting] : cluster.waiters) {
        auto count = std::erase_if(waiting, [&](const Waiter& waiter) { return waiter.request == event.request; });
        auto job = cluster.find_job(JobId{id});
        if (count > 0 && job && job->state == JobState::Pending && job->request->kind != JobKind::Batch) {
            abandoned.push_back(job->id);
        }
    }
    std::erase_if(cluster.waiters, [](const auto& entry) { return entry.second.empty(); });
    for (auto& [id, waiting] : cluster.step_waiters) {
        std::erase_if(waiting, [&](const StepWaiter& waiter) { return waiter.request == event.request; });
    }
    std::erase_if(cluster.step_waiters, [](const auto& entry) { return entry.second.empty(); });
    // A step that was made meanwhile: nobody will launch it.
    for (const auto& [id, grants] : cluster.step_grants) {
        for (const StepGrant& grant : grants) {
            if (grant.request == event.request) end_step(cluster, JobId{id}, grant.step, effects);
        }
    }
    for (JobId id : abandoned) cancel_pending(cluster, now, id, cluster.job(id).user, effects);
}

}  // namespace sluice
