#include "core/job/gpu_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/job/mail.h"
#include "core/job/verbs.h"
#include "core/limits/qos.h"
#include "model/devices.h"
#include "model/times.h"

namespace sluice {

namespace {

bool has_gpus(const NodeShare& share) {
    return std::any_of(share.gres.begin(), share.gres.end(), [](const NodeShare::Devices& devices) {
        return devices.name == "gpu" || is_part_of_gpu(devices.name);
    });
}

bool is_exempt(const Cluster& cluster, const Job& job, const PartitionConfig& partition) {
    const std::vector<std::string>& exempt = partition.gpu_idle_exempt_qos;
    const std::string qos = qos_in_force(cluster, job.request->qos);
    return std::find(exempt.begin(), exempt.end(), qos) != exempt.end();
}

// A line in the output of the script, or of each srun.
void tell_job(const Job& job, const std::string& line, bool with_stacks, Effects& effects) {
    const RunId whole{job.id, job.run.restarts, kBatchStep};
    const bool has_script = job.request->kind == JobKind::Batch && job.run.launched;
    if (has_script) {
        effects.push_back(SignalJob{.node = job.run.allocation->nodes.front().node,
                                    .run = whole,
                                    .batch_shell = true,
                                    .message = line,
                                    .stack_dump = with_stacks});
    }
    for (const auto& step : job.run.steps) {
        const bool runs = step->state == StepState::Running && !step->nodes_left.empty();
        if (!runs || step->id == kExternStep || (has_script && !with_stacks)) continue;
        for (const NodeIndex node : step->nodes_left) {
            effects.push_back(SignalJob{.node = node,
                                        .run = {job.id, job.run.restarts, step->id},
                                        .steps = true,
                                        .only_step = true,
                                        .message = line,
                                        .stack_dump = with_stacks});
            if (!with_stacks) break;  // one line is enough
        }
    }
}

void warn(const Job& job, MailType type, const std::string& line, Effects& effects) {
    tell_job(job, "sluice: warning: " + line, type == MailType::GpusHung, effects);
    mail_of_policy(type, job, line, effects);
}

std::string action_words(const PartitionConfig& partition) {
    if (partition.gpu_idle_action == GpuIdleAction::Report) return {};
    const bool requeues = partition.gpu_idle_action == GpuIdleAction::Requeue;
    return fmt::format("; it will be {} in {} unless it uses them",
                       requeues ? "requeued" : "cancelled",
                       print_duration(partition.gpu_idle_grace));
}

std::string idle_words(const Job& job, Time now, const PartitionConfig& partition) {
    return fmt::format("its GPUs have been used less than {} % for {}", partition.gpu_idle_percent,
                       print_duration(now - *job.run.gpus_idle_since));
}

void end_idle(Cluster& cluster, Time now, const Job& job, const PartitionConfig& partition,
              Effects& effects) {
    const bool requeues = partition.gpu_idle_action == GpuIdleAction::Requeue &&
                          job.request->requeue && job.request->kind == JobKind::Batch;
    tell_job(job,
             fmt::format("sluice: job {} is {}: {}", print_job_id(job),
                         requeues ? "requeued" : "cancelled", idle_words(job, now, partition)),
             false, effects);
    const JobId id = job.id;
    if (!requeues) cluster.edit_job(id)->run.killed_by = UserId{0};
    end_running(cluster, now, id, requeues ? KillReason::Requeue : KillReason::Cancelled, effects);
}

void judge_idle(Cluster& cluster, Time now, JobId id, std::uint32_t percent,
                const PartitionConfig& partition, Effects& effects) {
    const bool watched = partition.gpu_idle_warn > Seconds{0};
    const std::shared_ptr<const Job> before = cluster.find_job(id);
    const Run& run = before->run;
    if (!watched || percent >= partition.gpu_idle_percent) {
        if (!run.gpus_idle_since) return;
        const Edit<Job> job = cluster.edit_job(id);
        job->run.gpus_idle_since.reset();
        job->run.gpu_idle_warned.reset();
        return;
    }
    if (!run.gpus_idle_since) cluster.edit_job(id)->run.gpus_idle_since = now;
    if (!run.gpu_idle_warned) {
        if (now - *cluster.job(id).run.gpus_idle_since < partition.gpu_idle_warn) return;
        cluster.edit_job(id)->run.gpu_idle_warned = now;
        const Job& job = cluster.job(id);
        warn(job, MailType::GpusIdle, idle_words(job, now, partition) + action_words(partition),
             effects);
    } else if (partition.gpu_idle_action != GpuIdleAction::Report &&
               now - *run.gpu_idle_warned >= partition.gpu_idle_grace) {
        end_idle(cluster, now, *before, partition, effects);
    }
}

void judge_hung(Cluster& cluster, Time now, const JobGpuLoad& sum, const PartitionConfig& partition,
                Effects& effects) {
    const JobId id = sum.job;
    const std::optional<Time> since =
        cluster.gpu_loads().still_since(sum, partition.gpu_idle_percent, now);
    const bool is_hung =
        partition.gpu_hung_warn > Seconds{0} && since && now - *since >= partition.gpu_hung_warn;
    if (is_hung == cluster.job(id).run.gpu_hung_warned.has_value()) return;
    cluster.edit_job(id)->run.gpu_hung_warned = is_hung ? std::optional(now) : std::nullopt;
    if (!is_hung) return;
    warn(cluster.job(id), MailType::GpusHung,
         fmt::format("it seems to hang: its GPUs have been equally busy for {}, and it has neither "
                     "read nor written anything",
                     print_duration(now - *since)),
         effects);
}

void judge(Cluster& cluster, Time now, NodeIndex node, const JobGpuLoad& load, Effects& effects) {
    const auto job = cluster.find_job(load.job);
    const bool counts = job && job->run.restarts == load.restarts && is_live(*job) &&
                        job->run.allocation->find(node) && load.gpus > 0;
    if (!counts) return;
    const std::vector<NodeShare>& shares = job->run.allocation->nodes;
    const auto nodes = std::count_if(shares.begin(), shares.end(), has_gpus);
    const auto sum = cluster.gpu_loads().add(node, load, static_cast<std::size_t>(nodes));
    const Partition* partition = cluster.find_partition(job->partition);
    if (!sum || !partition || is_exempt(cluster, *job, partition->config)) return;
    // A suspended job cannot use them.
    const bool runs = job->state == JobState::Running;
    const std::uint32_t percent = runs ? sum->percent_sum / sum->gpus : 100;
    if (runs) judge_hung(cluster, now, *sum, partition->config, effects);
    judge_idle(cluster, now, job->id, percent, partition->config, effects);
}

std::uint32_t count_gpus(const NodeShare& share) {
    std::size_t gpus = 0;
    for (const NodeShare::Devices& devices : share.gres) {
        if (devices.name == "gpu" || is_part_of_gpu(devices.name)) gpus += devices.indexes.size();
    }
    return static_cast<std::uint32_t>(gpus);
}

// A job without a process on the node does not use its GPUs there: an salloc without a step, a node
// where a script starts none. slurmd does not know of such a job.
std::vector<JobGpuLoad> loads_without_processes(const Cluster& cluster, NodeIndex node,
                                                const GpuReport& report) {
    std::vector<JobGpuLoad> loads;
    for (const JobId id : cluster.node(node).jobs) {
        const bool is_known = std::any_of(report.jobs.begin(), report.jobs.end(),
                                          [id](const JobGpuLoad& load) { return load.job == id; });
        const Job& job = cluster.job(id);
        if (is_known || !is_live(job) || is_configuring(job)) continue;
        const NodeShare* share = job.run.allocation->find(node);
        const std::uint32_t gpus = share ? count_gpus(*share) : 0;
        if (gpus > 0) loads.push_back({.job = id, .restarts = job.run.restarts, .gpus = gpus});
    }
    return loads;
}

}  // namespace

void on_gpu_loads(Cluster& cluster, Time now, NodeIndex node, const GpuReport& report,
                  Effects& effects) {
    for (const JobGpuLoad& load : report.jobs) judge(cluster, now, node, load, effects);
    if (!report.has_health) return;  // the GPUs of the node are not sampled
    for (const JobGpuLoad& load : loads_without_processes(cluster, node, report))
        judge(cluster, now, node, load, effects);
}

}  // namespace sluice
