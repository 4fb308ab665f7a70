// core/job/start.cc
#include <algorithm>

#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/moves.h"
#include "core/job/verbs.h"
#include "core/limits/licenses.h"
#include "core/limits/reservations.h"
#include "core/place/use.h"
#include "core/schedule/queue.h"

namespace sluice {

Time end_by_limit(const Cluster& cluster, const Job& job) {
    constexpr std::uint32_t kUnlimited = 0xffffffff;
    constexpr Seconds kCentury{3'155'760'000};
    const Partition* partition = cluster.find_partition(job.partition);
    const std::uint32_t minutes = partition ? partition->config.over_time_limit : 0;
    if (minutes == 0) return limit_end(job) + cluster.settings().over_time_limit;
    return limit_end(job) + (minutes == kUnlimited ? kCentury : Seconds{Minutes{minutes}});
}

void set_clocks(Cluster& cluster, const Job& job) {
    set_step_clocks(cluster, job);
    if (job.time_limit.unlimited()) return;
    Time end = limit_end(job);
    cluster.add_timer({end_by_limit(cluster, job), TimerKind::TimeLimit, job.id.value});
    if (job.request->warn_signal && !job.run.warned) {
        cluster.add_timer({end - job.request->warn_signal->before, TimerKind::Warn, job.id.value});
    }
    set_mail_clocks(cluster, job);
}

static bool has_node_off(const Cluster& cluster, const Allocation& allocation) {
    return std::any_of(allocation.nodes.begin(), allocation.nodes.end(), [&](const auto& share) {
        return cluster.node(share.node).power.state != PowerState::Up;
    });
}

void start_job(Cluster& cluster, Time now, JobId id, StartTerms terms, Effects& effects) {
    if (const Job& record = cluster.job(id); is_array_record(record)) {
        id = split_task(cluster, id, record.array_tasks.first());
    } else {
        dequeue(cluster, record);
    }
    {
        const Edit<Job> job = cluster.edit_job(id);
        move_to(*job, JobState::Running);
        job->special_exit = false;
        job->reason = Reason::None;
        job->reason_detail.clear();
        job->partition = terms.partition;
        job->run.reservation = terms.reservation;
        job->run.start_time = now;
        job->run.end_time.reset();
        job->last_sched_eval = now;
        job->run.configuring = waits_before_launch(cluster.settings(), *job) ||
                               has_node_off(cluster, terms.allocation);
        job->run.launched = false;
        job->run.overtook = terms.overtakes;
        job->run.allocation = std::make_shared<Allocation>(std::move(terms.allocation));
        if (terms.shortened) job->time_limit = *terms.shortened;
        job->time_limit = limit_before_deadline(*job, now);
        job->run.licenses_held = choose_licenses(cluster, *job, now);
    }
    ++cluster.tally().started;
    const Job& job = cluster.job(id);
    hold_licenses(cluster, job);
    if (job.array_job) cluster.arrays().task_started(*job.array_job);
    std::shared_ptr<const Allocation> held = job.run.allocation;
    for (const NodeShare& share : held->nodes) take_share(cluster, job, share, now);
    set_clocks(cluster, job);
    const Reservation* reserved =
        terms.reservation.empty() ? nullptr : find_reservation(cluster, terms.reservation);
    if (reserved && reserved->has(kResvReplace)) look_after_reservations(cluster, now);
    cluster.jobs_changed_state(id);
    // It counts against limits although it is launched later.
    if (cluster.job(id).run.configuring) job_is_here(cluster, cluster.job(id));
    prepare_job(cluster, now, id, effects);
}

}  // namespace sluice
