#include "core/job/suspend.h"

#include <algorithm>
#include <csignal>

#include "core/job/moves.h"
#include "core/job/verbs.h"
#include "core/limits/limit_book.h"
#include "core/place/use.h"
#include "model/errors.h"

namespace sluice {

namespace {

// Signals every process of the job there: of the batch script and of all steps.
void signal_all(const Job& job, NodeIndex node, int signal, Effects& effects) {
    effects.push_back(SignalJob{.node = node,
                                .run = {job.id, job.run.restarts, kBatchStep},
                                .signal = signal,
                                .batch_shell = true,
                                .children = true,
                                .steps = true,
                                .suspension = true});
}

}  // namespace

std::optional<Error> suspend_refusal(const Job& job) {
    if (job.state == JobState::Pending) return Error{ErrorCode::JobPending, {}};
    if (!is_live(job)) return Error{ErrorCode::JobFinished, {}};
    if (job.run.configuring) return Error{ErrorCode::JobPending, {}};
    return {};
}

std::optional<Error> resume_refusal(const Cluster& cluster, const Job& job) {
    if (auto refused = suspend_refusal(job)) return refused;
    if (job.state != JobState::Suspended) return Error{ErrorCode::JobNotSuspended, {}};
    if (!may_resume(cluster, job)) return Error{ErrorCode::NodesBusy, {}};
    return {};
}

std::optional<Error> suspend_job(Cluster& cluster, Time now, JobId id, Effects& effects) {
    if (auto refused = suspend_refusal(cluster.job(id))) return refused;
    if (cluster.job(id).state == JobState::Suspended) {
        if (!cluster.job(id).run.awaits_cpus) return {};
        cluster.edit_job(id)->run.awaits_cpus =
            false;  // suspended by hand: other jobs may use its CPUs
        cluster.touch_nodes_of(cluster.job(id));
        cluster.want_pass();
        return {};
    }
    const Edit<Job> job = cluster.edit_job(id);
    move_to(*job, JobState::Suspended);
    job->run.suspend_time = now;
    std::shared_ptr<const Allocation> held = job->run.allocation;
    for (const NodeShare& share : held->nodes) {
        lend_cpus(cluster, *job, share);
        signal_all(*job, share.node, SIGSTOP, effects);
    }
    job->run.cpus_lent = true;
    cluster.jobs_changed_state(id);
    return {};
}

bool may_resume(const Cluster& cluster, const Job& job) {
    return std::all_of(
        job.run.allocation->nodes.begin(), job.run.allocation->nodes.end(),
        [&](const NodeShare& share) { return may_reclaim_cpus(cluster, job, share); });
}

std::optional<Error> resume_job(Cluster& cluster, Time now, JobId id, Effects& effects) {
    if (auto refused = resume_refusal(cluster, cluster.job(id))) return refused;
    {
        const Edit<Job> job = cluster.edit_job(id);
        leave_suspension(*job, now);
        job->run.cpus_lent = false;
        for (const NodeShare& share : job->run.allocation->nodes) {
            reclaim_cpus(cluster, *job, share);
            signal_all(*job, share.node, SIGCONT, effects);
        }
    }
    cluster.jobs_changed_state(id);
    count_job(cluster, cluster.job(id));  // it ends later
    set_clocks(cluster, cluster.job(id));
    retry_waiting_steps(cluster, now, id, effects);
    return {};
}

void leave_suspension(Job& job, Time now) {
    if (job.state != JobState::Suspended) return;
    move_to(job, JobState::Running);
    job.run.awaits_cpus = false;
    job.run.suspended +=
        std::max(now - *job.run.suspend_time, Seconds{0});  // the clock may be set back
    job.run.suspend_time = now;
}

void repeat_suspension(const Job& job, NodeIndex node, Effects& effects) {
    signal_all(job, node, job.state == JobState::Suspended ? SIGSTOP : SIGCONT, effects);
}

}  // namespace sluice
