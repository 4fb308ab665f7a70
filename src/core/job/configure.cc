// core/job/configure.cc
//
// Between its allocation and its launch a job waits until its nodes are switched on
// (core/node/power.h), for PrologSlurmctld, and with PrologFlags=Alloc
// for the Prolog of its nodes; it shows as CONFIGURING. After a restart of the controller the
// program runs again. If it fails, a batch job is requeued, and held once it was restarted
// MaxBatchRequeue times; another job is cancelled. For the Prolog see launch.cc.
#include <algorithm>

#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/verbs.h"
#include "core/node/power.h"
#include "core/place/data.h"

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

bool has_data_work(const Job& job) {
    return !job.details->text(&JobDetails::stage_in).empty();
}

// A job with data work waits for it on all of its nodes.
PrologRules rules_for(const Settings& settings, const Job& job) {
    PrologRules rules = settings.prolog_rules;
    if (has_data_work(job)) rules.at_allocation = rules.holds = rules.holds_for_all = true;
    return rules;
}

// Jobs that start now find each other's nodes; the nodes say later what they really have.
void expect_datasets(Cluster& cluster, const Job& job) {
    const std::set<std::uint64_t> sources = data_sources(job);
    if (sources.empty()) return;
    for (const NodeShare& share : job.run.allocation->nodes) {
        const Edit<Node> node = cluster.edit_node(share.node);
        if (!node->facts) continue;
        std::vector<std::uint64_t>& here = node->facts->datasets;
        for (const std::uint64_t source : sources) {
            const auto place = std::lower_bound(here.begin(), here.end(), source);
            const bool is_known = place != here.end() && *place == source;
            if (!is_known && here.size() < sizes::kDatasetCount) here.insert(place, source);
        }
    }
}

// PrologSlurmctld has ended, if there is one.
void prepare_nodes(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const PrologRules rules = rules_for(cluster.settings(), cluster.job(id));
    if (!rules.at_allocation) return launch(cluster, now, id, effects);
    if (rules.contains) add_extern_step(cluster, now, id);
    if (rules.holds) {
        const Edit<Job> job = cluster.edit_job(id);
        job->run.preparing_nodes.clear();
        for (const NodeShare& share : job->run.allocation->nodes)
            job->run.preparing_nodes.push_back(share.node);
    }
    const std::shared_ptr<const Job> job = cluster.find_job(id);
    expect_datasets(cluster, *job);
    for (const NodeShare& share : job->run.allocation->nodes)
        effects.push_back(PrepareJob{share.node, job, rules.contains});
    if (!rules.holds) launch(cluster, now, id, effects);
}

}  // namespace

bool waits_before_launch(const Settings& settings, const Job& job) {
    return settings.has_controller_prolog || rules_for(settings, job).holds;
}

void prepare_job(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const Job& job = cluster.job(id);
    if (!is_live(job) || job.run.launched) return;
    if (awaits_boot(cluster, job)) return want_power_check(cluster, now);
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
        job.request->kind == JobKind::Batch && !rules_for(cluster.settings(), job).holds_for_all;
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
