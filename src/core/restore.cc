// core/restore.cc: restores a cluster from the store.
#include <algorithm>

#include "base/text.h"
#include "core/cluster.h"
#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/preempt.h"
#include "core/job/verbs.h"
#include "core/limits/licenses.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/limits/usage.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/place/pools.h"
#include "core/place/use.h"
#include "core/schedule/gang.h"
#include "core/schedule/priority.h"
#include "core/schedule/scheduler.h"

namespace sluice {

namespace {

// The indexes of the nodes that a stored record names; none: the node is no longer in slurm.conf.
using Resolved = std::vector<std::optional<NodeIndex>>;

Resolved resolve(const Cluster& cluster, const NodeNames& names) {
    Resolved indexes;
    for (const std::string& name : names) indexes.push_back(cluster.find_node(name));
    return indexes;
}

// Returns false if a node is unknown.
bool restore_shares(const Resolved& indexes, std::vector<NodeShare>& shares) {
    for (NodeShare& share : shares) {
        const std::optional<NodeIndex>& index = indexes.at(share.node.value);
        if (!index) return false;
        share.node = *index;
    }
    return true;
}

// Without the unknown ones.
void restore_list(const Resolved& indexes, std::vector<NodeIndex>& nodes) {
    std::erase_if(nodes, [&](NodeIndex node) { return !indexes.at(node.value); });
    for (NodeIndex& node : nodes) node = *indexes.at(node.value);
}

std::shared_ptr<const Step> restored_step(const Resolved& indexes, const Step& stored) {
    auto step = std::make_shared<Step>(stored);
    if (!restore_shares(indexes, step->nodes)) {  // it has ended, or its job is given up
        step->nodes.clear();
        step->nodes_left.clear();
    }
    restore_list(indexes, step->nodes_left);
    return step;
}

// Replaces positions in stored.nodes by indexes of the cluster. Returns false if the job holds
// nodes that are no longer in slurm.conf.
bool restore_nodes_of(const Cluster& cluster, const StoredJob& stored, Job& job) {
    const Resolved indexes = resolve(cluster, stored.nodes);
    bool is_whole = true;
    if (job.run.allocation) {
        auto allocation = std::make_shared<Allocation>(*job.run.allocation);
        const bool is_known = restore_shares(indexes, allocation->nodes);
        is_whole = is_known || (!is_live(job) && !is_completing(job));
        job.run.allocation = is_known ? std::move(allocation) : nullptr;
    }
    restore_list(indexes, job.run.completing_nodes);
    restore_list(indexes, job.run.preparing_nodes);
    for (auto& step : job.run.steps) step = restored_step(indexes, *step);
    return is_whole;
}

void restore_timers(Cluster& cluster, const Job& job, Time now) {
    if (is_over(job)) {
        Time end = job.run.end_time.value_or(now);
        cluster.add_timer({end + cluster.settings().min_job_age, TimerKind::Forget, job.id.value});
    } else if (job.state == JobState::Running) {
        set_clocks(cluster, job);
        await_batch_start(cluster, now, job);
        if (is_configuring(job)) cluster.add_timer({now, TimerKind::Configure, job.id.value});
        if (job.run.preempt_time) {
            cluster.add_timer({*job.run.preempt_time + preempt_rule(cluster, job).grace,
                               TimerKind::Preempt, job.id.value});
        }
    }
}

void hold_resources(Cluster& cluster, const Job& job, Time now) {
    if (!job.run.allocation) return;
    bool running = is_live(job);
    for (const NodeShare& share : job.run.allocation->nodes) {
        bool completing =
            std::find(job.run.completing_nodes.begin(), job.run.completing_nodes.end(),
                      share.node) != job.run.completing_nodes.end();
        if (!running && !completing) continue;
        take_share(cluster, job, share, now);
        if (completing) ++cluster.edit_node(share.node)->completing;
    }
    if (running || is_completing(job)) hold_licenses(cluster, job);
    if (job.array_job && (running || is_completing(job)))
        cluster.arrays().task_started(*job.array_job);
}

// Why a node was drained is unknown if its record is lost: it is drained until an administrator has
// looked at it.
void drain_damaged(Cluster& cluster, const std::string& name, Time now) {
    auto index = cluster.find_node(name);
    if (!index) return;
    const Edit<Node> node = cluster.edit_node(*index);
    node->admin_flags |= kNodeDrain;
    node->reason = "its stored record is damaged";
    node->reason_time = now;
    node->reason_user = cluster.settings().slurm_user;
    cluster.mark_stored(*index);
}

// The requests for these steps are lost; their nodes report whether they have them.
void restore_grants(Cluster& cluster, const Job& job, Time now) {
    if (!is_live(job)) return;
    for (const auto& step : job.run.steps) {
        if (step->state == StepState::Running && step->id != kExternStep)
            await_launch(cluster, now, job.id, *step, RequestId{});
    }
    await_srun(cluster, now, job);
    await_salloc(cluster, now, job);
}

// A program that was not started before the controller ended is started again. A node without a
// record of its power is as configured.
Power restored_power(const StoredNode& saved, const Power& configured) {
    if (!saved.power) return configured;
    Power power = *saved.power;
    if (power.started || power.state == PowerState::Up) return power;
    if (power.state == PowerState::PoweringDown) {
        power.state = PowerState::Up;
        power.wanted_down = true;
    } else if (power.state == PowerState::PoweringUp) {
        power.state = PowerState::Down;
        power.wanted_up = true;
    }
    return power;
}

void restore_node(Cluster& cluster, const StoredNode& saved, Time now) {
    auto index = cluster.find_node(saved.name);
    if (!index && saved.dynamic) index = cluster.add_dynamic_node(*saved.dynamic, now);
    if (!index) return;
    const Edit<Node> node = cluster.edit_node(*index);
    node->admin_flags = saved.admin_flags;
    node->down = saved.down;
    node->reason = saved.reason;
    node->reason_time = saved.reason_time;
    node->reason_user = saved.reason_user;
    node->comment = saved.comment;
    node->weight_by_hand = saved.weight;
    node->features_by_hand = saved.features;
    node->gres_by_hand = saved.gres;
    node->address_by_hand = saved.address;
    node->hostname_by_hand = saved.hostname;
    node->devices = saved.devices;
    node->resume_after = saved.resume_after;
    if (saved.resume_after)
        cluster.add_timer({*saved.resume_after, TimerKind::ResumeAfter, index->value});
    node->power = restored_power(saved, node->power);
    keep_changes_by_hand(*node);
    node->drained_gpus = saved.drained_gpus;
    configure_gres(*node, cluster.settings());
    node->reboot = saved.reboot;
    watch_reboot(cluster, *index);
}

}  // namespace

void Cluster::restore_damaged(const StoredState& stored, Time now) {
    damaged_ = std::make_shared<const std::vector<DamagedRow>>(stored.damaged);
    for (const DamagedRow& row : stored.damaged) {
        const bool is_replaced =
            std::any_of(stored.nodes.begin(), stored.nodes.end(),
                        [&](const auto& node) { return node.name == row.key; });
        if (row.kind == "node" && !is_replaced) drain_damaged(*this, row.key, now);
        const auto id = row.kind == "job" ? to_number(row.key) : std::nullopt;
        if (!id) continue;
        damaged_jobs_.insert(static_cast<std::uint32_t>(*id));
        next_job_id_ = std::max(next_job_id_, static_cast<std::uint32_t>(*id) + 1);
    }
}

void Cluster::restore(const StoredState& stored, Time now) {
    next_job_id_ = std::max(next_job_id_, stored.next_job_id);
    for (const StoredNode& saved : stored.nodes) restore_node(*this, saved, now);
    restore_damaged(stored, now);
    nodes_were_reweighted();
    refresh_layout();
    for (Reservation reservation : stored.reservations) {
        resolve_nodes(*this, reservation);
        put_reservation(std::move(reservation));
    }
    (void)reservations_.take_changed();  // they are in the store already
    if (stored.policy) {
        set_policy(*stored.policy);
        policy_changed_ = false;
    }
    if (!stored.reservations.empty()) add_timer({now, TimerKind::Reservation, 0});
    std::vector<JobId> unplaced;
    for (const StoredJob& saved : stored.jobs) {
        Job job = saved.job;
        if (!restore_nodes_of(*this, saved, job)) unplaced.push_back(job.id);
        job.request = shared(*job.request);
        job.details = shared(*job.details);
        JobId id = job.id;
        next_job_id_ = std::max(next_job_id_, id.value + 1);
        const Job& added = add_job(std::move(job));
        hold_resources(*this, added, now);
        restore_grants(*this, added, now);
        restore_timers(*this, added, now);
        if (added.run.awaits_cpus) keep_suspended_for_cpus(*this, added, now);
        if (added.state == JobState::Pending) enqueue(*this, added, now);
        watch_deadline(*this, added);
        recall_news(*this, added);
    }
    usage_.restore(stored.usage);
    triggers_.restore(stored.triggers);
    reset_usage_if_asked(*this, now);
    arrays_.forget_news_if([&](JobId array) { return is_array_over(*this, array); });
    restore_dependencies(*this, now);
    reprioritize_all(*this, now, true);
    changed_jobs_.clear();  // all of it is in the store already
    Effects nobody_to_tell;
    for (JobId id : unplaced) give_up_unplaced(*this, now, id, nobody_to_tell);
    for (std::uint32_t i = 0; i < node_count(); ++i) {
        node_is_heard(*this, *edit_node(NodeIndex{i}), now);
        watch_node(*this, NodeIndex{i});
    }
    count_anew(*this);
    watch_used_minutes(*this, now);
    watch_health(*this, now);
    watch_power(*this, now);
    recall_triggers(*this, now);
    want_pass();
}

}  // namespace sluice
