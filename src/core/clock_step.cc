// core/clock_step.cc
//
// The controller's clock was set. Times that were recorded by the old clock are converted to the
// new one, so that every duration continues unchanged: time limits, grace times, the silence of
// nodes, ages. A second step that corrects the first one restores them all. Times that were
// requested by the wall clock stay: begin times, deadlines, reservations.
#include <algorithm>

#include "core/cluster.h"
#include "core/node/verbs.h"
#include "core/schedule/priority.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"

namespace sluice {
namespace {

void shift_time(std::optional<Time>& time, Seconds by) {
    if (time) *time += by;
}

bool is_wall_clock(TimerKind kind) {
    return kind == TimerKind::Begin || kind == TimerKind::Deadline ||
           kind == TimerKind::Reservation;
}

void shift_steps(Job& job, Seconds by) {
    for (auto& step : job.run.steps) {
        auto shifted = std::make_shared<Step>(*step);
        shifted->start_time += by;
        shift_time(shifted->end_time, by);
        step = std::move(shifted);
    }
}

// Its begin time may have come just now: its timer is by the old clock.
bool awaits_its_time(const Cluster& cluster, const Job& job) {
    return job.state == JobState::Pending && job.priority > 0 && job.dependency.empty() &&
           !cluster.waiting().is_due(job.id);
}

void shift_node(Node& node, Seconds by) {
    shift_time(node.last_seen, by);
    shift_time(node.last_busy, by);
    if (node.reboot) node.reboot->stepped += by;  // `issued` also identifies the order
    shift_time(node.power.suspended, by);
    shift_time(node.power.resumed, by);
    shift_time(node.resume_after, by);
    for (DrainedGpu& gpu : node.drained_gpus) gpu.since += by;
    node.clock_ahead -= by;
}

// `before`: the time by the old clock.
void shift_job(Job& job, Seconds by, Time before) {
    const bool awaits_begin = job.request->begin && *job.request->begin > before;
    if (!awaits_begin) job.eligible_time += by;
    job.submit_time += by;
    shift_time(job.run.start_time, by);
    shift_time(job.run.end_time, by);
    shift_time(job.last_sched_eval, by);
    shift_time(job.run.suspend_time, by);
    shift_time(job.run.preempt_time, by);
    shift_time(job.run.last_checkpoint, by);
    shift_time(job.run.gpus_idle_since, by);
    shift_time(job.run.gpu_idle_warned, by);
    shift_time(job.run.gpu_hung_warned, by);
    for (Condition& condition : job.dependency.left) shift_time(condition.due, by);
    shift_steps(job, by);
}

}  // namespace

void Cluster::shift_times(Seconds by) {
    std::set<Timer> shifted;
    for (Timer timer : timers_) {
        if (!is_wall_clock(timer.kind)) timer.due += by;
        shifted.insert(timer);
    }
    timers_ = std::move(shifted);
    blocked_until_ += by;
}

void on_clock_stepped(Cluster& cluster, Time now, const ClockStepped& event, Effects&) {
    std::vector<JobId> jobs;
    cluster.jobs().for_each([&](const Job& job) { jobs.push_back(job.id); });
    for (JobId id : jobs) {
        shift_job(*cluster.edit_job(id), event.by, now - event.by);
        const Job& job = cluster.job(id);
        if (awaits_its_time(cluster, job))
            cluster.add_timer({std::max(job.eligible_time, now), TimerKind::Begin, id.value});
    }
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value) {
        shift_node(*cluster.edit_node(index), event.by);
        look_at_clock(cluster, now, index);
    }
    for (Reservation reservation : std::vector(cluster.reservations())) {
        if (reservation.last_used == Time{}) continue;
        reservation.last_used += event.by;
        cluster.put_reservation(std::move(reservation));
    }
    cluster.steps().shift(event.by);
    cluster.clients().shift(event.by);
    shift_time(cluster.scheduler().slice_end, event.by);
    cluster.usage().shift(event.by);
    cluster.triggers().shift(event.by);
    cluster.shift_times(event.by);
    cluster.add_timer({now, TimerKind::Reservation, 0});
    count_anew(cluster);
    reprioritize_all(cluster, now, true);
    watch_priorities(cluster, now);
    cluster.scheduler().is_planned = false;  // it was made for the old clock
    unpark_all(cluster, now);
    cluster.want_pass();
}

}  // namespace sluice
