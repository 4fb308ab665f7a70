#include "core/job/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/limit_book.h"
#include "core/limits/usage.h"
#include "core/node/verbs.h"
#include "core/place/pools.h"
#include "core/place/use.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

std::string names_of(const Cluster& cluster, const std::vector<NodeShare>& nodes) {
    std::vector<std::string> names;
    for (const NodeShare& share : nodes) names.push_back(cluster.node(share.node).config.name);
    return Hostlist(std::move(names)).to_string();
}

std::shared_ptr<const Allocation> allocation_of(const Cluster& cluster,
                                                std::vector<NodeShare> nodes,
                                                std::uint8_t sharers) {
    std::string names = names_of(cluster, nodes);
    return std::make_shared<const Allocation>(
        Allocation{.nodes = std::move(nodes), .node_names = std::move(names), .sharers = sharers});
}

Result<void> keep(const Cluster& cluster, Job& draft, std::vector<NodeShare> nodes) {
    if (nodes.size() == draft.run.allocation->nodes.size()) return {};
    if (cluster.settings().disable_job_shrink) {
        return Error{ErrorCode::NotSupported, "to shrink a running job (disable_job_shrink)"};
    }
    draft.run.allocation = allocation_of(cluster, std::move(nodes), draft.run.allocation->sharers);
    return {};
}

// Removes the node from the step; the step ends if it had no other node. The node's own report may
// never come, as the node is no longer the job's.
void leave_step(Cluster& cluster, Time now, JobId id, const Step& step, NodeIndex node,
                Effects& effects) {
    RunId run{id, cluster.job(id).run.restarts, step.id};
    const StepId which = step.id;
    launch_is_here(cluster, node, run);
    on_step_ended(cluster, now,
                  {node, run, ExitStatus{.code = 0, .signal = SIGKILL, .oom_killed = false}},
                  effects);
    const Edit<Job> job = cluster.edit_job(id);
    for (auto& left : job->run.steps) {
        if (left->id != which || left->state != StepState::Running) continue;
        auto smaller = std::make_shared<Step>(*left);
        std::erase_if(smaller->nodes, [&](const NodeShare& share) { return share.node == node; });
        smaller->tasks = 0;
        for (const NodeShare& share : smaller->nodes) smaller->tasks += share.tasks;
        smaller->node_names = names_of(cluster, smaller->nodes);
        left = std::move(smaller);
    }
}

bool runs_on(const Step& step, NodeIndex node) {
    return step.state == StepState::Running &&
           std::any_of(step.nodes.begin(), step.nodes.end(),
                       [&](const NodeShare& share) { return share.node == node; });
}

const Condition* expansion_in(const Dependency& dependency) {
    for (const Condition& condition : dependency.left) {
        if (condition.kind == DependencyKind::Expand) return &condition;
    }
    return nullptr;
}

bool are_alike(const Job& job, const Job& other) {
    return job.user == other.user && job.partition == other.partition &&
           job.request->qos == other.request->qos &&
           job.request->account == other.request->account &&
           job.run.reservation == other.run.reservation;
}

Exclusive exclusive_of(const Cluster& cluster, const Job& job) {
    const Partition* partition = cluster.find_partition(job.partition);
    return exclusive_in(job, partition ? partition->config : PartitionConfig{});
}

bool keeps_longer(const Job& job, const Job& other) {
    if (other.time_limit.unlimited()) return false;
    return job.time_limit.unlimited() || limit_end(job) > limit_end(other);
}

// Why the nodes of `from` cannot be given to `to`; empty: they can.
std::string_view obstacle(const Cluster& cluster, const Job& from, const Job& to) {
    if (!are_alike(from, to))
        return "the jobs differ in user, partition, account, QOS or reservation";
    if (from.run.allocation->sharers > 1 || to.run.allocation->sharers > 1)
        return "the jobs share their CPUs with others";
    if (exclusive_of(cluster, from) != exclusive_of(cluster, to))
        return "one of the jobs has its nodes for itself";
    // Reservations and bookings of the nodes after that time must hold.
    if (keeps_longer(to, from)) return "it would have the nodes for longer than they were given";
    const bool has_script = to.request->kind == JobKind::Batch;
    // The processes of a batch script are confined to what the job had there at its start.
    if (has_script && from.run.allocation->find(to.run.allocation->nodes.front().node))
        return "both hold the batch script's node";
    return {};
}

void add_devices(std::vector<NodeShare::Devices>& sum, const NodeShare::Devices& more) {
    for (NodeShare::Devices& devices : sum) {
        if (devices.name != more.name || devices.type != more.type) continue;
        devices.count += more.count;
        for (std::size_t i = 0; i < more.parts.size(); ++i)
            add_part(devices, more.indexes[i], more.parts[i]);
        if (!more.parts.empty()) return;
        devices.indexes.insert(devices.indexes.end(), more.indexes.begin(), more.indexes.end());
        std::sort(devices.indexes.begin(), devices.indexes.end());
        return;
    }
    sum.push_back(more);
}

void add_share(std::vector<NodeShare>& nodes, const NodeShare& more) {
    auto same = std::find_if(nodes.begin(), nodes.end(),
                             [&](const NodeShare& share) { return share.node == more.node; });
    if (same == nodes.end()) return nodes.push_back(more);
    same->tasks += more.tasks;
    same->memory += more.memory;
    same->cpus.insert(same->cpus.end(), more.cpus.begin(), more.cpus.end());
    std::sort(same->cpus.begin(), same->cpus.end());
    for (const NodeShare::Devices& devices : more.gres) add_devices(same->gres, devices);
}

std::vector<NodeShare> sum_of(const Job& job, const Allocation& more) {
    std::vector<NodeShare> nodes = job.run.allocation->nodes;
    for (const NodeShare& share : more.nodes) add_share(nodes, share);
    auto after_script = nodes.begin() + (job.request->kind == JobKind::Batch ? 1 : 0);
    std::sort(after_script, nodes.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    return nodes;
}

}  // namespace

Result<void> keep_first_nodes(const Cluster& cluster, Job& draft, std::uint32_t count) {
    std::vector<NodeShare> nodes = draft.run.allocation->nodes;
    if (count == 0) return Error{ErrorCode::InvalidNodeCount, {}};
    // Compat: more nodes are only for waiting jobs.
    if (count > nodes.size()) return Error{ErrorCode::JobNotPending, {}};
    nodes.resize(count);
    return keep(cluster, draft, std::move(nodes));
}

Result<void> keep_named_nodes(const Cluster& cluster, Job& draft, const std::string& list) {
    const Error unfit{ErrorCode::InvalidNodeName, {}};
    Result<Hostlist> named = Hostlist::parse(list);
    if (!named || named->names().empty()) return unfit;
    std::set<NodeIndex> wanted;
    for (const std::string& name : named->names()) {
        std::optional<NodeIndex> index = cluster.find_node(name);
        if (!index || !draft.run.allocation->find(*index)) return unfit;
        wanted.insert(*index);
    }
    std::vector<NodeShare> nodes = draft.run.allocation->nodes;
    const bool has_script = draft.request->kind == JobKind::Batch;
    if (has_script && !wanted.contains(nodes.front().node)) return unfit;
    std::erase_if(nodes, [&](const NodeShare& share) { return !wanted.contains(share.node); });
    return keep(cluster, draft, std::move(nodes));
}

void leave_nodes(Cluster& cluster, Time now, const std::shared_ptr<const Job>& before,
                 Effects& effects) {
    const JobId id = before->id;
    std::shared_ptr<const Job> job = cluster.find_job(id);
    const std::shared_ptr<const Job> for_epilog = cluster.settings().has_epilog ? before : nullptr;
    for (const NodeShare& share : before->run.allocation->nodes) {
        if (job->run.allocation->find(share.node)) continue;
        for (const auto& step : job->run.steps) {
            if (runs_on(*step, share.node))
                leave_step(cluster, now, id, *step, share.node, effects);
        }
        give_back_share(cluster, *job, share, now);
        node_is_prepared(cluster, now, id, share.node, effects);
        end_stray(cluster, share.node, {id, job->run.restarts, kBatchStep}, effects, for_epilog);
    }
    retry_waiting_steps(cluster, now, id, effects);
}

bool survives_loss_of(const Job& job, NodeIndex node) {
    const std::vector<NodeShare>& nodes = job.run.allocation->nodes;
    const bool has_script = job.request->kind == JobKind::Batch && nodes.front().node == node;
    return !job.request->kill_on_node_fail && job.state == JobState::Running &&
           !is_completing(job) && nodes.size() > 1 && !has_script;
}

void go_on_without(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects) {
    const std::shared_ptr<const Job> before = cluster.find_job(id);
    std::vector<NodeShare> nodes = before->run.allocation->nodes;
    std::erase_if(nodes, [&](const NodeShare& share) { return share.node == node; });
    {
        const Edit<Job> job = cluster.edit_job(id);
        count_usage(cluster, now, *job);
        job->run.allocation =
            allocation_of(cluster, std::move(nodes), before->run.allocation->sharers);
    }
    count_job(cluster, cluster.job(id));
    leave_nodes(cluster, now, before, effects);
}

Result<void> check_expansion(const Cluster& cluster, const Job& job, const std::string& text) {
    const Condition* condition = expansion_in(job.dependency);
    if (!condition) return {};
    if (!cluster.settings().permit_job_expansion)
        return Error{ErrorCode::NotSupported, "--dependency=" + text};
    const Error problem{ErrorCode::DependencyProblem, "--dependency=" + text};
    std::shared_ptr<const Job> other = cluster.find_job(condition->job);
    const bool is_one_job = !condition->task && !condition->all_tasks && !job.request->array &&
                            job.dependency.left.size() == 1;
    if (!is_one_job || !other || is_finished(other->state)) return problem;
    if (job.user != other->user || job.partition != other->partition ||
        job.request->qos != other->request->qos)
        return problem;
    return {};
}

Result<JobId> job_to_expand(const Cluster& cluster, const Job& job) {
    const Dependency asked = TRY(parse_dependency(job.details->dependency()));
    const Condition* condition = expansion_in(asked);
    if (!condition) return Error{ErrorCode::InvalidNodeCount, {}};
    if (!cluster.settings().permit_job_expansion)
        return Error{ErrorCode::NotSupported, "to expand a running job (permit_job_expansion)"};
    std::shared_ptr<const Job> other = cluster.find_job(condition->job);
    const bool both_run = other && other->state == JobState::Running && is_live(*other) &&
                          job.state == JobState::Running;
    if (!both_run) return Error{ErrorCode::JobNotRunning, {}};
    const bool has_step =
        std::any_of(job.run.steps.begin(), job.run.steps.end(),
                    [](const auto& step) { return step->state == StepState::Running; });
    if (has_step || job.request->kind == JobKind::Batch) {
        return Error{ErrorCode::NotSupported,
                     "to hand over the nodes of a job in which something runs"};
    }
    std::string_view why = obstacle(cluster, job, *other);
    if (!why.empty())
        return Error{ErrorCode::NotSupported,
                     fmt::format("to expand job {}: {}", other->id.value, why)};
    const Partition* partition = cluster.find_partition(job.partition);
    const bool too_many = partition && partition->config.max_nodes &&
                          sum_of(*other, *job.run.allocation).size() > *partition->config.max_nodes;
    if (too_many) return Error{ErrorCode::InvalidNodeCount, {}};
    return other->id;
}

void hand_over_nodes(Cluster& cluster, Time now, JobId from, JobId to, Effects& effects) {
    for (JobId id : {from, to}) count_usage(cluster, now, *cluster.edit_job(id));
    std::shared_ptr<const Job> giver = cluster.find_job(from), taker = cluster.find_job(to);
    for (const NodeShare& share : giver->run.allocation->nodes) {
        give_back_share(cluster, *giver, share, now);
        if (const NodeShare* own = taker->run.allocation->find(share.node))
            give_back_share(cluster, *taker, *own, now);
    }
    cluster.edit_job(to)->run.allocation = allocation_of(
        cluster, sum_of(*taker, *giver->run.allocation), taker->run.allocation->sharers);
    const Job& larger = cluster.job(to);
    for (const NodeShare& share : giver->run.allocation->nodes) {
        take_share(cluster, larger, *larger.run.allocation->find(share.node), now);
        end_stray(cluster, share.node, {from, giver->run.restarts, kBatchStep},
                  effects);  // its epilog runs there
    }
    count_job(cluster, larger);
    complete_without_nodes(cluster, now, from, effects);
    retry_waiting_steps(cluster, now, to, effects);
}

}  // namespace sluice
