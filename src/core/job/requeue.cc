// core/job/requeue.cc
#include "core/job/moves.h"
#include "core/job/verbs.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"

namespace sluice {

// The same id runs once more: the last run's traces go, its count stays.
void requeue_now(Cluster& cluster, Time now, JobId id, bool hold, Effects&) {
    Job& job = cluster.edit_job(id);
    CHECK(!is_completing(job));
    move_to(job, JobState::Pending);
    ++job.restarts;
    job.sluid = next_sluid(cluster, job);
    job.allocation.reset();
    job.start_time.reset();
    job.end_time.reset();
    job.kill_reason.reset();
    job.killed_by.reset();
    job.exit = {};
    job.derived_exit = {};
    job.steps.clear();
    job.next_step = 0;
    job.launched = false;
    job.warned = false;
    job.reason_detail.clear();
    job.eligible_time = now + cluster.settings().requeue_delay;
    job.reason = job.eligible_time > now ? Reason::BeginTime : Reason::None;
    if (hold) {
        job.priority = 0;
        job.priority_by_hand = false;
        job.reason = Reason::JobHeldUser;
    } else if (!job.priority_by_hand) {
        calculate_priority(cluster, job);
    }
    cluster.jobs_changed_state(id);
    enqueue(cluster, cluster.job(id), now);
}

}  // namespace sluice
