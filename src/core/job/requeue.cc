// core/job/requeue.cc
#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/moves.h"
#include "core/job/verbs.h"
#include "core/limits/reservations.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"

namespace sluice {

namespace {

// How the run of a requeued job ends.
ShownState ending_of_run(const Job& job) {
    if (is_finished(job.state)) return static_cast<ShownState>(job.state);
    if (job.run.kill_reason == KillReason::PreemptedRequeue) return ShownState::Preempted;
    const bool is_lost = job.run.kill_reason == KillReason::NodeFailRequeue;
    return is_lost ? ShownState::NodeFail : ShownState::Requeued;
}

// The run is kept for accounting, and a new one replaces it.
void wait_again(Cluster& cluster, Time now, Job& job, bool hold, Effects& effects) {
    CHECK(!is_completing(job));
    const bool was_held = job.priority == 0;
    const bool launch_failed =
        job.run.kill_reason == KillReason::RequeueHold &&
        (job.reason == Reason::JobLaunchFailure || job.reason == Reason::UserUnknown);
    const std::string cause = job.reason_detail;
    const ShownState ending = ending_of_run(job);
    move_to(job, JobState::Pending);
    mail_requeue(cluster, now, job, effects);
    cluster.facts().run_ended(ending, std::make_shared<const Job>(job));
    const std::uint32_t restarts = job.run.restarts + 1;
    job.run = {};
    job.run.restarts = restarts;
    job.run.sluid = next_sluid(cluster, job);
    if (job.request->time_limit)
        job.time_limit = *job.request->time_limit;  // it may have been cut at the start
    job.reason_detail.clear();
    job.eligible_time = now + cluster.settings().requeue_delay;
    job.reason = job.eligible_time > now ? Reason::BeginTime : Reason::None;
    if (hold) {
        job.priority = 0;
        job.priority_by_hand = false;
        job.reason = reason_of_hold(job);
        job.reason_detail = launch_failed      ? "launch failed requeued held"
                            : job.special_exit ? "job requeued in special exit state"
                                               : "job requeued in held state";
        if (launch_failed && !job.refused_by.empty()) job.reason_detail += ": " + cause;
        job.refused_by.clear();
    } else if (was_held) {
        job.reason = reason_of_hold(job);
    } else if (!job.priority_by_hand) {
        calculate_priority(cluster, job);
    }
    // Its other conditions are fulfilled for good; singleton applies to every run.
    if (auto asked = parse_dependency(job.details->dependency())) {
        for (const Condition& condition : asked->left) {
            if (condition.kind == DependencyKind::Singleton) job.dependency.left = {condition};
        }
    }
}

}  // namespace

void requeue_now(Cluster& cluster, Time now, JobId id, bool hold, Effects& effects) {
    wait_again(cluster, now, *cluster.edit_job(id), hold, effects);
    watch_deadline(cluster, cluster.job(id));
    cluster.jobs_changed_state(id);
    leave_lost_reservations(cluster, now, id);
    job_is_back(cluster, now, cluster.job(id));
    if (cluster.job(id).dependency.empty())
        enqueue(cluster, cluster.job(id), now);
    else
        wait_for_others(cluster, now, id, effects);
}

}  // namespace sluice
