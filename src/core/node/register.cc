// core/node/register.cc
//
// A node reports what it is and what it runs. Both sides may have missed messages while it was not
// connected, so registration resolves all differences: lost orders are repeated, unwanted runs are
// ended, and jobs that were lost by a reboot are given up.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/job/suspend.h"
#include "core/job/verbs.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/place/pools.h"
#include "core/schedule/queue.h"
#include "model/devices.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kNotResponding = "Not responding";

// Whether the machine has what slurm.conf promises. The text is what `sinfo -R` shows.
std::string shortage(const NodeConfig& config, const NodeFacts& facts) {
    std::uint32_t have =
        std::max(facts.cpus, facts.sockets * facts.cores_per_socket * facts.threads_per_core);
    if (have < config.cpus) return "Low socket*core*thread count, Low CPUs";
    if (facts.real_memory < config.real_memory) {
        return fmt::format("Low RealMemory (reported:{} < 100.00% of configured:{})",
                           facts.real_memory, config.real_memory);
    }
    if (facts.tmp_disk < config.tmp_disk) return "Low TmpDisk";
    for (const GresCount& gres : config.gres) {
        std::uint64_t found = 0;
        bool is_described = !is_part_of_gpu(gres.name);  // else they are spread over the GPUs
        for (const GresDevices& devices : facts.gres) {
            if (devices.name != gres.name) continue;
            is_described = true;
            // Compat: the type of parts is that of their GPU.
            const bool any = gres.type.empty() || is_part_of_gpu(gres.name);
            if (any || devices.type == gres.type) found += devices.count;
        }
        if (!is_described) continue;
        if (found < gres.count) {
            return fmt::format("gres/{} count reported lower than configured ({} < {})", gres.name,
                               found, gres.count);
        }
    }
    return {};
}

// A problem that slurmd finds on its machine drains the node; once that is repaired, the node takes
// jobs again. A drain for another reason stays, with its reason. Returns whether something changed.
constexpr std::string_view kFoundBySlurmd = "slurmd: ";

bool complete_problem(Node& node, const std::string& problem, Time now) {
    const bool drained = (node.admin_flags & kNodeDrain) != 0;
    const bool is_ours = drained && node.reason.starts_with(kFoundBySlurmd);
    if (problem.empty() ? !is_ours : drained && !is_ours) return false;
    if (problem.empty()) {
        undrain(node);
    } else {
        node.admin_flags |= kNodeDrain;
        set_reason(node, fmt::format("{}{}", kFoundBySlurmd, problem), UserId{0}, now);
    }
    return true;
}

// ReturnToService decides whether a node that was down comes back without an administrator.
void return_to_service(Node& node, const Settings& settings) {
    if (!node.down) return;
    bool silent = node.reason == kNotResponding;
    if (settings.return_to_service >= 2 || (settings.return_to_service == 1 && silent)) {
        node.down = false;
        node.reason.clear();
        node.reason_time.reset();
    }
}

void complete_job_options(Cluster& cluster, Time now, const Job& job, const NodeRegistered& event,
                          bool other_boot, Effects& effects) {
    NodeIndex node = *cluster.find_node(event.node);
    const std::vector<RunId>& running = event.running;
    bool completing_here =
        std::find(job.run.completing_nodes.begin(), job.run.completing_nodes.end(), node) !=
        job.run.completing_nodes.end();
    RunId run{job.id, job.run.restarts, kBatchStep};
    bool has_it = std::any_of(running.begin(), running.end(), [&](const RunId& here) {
        return here.job == job.id && here.restarts == job.run.restarts;
    });
    if (completing_here) {
        // Sent even if the node has nothing of the job: an srun may be about to launch a step,
        // which must be refused.
        TerminateJob order{
            .node = node, .run = run, .grace = cluster.settings().kill_wait, .reason_line = {}};
        if (cluster.settings().has_epilog) order.for_epilog = cluster.find_job(job.id);
        effects.push_back(std::move(order));
        return;
    }
    if (has_it && job.run.suspend_time) repeat_suspension(job, node, effects);
    prepare_again(cluster, job, event, effects);
    bool head = job.run.allocation->nodes.front().node == node;
    bool has_script = std::find(running.begin(), running.end(), run) != running.end();
    if (has_script || !head || job.request->kind != JobKind::Batch) {
        return reconcile_steps(cluster, now, job.id, event, other_boot, effects);
    }
    if (job.run.configuring) return;
    if (!job.run.launched) {
        effects.push_back(LaunchBatch{node, cluster.find_job(job.id)});
    } else {
        // It ran, and the node does not know it: the node was rebooted.
        end_running(cluster, now, job.id,
                    job.request->requeue ? KillReason::NodeFailRequeue : KillReason::NodeFail,
                    effects);
    }
}

// Records what the node reports of itself; returns the runs that were given up.
std::vector<RunId> take_in(Cluster& cluster, Time now, NodeIndex index,
                           const NodeRegistered& event) {
    const Edit<Node> node = cluster.edit_node(index);
    node->facts = event.facts;
    set_datasets(*node->facts, event.facts.datasets);
    if (configure_gres(*node, cluster.settings())) cluster.layout_has_changed();
    node->connected = true;
    if (is_cloud(*node) || is_dynamic(*node)) node->registered_address = event.address;
    node_is_heard(cluster, *node, now);
    node->clock_ahead = event.clock_ahead;
    node->clock_steps = Seconds{0};
    return std::exchange(node->orphans, {});
}

// A node with a problem, or with less than slurm.conf says, is drained; another one may return.
void compare_with_config(Cluster& cluster, Time now, NodeIndex index, bool rebooted) {
    const Edit<Node> node = cluster.edit_node(index);
    const NodeFacts& facts = *node->facts;
    if (complete_problem(*node, facts.problem, now)) cluster.mark_stored(index);
    const bool is_compared = !cluster.settings().config_overrides && facts.problem.empty();
    const std::string missing = is_compared ? shortage(node->config, facts) : "";
    if (!missing.empty()) {
        node->admin_flags |= kNodeDrain;
        set_reason(*node, missing, UserId{0}, now);
        cluster.mark_stored(index);
    } else if (node->down && !rebooted) {
        return_to_service(*node, cluster.settings());
        cluster.mark_stored(index);
    }
}

std::vector<RunId> jobs_with_node(const Cluster& cluster, NodeIndex node) {
    std::vector<RunId> runs;
    for (const JobId id : cluster.node(node).jobs) {
        runs.push_back({id, cluster.find_job(id)->run.restarts, kBatchStep});
    }
    return runs;
}

}  // namespace

void on_node_registered(Cluster& cluster, Time now, const NodeRegistered& event, Effects& effects) {
    if (event.dynamic) {
        if (auto taken = take_dynamic_node(cluster, now, event); !taken) {
            effects.push_back(NodeAnswered{event.node, taken.error()});
            return;
        }
    }
    auto index = cluster.find_node(event.node);
    if (!index || cluster.node(*index).removed) {
        effects.push_back(NodeAnswered{event.node, Error{ErrorCode::InvalidNodeName, event.node}});
        return;
    }
    const std::optional<NodeFacts>& known = cluster.node(*index).facts;
    const bool other_boot = known && known->boot_id != event.facts.boot_id;
    std::vector<RunId> given_up = take_in(cluster, now, *index, event);
    const std::vector<JobId> booted = power_after_registration(cluster, now, *index);
    const bool rebooted = finish_reboot(cluster, now, *index, event.facts, effects);
    compare_with_config(cluster, now, *index, rebooted);
    look_at_clock(cluster, now, *index);
    if (other_boot) given_up.clear();
    for (const RunId& run : given_up) end_stray(cluster, *index, run, effects);
    for (const RunId& run : event.running) {
        auto job = cluster.find_job(run.job);
        if (!job || !is_wanted(*job, run, *index)) end_stray(cluster, *index, run, effects);
    }
    std::vector<JobId> here = cluster.node(*index).jobs;
    for (JobId id : here) {
        auto job = cluster.find_job(id);
        complete_job_options(cluster, now, *job, event, other_boot, effects);
    }
    for (JobId id : booted) continue_after_boot(cluster, now, id, effects);
    watch_node(cluster, *index);
    unpark_all(cluster, now);
    cluster.want_pass();
    effects.push_back(NodeAnswered{event.node, {}, jobs_with_node(cluster, *index)});
}

void on_node_heartbeat(Cluster& cluster, Time now, const NodeHeartbeat& event, Effects&) {
    bool was_clock_set = false;
    {
        const Edit<Node> node = cluster.edit_node(event.node);
        was_clock_set = event.clock_steps != node->clock_steps;
        node->clock_ahead += event.clock_steps - node->clock_steps;
        node->clock_steps = event.clock_steps;
        if (node->facts) {
            node->facts->load = event.load;
            node->facts->free_memory = event.free_memory;
            node->facts->free_scratch = event.free_scratch;
        }
    }
    if (was_clock_set) look_at_clock(cluster, now, event.node);
}

void on_node_disconnected(Cluster& cluster, const NodeDisconnected& event) {
    cluster.edit_node(event.node)->connected = false;
    watch_node(cluster, event.node);
}

}  // namespace sluice
