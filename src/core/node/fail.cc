// core/node/fail.cc
//
// A node is lost. Its jobs are requeued if they may be, else they have failed; those with --no-kill
// continue on their other nodes. Whatever may still run on the node is ended when it comes back,
// before it gets new jobs.
#include <algorithm>

#include "core/job/resize.h"
#include "core/job/verbs.h"
#include "core/limits/reservations.h"
#include "core/node/verbs.h"
#include "model/errors.h"

namespace sluice {
namespace {

// When the node is given up as silent. Time in which the controller was blocked does not count:
// messages of the node were waiting to be read.
Time silence_end(const Cluster& cluster, const Node& node) {
    const Seconds blocked = cluster.blocked_time() - node.blocked_before;
    return *node.last_seen + blocked + cluster.settings().slurmd_timeout;
}

}  // namespace

void node_is_heard(const Cluster& cluster, Node& node, Time now) {
    node.last_seen = now;
    node.blocked_before = cluster.blocked_time();
}

void fail_jobs_on(Cluster& cluster, Time now, NodeIndex index, Effects& effects) {
    std::vector<JobId> jobs = cluster.node(index).jobs;
    for (JobId id : jobs) {
        const Job& job = cluster.job(id);
        if (is_live(job) && survives_loss_of(job, index)) {
            go_on_without(cluster, now, id, index, effects);
            continue;
        }
        if (is_live(job)) {
            end_running(cluster, now, id,
                        may_be_requeued(job) ? KillReason::NodeFailRequeue : KillReason::NodeFail,
                        effects);
        }
        // A connected node was told to end it, and takes no new jobs before it has. Another node
        // will be told when it registers, as an srun may have launched a step there meanwhile.
        // On a node that is switched off nothing of it was started.
        if (cluster.node(index).power.state == PowerState::Up)
            cluster.edit_node(index)->orphans.push_back(
                {id, cluster.job(id).run.restarts, kBatchStep});
        node_is_clean(cluster, now, id, index, effects);
    }
}

// A job may have started there after the controller checked: no report of its end would come.
void node_was_removed(Cluster& cluster, Time now, NodeIndex index, Effects& effects) {
    fail_jobs_on(cluster, now, index, effects);
    if (!cluster.node(index).connected) return;
    cluster.edit_node(index)->connected = false;
    const std::string& name = cluster.node(index).config.name;
    effects.push_back(NodeAnswered{name, Error{ErrorCode::InvalidNodeName, name}});
}

// Otherwise job after job would fail on it.
void drain_after_hook(Cluster& cluster, Time now, NodeIndex index, std::string reason) {
    const Edit<Node> node = cluster.edit_node(index);
    if (node->admin_flags & kNodeDrain) return;  // the reason for that stays
    node->admin_flags |= kNodeDrain;
    if (!node->down) set_reason(*node, std::move(reason), cluster.settings().slurm_user, now);
    cluster.mark_stored(index);
    look_after_reservations(cluster, now);
}

// Compat: the reason that administrators search for.
void on_kill_failed(Cluster& cluster, Time now, const KillFailed& event) {
    drain_after_hook(cluster, now, event.node, "Kill task failed");
}

// One timer per node, due when it will have been silent for too long; a message from it moves that.
void watch_node(Cluster& cluster, NodeIndex index) {
    const Edit<Node> node = cluster.edit_node(index);
    Seconds timeout = cluster.settings().slurmd_timeout;
    if (node->watched || !node->last_seen || timeout == Seconds{0}) return;
    node->watched = true;
    cluster.add_timer({silence_end(cluster, *node), TimerKind::NodeTimeout, index.value});
}

// The timeout has changed and the old timers are gone. Counted from now: a node that reports at the
// old interval must not be lost before it has learned of the new one.
void watch_nodes_anew(Cluster& cluster, Time now) {
    const Seconds timeout = cluster.settings().slurmd_timeout;
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value) {
        const Edit<Node> node = cluster.edit_node(index);
        node->watched = node->last_seen && timeout != Seconds{0};
        if (node->watched) cluster.add_timer({now + timeout, TimerKind::NodeTimeout, index.value});
    }
}

void node_timed_out(Cluster& cluster, Time now, NodeIndex index, Effects& effects) {
    cluster.edit_node(index)->watched = false;
    const Node& silent = cluster.node(index);
    if (silent.down || silent.removed || silent.power.state != PowerState::Up) return;
    if (silent.reboot && silent.reboot->issued)
        return;  // it is expected to be silent up to ResumeTimeout
    if (silent.last_seen && silence_end(cluster, silent) > now) return watch_node(cluster, index);
    {
        const Edit<Node> node = cluster.edit_node(index);
        node->down = true;
        node->connected = false;
        // A clock that differed is measured again when the node registers.
        if (node->reason.empty() || has_clock_reason(*node))
            set_reason(*node, "Not responding", cluster.settings().slurm_user, now);
    }
    cluster.mark_stored(index);
    fail_jobs_on(cluster, now, index, effects);
    look_after_reservations(cluster, now);
    // Perhaps only its connection hung: when it is heard again, it has to register again.
    effects.push_back(NodeAnswered{cluster.node(index).config.name,
                                   Error{ErrorCode::Timeout, "the node was silent for too long"}});
}

}  // namespace sluice
