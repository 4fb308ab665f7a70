#include "core/job/preempt.h"

#include <csignal>

#include "core/job/verbs.h"

namespace sluice {

namespace {

// A script without a handler runs on until the grace time is over, so that its steps can end
// properly.
void tell(const Job& job, int signal, Effects& effects) {
    for (const NodeShare& share : job.run.allocation->nodes) {
        bool head = &share == &job.run.allocation->nodes.front();
        effects.push_back(SignalJob{.node = share.node,
                                    .run = {job.id, job.run.restarts, kBatchStep},
                                    .signal = signal,
                                    .batch_shell = head,
                                    .children = true,
                                    .steps = true,
                                    .if_handled = true});
    }
}

}  // namespace

KillReason reason_to_end_preempted(const Cluster& cluster, const Job& job) {
    bool again = preempt_rule(cluster, job).mode == PreemptMode::Requeue && may_be_requeued(job);
    return again ? KillReason::PreemptedRequeue : KillReason::Preempted;
}

bool counts_as_preempted(const Cluster& cluster, const Job& job, const ExitStatus& exit) {
    if (!job.run.preempt_time) return false;
    return exit.failed() || reason_to_end_preempted(cluster, job) == KillReason::PreemptedRequeue;
}

void preempt_job(Cluster& cluster, Time now, JobId id, JobId preemptor, Effects& effects) {
    {
        const Edit<Job> job = cluster.edit_job(id);
        job->run.preempt_time = now;
        job->run.preemptor = preemptor;
    }
    const Seconds grace = preempt_rule(cluster, cluster.job(id)).grace;
    if (grace.count() <= 0) {
        end_preempted(cluster, now, id, effects);
        return;
    }
    const std::shared_ptr<const Job> told = cluster.find_job(id);
    const bool has_own_signal = told->request->warn_signal && !told->run.warned;
    if (has_own_signal && cluster.settings().preempt.send_user_signal) {
        // Compat: instead of SIGTERM, which would end what does not handle it.
        send_warning(cluster, *told, effects);
    } else {
        tell(*told, SIGCONT, effects);
        tell(*told, SIGTERM, effects);
    }
    cluster.add_timer({now + grace, TimerKind::Preempt, id.value});
}

void end_preempted(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const Job& job = cluster.job(id);
    if (job.state != JobState::Running || is_completing(job) || !job.run.preempt_time) return;
    if (now < *job.run.preempt_time + preempt_rule(cluster, job).grace) return;
    end_running(cluster, now, id, reason_to_end_preempted(cluster, job), effects);
}

}  // namespace sluice
