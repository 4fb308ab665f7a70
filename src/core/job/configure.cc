// core/job/configure.cc
//
// Between its allocation and its launch a job waits for PrologSlurmctld; it shows as CONFIGURING.
// After a restart of the controller the program runs again. If it fails, a batch job is requeued,
// and held once it was restarted MaxBatchRequeue times; another job is cancelled.
#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/verbs.h"

namespace sluice {

namespace {

void launch(Cluster& cluster, Time now, JobId id, Effects& effects) {
    if (cluster.job(id).run.configuring) {
        cluster.edit_job(id)->run.configuring = false;
        cluster.jobs_changed_state(id);
    }
    std::shared_ptr<const Job> job = cluster.find_job(id);
    if (job->request->kind == JobKind::Batch) {
        effects.push_back(LaunchBatch{job->run.allocation->nodes.front().node, job});
        await_batch_start(cluster, now, *job);
    }
    answer_waiters(cluster, id, WaitFor::Allocated, effects);
    mail_start(cluster, *job, effects);
    await_srun(cluster, now, *job);
    await_salloc(cluster, now, *job);
    retry_waiting_steps(cluster, now, id, effects);
    tell_of_start(cluster, now, id);
}

}  // namespace

void prepare_job(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const Job& job = cluster.job(id);
    if (!is_live(job) || job.run.launched) return;
    if (!job.run.configuring || !cluster.settings().has_controller_prolog) {
        return launch(cluster, now, id, effects);
    }
    effects.push_back(RunJobProgram{true, cluster.find_job(id)});
}

void on_job_program_ended(Cluster& cluster, Time now, const JobProgramEnded& event,
                          Effects& effects) {
    const auto job = cluster.find_job(event.run.job);
    if (!job || job->run.restarts != event.run.restarts || !is_configuring(*job)) return;
    if (!event.failed) return launch(cluster, now, job->id, effects);
    KillReason reason = KillReason::Cancelled;
    if (may_be_requeued(*job)) {
        const bool again = job->run.restarts < cluster.settings().max_batch_requeue;
        reason = again ? KillReason::Requeue : KillReason::RequeueHold;
    }
    end_running(cluster, now, job->id, reason, effects);
}

}  // namespace sluice
