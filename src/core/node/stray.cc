// core/node/stray.cc
//
// Runs that reach a node after their job has ended there. srun launches steps itself, with a
// credential that outlives the job; an order to launch may be in transit when the node is given up.
// Nodes report their runs when they register, and each run they start; a run without a job is
// ended.
#include <algorithm>

#include "core/job/suspend.h"
#include "core/job/verbs.h"
#include "core/node/verbs.h"

namespace sluice {
namespace {

template <typename T>
bool has(const std::vector<T>& values, const T& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

bool is_step_wanted(const Job& job, StepId id, NodeIndex node) {
    return std::any_of(job.run.steps.begin(), job.run.steps.end(), [&](const auto& step) {
        return step->id == id && step->state == StepState::Running && has(step->nodes_left, node);
    });
}

}  // namespace

// A run whose share was given back, because the node was lost, is not wanted even while the job's
// other nodes are still being cleaned: its end is not awaited.
bool is_wanted(const Job& job, const RunId& run, NodeIndex node) {
    if (job.run.restarts != run.restarts || !job.run.allocation) return false;
    if (is_completing(job)) return has(job.run.completing_nodes, node);
    return is_live(job) && job.run.allocation->find(node);
}

void end_stray(Cluster& cluster, NodeIndex node, const RunId& run, Effects& effects,
               std::shared_ptr<const Job> for_epilog) {
    RunId whole{run.job, run.restarts, kBatchStep};
    const Edit<Node> edit = cluster.edit_node(node);
    if (has(edit->orphans, whole)) return;
    edit->orphans.push_back(whole);
    effects.push_back(TerminateJob{.node = node,
                                   .run = whole,
                                   .grace = Seconds{0},
                                   .reason_line = {},
                                   .for_epilog = std::move(for_epilog)});
}

void step_is_launched(Cluster& cluster, const Job& job, const LaunchReported& event,
                      Effects& effects) {
    if (!is_step_wanted(job, event.run.step, event.node)) {
        effects.push_back(TerminateJob{.node = event.node,
                                       .run = event.run,
                                       .grace = cluster.settings().kill_wait,
                                       .reason_line = {},
                                       .only_step = true});
        return;
    }
    launch_is_here(cluster, event.node, event.run);
    // The order to stop came before there were processes.
    if (job.state == JobState::Suspended) repeat_suspension(job, event.node, effects);
}

}  // namespace sluice
