// core/job/launch.cc
//
// A step is granted to an srun, which launches it on its nodes while its credential is valid. If
// the srun dies before that, no other process would report it, and the step would keep its CPUs
// from the other steps of its job. Nodes report the steps that were launched; a step that one of
// them has not got in time is ended.
//
// A job that srun made for itself ends when srun says so. An srun that was killed says nothing, nor
// does one that could not reach the controller: then the job ends with its step.
//
// A node that cannot launch a batch script, or does not in time, is drained; the job runs
// elsewhere. A job whose Prolog fails is held, so that a user can look at it, and may then run
// elsewhere; with nohold_on_prolog_fail it is requeued without a hold.
#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "core/node/verbs.h"
#include "model/errors.h"

namespace sluice {
namespace {

constexpr Seconds kOnItsWay{60};   // for the report of a launch that was in time
constexpr Seconds kFirstWord{60};  // for the first message of an srun with a new or a restored job
constexpr Seconds kLastWord{10};   // for the last message of an srun whose step has ended
constexpr Seconds kAskAgain{10};   // for a node that has not been heard since the script was due
constexpr std::size_t kRefusalsMost = 3;  // by different nodes: then the job is at fault
constexpr const char* kPrologError = "Prolog error";  // what the node shows

// Nodes that are not connected report their runs when they register.
bool is_heard_since(const Cluster& cluster, NodeIndex index, Time moment) {
    const Node& node = cluster.node(index);
    return node.connected && node.last_seen && *node.last_seen >= moment;
}

bool is_idle_srun_job(const Cluster& cluster, const Job& job) {
    if (job.request->kind != JobKind::Srun || !is_live(job) || job.run.configuring) return false;
    return !cluster.steps().are_awaited(job.id) && !runs_step_of_srun(job);
}

// Such a node is sent no jobs anyway, until the clocks agree. It may have got one before that was
// seen, or from another controller.
bool is_known_trouble(const Cluster& cluster, NodeIndex node, const Error& error) {
    return error.code == ErrorCode::ClockSkew && clock_differs(cluster.node(node));
}

}  // namespace

bool is_prolog_failure(const std::optional<Error>& error) {
    return error && error->code == ErrorCode::PrologFailed;
}

KillReason reason_after_prolog(const Cluster& cluster) {
    return cluster.settings().hold_on_prolog_failure ? KillReason::RequeueHold
                                                     : KillReason::Requeue;
}

void drain_after_refusal(Cluster& cluster, Time now, NodeIndex node, const Error& error,
                         StepId step) {
    if (error.code == ErrorCode::PrologFailed) {
        return drain_after_hook(cluster, now, node, kPrologError);
    }
    if (is_known_trouble(cluster, node, error)) return;
    const std::string cause =
        error.detail.empty() ? std::string(text_of(error.code)) : error.detail;
    drain_after_hook(
        cluster, now, node,
        fmt::format("{} launch failure: {}", step == kBatchStep ? "batch job" : "step", cause));
}

KillReason reason_after_refusal(const Cluster& cluster, Job& job, NodeIndex node,
                                const Error& error) {
    if (error.code == ErrorCode::PrologFailed) return reason_after_prolog(cluster);
    if (is_known_trouble(cluster, node, error)) return KillReason::Requeue;
    std::vector<NodeIndex>& nodes = job.refused_by;
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    return nodes.size() >= kRefusalsMost ? KillReason::RequeueHold : KillReason::Requeue;
}

void await_batch_start(Cluster& cluster, Time now, const Job& job) {
    const Seconds timeout = cluster.settings().batch_start_timeout;
    if (timeout == Seconds{0} || job.run.launched || job.run.configuring ||
        job.request->kind != JobKind::Batch)
        return;
    cluster.add_timer({now + timeout, TimerKind::BatchStart, job.id.value});
}

// A node reports in order: if it was heard after the script was due, the script has not started. A
// node that is not connected is asked to launch the script again when it registers.
void on_batch_start_timer(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    if (!is_live(job) || job.run.configuring || job.run.launched) return;
    const Time due = *job.run.start_time + cluster.settings().batch_start_timeout;
    const NodeIndex node = job.run.allocation->nodes.front().node;
    if (now < due || job.state != JobState::Running || !is_heard_since(cluster, node, due)) {
        cluster.add_timer({std::max(due, now + kAskAgain), TimerKind::BatchStart, job.id.value});
        return;
    }
    const Error error{ErrorCode::NodeUnable, "the script did not start within BatchStartTimeout"};
    drain_after_refusal(cluster, now, node, error);
    KillReason reason = KillReason::NodeFail;
    {
        const Edit<Job> refused = cluster.edit_job(job.id);
        refused->reason = Reason::JobLaunchFailure;
        refused->reason_detail = error.detail;
        if (may_be_requeued(*refused))
            reason = reason_after_refusal(cluster, *refused, node, error);
    }
    end_running(cluster, now, job.id, reason, effects);
}

bool may_be_requeued(const Job& job) {
    return job.request->requeue && job.request->kind == JobKind::Batch;
}

// The node also reports the step's end: that is enough for a job that cannot be requeued.
void step_prolog_failed(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    if (!may_be_requeued(job)) return;
    cluster.edit_job(job.id)->reason = Reason::JobLaunchFailure;
    end_running(cluster, now, job.id, reason_after_prolog(cluster), effects);
}

void await_launch(Cluster& cluster, Time now, JobId id, const Step& step, RequestId request) {
    const Time until = now + cluster.settings().cred_expire;
    const StepGrant& grant = cluster.steps().grant(id, step, request, until);
    if (!grant.awaited.empty()) cluster.add_timer({until + kOnItsWay, TimerKind::Launch, id.value});
}

void launch_is_here(Cluster& cluster, NodeIndex node, const RunId& run) {
    cluster.steps().is_launched(run.job, run.step, node);
}

void on_launch_timer(Cluster& cluster, Time now, JobId id, Effects& effects) {
    std::vector<StepId> lost;
    for (const StepGrant& grant : cluster.steps().grants(id)) {
        if (grant.awaited.empty() || grant.until + kOnItsWay > now) continue;
        bool is_lost = std::any_of(grant.awaited.begin(), grant.awaited.end(), [&](NodeIndex node) {
            return is_heard_since(cluster, node, grant.until);
        });
        if (is_lost)
            lost.push_back(grant.step);
        else
            cluster.add_timer({now + kOnItsWay, TimerKind::Launch, id.value});
    }
    for (StepId step : lost) {
        cluster.steps().await_no_launch(id, step);
        end_step(cluster, id, step, StepEnding::Cancelled, effects);
    }
}

void await_srun(Cluster& cluster, Time now, const Job& job) {
    if (is_idle_srun_job(cluster, job)) {
        const Seconds limit = cluster.settings().inactive_limit;
        const Seconds length = limit > Seconds{0} ? limit : kFirstWord;
        cluster.add_timer({now + length, TimerKind::Silence, job.id.value});
    }
}

void srun_may_be_gone(Cluster& cluster, Time now, JobId id, bool is_lost, Effects& effects) {
    if (!is_idle_srun_job(cluster, cluster.job(id))) return;
    if (is_lost) return end_running(cluster, now, id, KillReason::Cancelled, effects);
    cluster.add_timer({now + kLastWord, TimerKind::Silence, id.value});
}

void on_silence_timer(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    cluster.steps().forget_numbers(job.id, now);
    answer_waiters(cluster, job.id, WaitFor::StepsEnded, effects);
    if (job.request->kind == JobKind::Salloc)
        return end_if_client_is_gone(cluster, now, job, effects);
    if (!is_idle_srun_job(cluster, job)) return;
    if (job.run.next_step == 0) {
        return end_running(cluster, now, job.id, KillReason::Cancelled, effects);
    }
    for (const auto& step : job.run.steps) {
        // It ended later and has its own timer.
        if (step->end_time && *step->end_time + kLastWord > now) return;
    }
    complete_running(cluster, now, job.id, job.run.derived_exit, effects);
}

}  // namespace sluice
