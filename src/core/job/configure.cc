// core/job/configure.cc
//
// Between its allocation and its launch a job waits for PrologSlurmctld, and with PrologFlags=Alloc
// for the Prolog of its nodes; it shows as CONFIGURING. After a restart of the controller the
// program runs again. If it fails, a batch job is requeued, and held once it was restarted
// MaxBatchRequeue times; another job is cancelled. For the Prolog see launch.cc.
#include <algorithm>

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

// PrologSlurmctld has ended, if there is one.
void prepare_nodes(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const PrologRules& rules = cluster.settings().prolog_rules;
    if (!rules.at_allocation) return launch(cluster, now, id, effects);
    if (rules.contains) add_extern_step(cluster, now, id);
    if (rules.holds) {
        const Edit<Job> job = cluster.edit_job(id);
        job->run.preparing_nodes.clear();
        for (const NodeShare& share : job->run.allocation->nodes)
            job->run.preparing_nodes.push_back(share.node);
    }
    const std::shared_ptr<const Job> job = cluster.find_job(id);
    for (const NodeShare& share : job->run.allocation->nodes)
        effects.push_back(PrepareJob{share.node, job, rules.contains});
    if (!rules.holds) launch(cluster, now, id, effects);
}

}  // namespace

bool waits_before_launch(const Settings& settings) {
    return settings.has_controller_prolog || settings.prolog_rules.holds;
}

void prepare_job(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const Job& job = cluster.job(id);
    if (!is_live(job) || job.run.launched) return;
    if (!job.run.configuring || !cluster.settings().has_controller_prolog) {
        return prepare_nodes(cluster, now, id, effects);
    }
    effects.push_back(RunJobProgram{true, cluster.find_job(id)});
}

// A batch script is launched when the first node is ready: where the Prolog still runs, slurmd lets
// the script wait.
void node_is_prepared(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects) {
    const std::vector<NodeIndex>& awaited = cluster.job(id).run.preparing_nodes;
    if (std::find(awaited.begin(), awaited.end(), node) == awaited.end()) return;
    std::erase(cluster.edit_job(id)->run.preparing_nodes, node);
    const Job& job = cluster.job(id);
    const bool first_is_enough =
        job.request->kind == JobKind::Batch && !cluster.settings().prolog_rules.holds_for_all;
    const bool is_ready = first_is_enough || job.run.preparing_nodes.empty();
    if (is_ready && is_configuring(job)) launch(cluster, now, id, effects);
}

void on_job_program_ended(Cluster& cluster, Time now, const JobProgramEnded& event,
                          Effects& effects) {
    const auto job = cluster.find_job(event.run.job);
    if (!job || job->run.restarts != event.run.restarts || !is_configuring(*job)) return;
    if (!event.failed) return prepare_nodes(cluster, now, job->id, effects);
    KillReason reason = KillReason::Cancelled;
    if (may_be_requeued(*job)) {
        const bool again = job->run.restarts < cluster.settings().max_batch_requeue;
        reason = again ? KillReason::Requeue : KillReason::RequeueHold;
    }
    end_running(cluster, now, job->id, reason, effects);
}

}  // namespace sluice
