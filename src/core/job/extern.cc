// core/job/extern.cc
//
// PrologFlags=Alloc and Contain: what the nodes of a job do when the job gets them. With Contain
// each runs the step "extern", a container for processes that slurmd does not start. It holds
// nothing of the job's resources, ends with the job, and no ending of it is an ending of the job.
#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "model/errors.h"

namespace sluice {

namespace {

const Step* running_extern(const Job& job) {
    for (const auto& step : job.run.steps) {
        if (step->id == kExternStep && step->state == StepState::Running) return step.get();
    }
    return nullptr;
}

bool has(const std::vector<NodeIndex>& nodes, NodeIndex node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

void add_extern_step(Cluster& cluster, Time now, JobId id) {
    if (running_extern(cluster.job(id))) return;
    const Edit<Job> job = cluster.edit_job(id);
    auto step = std::make_shared<Step>();
    step->id = kExternStep;
    step->name = "extern";
    step->user = job->user;
    step->nodes = job->run.allocation->nodes;
    step->node_names = job->run.allocation->node_names;
    step->overlap = true;
    step->start_time = now;
    step->tasks = static_cast<std::uint32_t>(step->nodes.size());  // Compat: one on each node
    for (NodeShare& share : step->nodes) {
        share.tasks = 1;
        step->nodes_left.push_back(share.node);
    }
    job->run.steps.push_back(step);
    cluster.facts().step_changed(job->id, job->run.restarts, step);
}

void prepare_again(const Cluster& cluster, const Job& job, const NodeRegistered& event,
                   Effects& effects) {
    const NodeIndex node = *cluster.find_node(event.node);
    const Step* step = running_extern(job);
    const bool contain = step && has(step->nodes_left, node) && !step->cancelled;
    const RunId run{job.id, job.run.restarts, kExternStep};
    const bool is_known =
        std::find(event.running.begin(), event.running.end(), run) != event.running.end();
    if (has(job.run.preparing_nodes, node) || (contain && !is_known))
        effects.push_back(PrepareJob{node, cluster.find_job(job.id), contain});
}

// Another run would not find the data either.
static void data_is_unavailable(Cluster& cluster, Time now, JobId id, const LaunchReported& event,
                                Effects& effects) {
    complete_running(cluster, now, id, ExitStatus{.code = 1}, effects);
    const Edit<Job> job = cluster.edit_job(id);
    job->reason = Reason::StageInFailed;
    job->reason_detail =
        fmt::format("{}: {}", cluster.node(event.node).config.name, event.error->detail);
}

// A node that cannot contain the job runs it all the same.
void on_preparation_reported(Cluster& cluster, Time now, JobId id, const LaunchReported& event,
                             Effects& effects) {
    if (event.error && event.error->code == ErrorCode::DataUnavailable)
        return data_is_unavailable(cluster, now, id, event, effects);
    if (!is_prolog_failure(event.error))
        return node_is_prepared(cluster, now, id, event.node, effects);
    const Job& job = cluster.job(id);
    const bool is_batch = job.request->kind == JobKind::Batch;
    const bool is_forced = is_batch && cluster.settings().prolog_rules.force_requeue;
    if (is_forced || may_be_requeued(job)) {
        cluster.edit_job(id)->reason = Reason::JobLaunchFailure;
        end_running(cluster, now, id, reason_after_prolog(cluster), effects);
    } else if (is_batch) {
        complete_running(cluster, now, id, ExitStatus{.code = 1}, effects);
        cluster.edit_job(id)->reason = Reason::JobLaunchFailure;
    } else {
        end_running(cluster, now, id, KillReason::Cancelled, effects);
    }
}

bool runs_step_of_srun(const Job& job) {
    return std::any_of(job.run.steps.begin(), job.run.steps.end(), [](const auto& step) {
        return step->state == StepState::Running && step->id != kExternStep;
    });
}

}  // namespace sluice
