// controller/change_lines.cc
#include "controller/change_lines.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/states.h"

namespace sluice {
namespace {

using Lines = std::vector<std::string>;

struct KillLine {
    KillReason reason;
    std::string_view text;  // {}: the job
};
constexpr KillLine kKillLines[] = {
    {KillReason::TimeLimit, "Time limit exhausted for {}"},
    {KillReason::Requeue, "Requeuing {}"},
    {KillReason::RequeueHold, "Requeuing {}, held"},
    {KillReason::NodeFail, "Killing {} on failed node"},
    {KillReason::Preempted, "preempted {} has been killed to reclaim resources"},
    {KillReason::NodeFailRequeue, "Requeuing {} due to failure of its node"},
    {KillReason::PreemptedRequeue, "preempted {} has been requeued to reclaim resources"},
};

std::string name_of(const Job& job) {  // "JobId=12", "JobId=12_3(15)"
    if (!job.array_task) return fmt::format("JobId={}", job.id.value);
    return fmt::format("JobId={}_{}({})", job.array_job->value, *job.array_task, job.id.value);
}

std::string_view nodes_of(const Job& job) {
    return job.run.allocation ? std::string_view(job.run.allocation->node_names) : "(null)";
}

bool holds_nodes(const Job& job) {
    return job.state == JobState::Running || job.state == JobState::Suspended;
}

bool is_cancelled(const Job& job) {
    return job.run.killed_by &&
           (job.run.kill_reason == KillReason::Cancelled || job.state == JobState::Cancelled);
}

bool is_preemption(KillReason reason) {
    return reason == KillReason::Preempted || reason == KillReason::PreemptedRequeue;
}

void add_submission(const Job& job, Lines& lines) {
    if (job.array_task) return;  // its array has one
    if (job.request->kind == JobKind::Batch) {
        lines.push_back(fmt::format("submit_batch_job: {} InitPrio={} uid {}", name_of(job),
                                    job.priority, job.user.value));
    } else {
        lines.push_back(fmt::format("sched: allocate_resources {} NodeList={} uid {}", name_of(job),
                                    nodes_of(job), job.user.value));
    }
}

// Why it is being ended; the job may already have ended within the same batch.
void add_kill(const Job* before, const Job& job, Lines& lines) {
    if (is_cancelled(job) && !(before && is_cancelled(*before))) {
        lines.push_back(fmt::format("kill_job: REQUEST_KILL_JOB {} uid {}", name_of(job),
                                    job.run.killed_by->value));
    }
    std::optional<KillReason> reason = job.run.kill_reason;
    const bool has_gone_back = before && job.run.restarts > before->run.restarts;
    // A job that was requeued within this batch has neither value any more.
    const std::optional<JobId> preemptor =
        has_gone_back ? before->run.preemptor : job.run.preemptor;
    if (!reason && has_gone_back)
        reason = before->run.preempt_time ? KillReason::PreemptedRequeue : KillReason::Requeue;
    if (!reason ||
        (before && before->run.kill_reason && (has_gone_back || before->run.kill_reason == reason)))
        return;
    for (const KillLine& line : kKillLines) {
        if (line.reason != *reason) continue;
        lines.push_back(fmt::format(fmt::runtime(line.text), name_of(job)));
        if (preemptor && is_preemption(line.reason))
            lines.back() += fmt::format(" for JobId={}", preemptor->value);
    }
}

void add_end(const Job& job, Lines& lines) {
    const std::string name = name_of(job);
    if (job.run.allocation && job.run.exit.signal != 0) {
        lines.push_back(fmt::format("job_complete: {} WTERMSIG {}", name, job.run.exit.signal));
    } else if (job.run.allocation) {
        lines.push_back(fmt::format("job_complete: {} WEXITSTATUS {}", name, job.run.exit.code));
    }
    lines.push_back(fmt::format("job_complete: {} done", name));
}

void add_job(const Job* before, const Job& job, Lines& lines) {
    if (!before) add_submission(job, lines);
    const bool ran = before && holds_nodes(*before) && before->run.restarts == job.run.restarts;
    if (holds_nodes(job) && !ran) {
        lines.push_back(fmt::format(
            "sched: Allocate {} NodeList={} #CPUs={} Partition={}", name_of(job), nodes_of(job),
            job.run.allocation ? job.run.allocation->cpus() : 0, job.partition));
    }
    add_kill(before, job, lines);
    if (is_finished(job.state) && !(before && is_finished(before->state))) add_end(job, lines);
}

// Changes by administrators and failures; jobs on the node have lines of their own.
void add_node(const Node& before, const Node& node, Lines& lines) {
    const std::string& name = node.config.name;
    if (node.reason != before.reason && !node.reason.empty()) {
        lines.push_back(fmt::format("update_node: node {} reason set to: {}", name, node.reason));
    }
    if (node.down != before.down || node.admin_flags != before.admin_flags) {
        lines.push_back(fmt::format("update_node: node {} state set to {}", name,
                                    to_upper(print_node_state(node_base(node), node_flags(node)))));
    }
}

}  // namespace

std::vector<std::string> change_lines(const Snapshot& before, const Snapshot& after,
                                      const ChangedRecords& changes) {
    Lines lines;
    for (const auto& job : changes.jobs) add_job(before.jobs.peek(job->id.value), *job, lines);
    for (const ChangedNode& changed : changes.nodes) {
        const Node* known = before.nodes.peek(changed.index.value);
        const Node* node = after.nodes.peek(changed.index.value);
        if (known && node) add_node(*known, *node, lines);
    }
    return lines;
}

}  // namespace sluice
