// core/apply.cc
//
// Every event and its handler.
#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/mail.h"
#include "core/job/preempt.h"
#include "core/job/verbs.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/limits/usage.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/question.h"
#include "core/schedule/gang.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"

namespace sluice {

namespace {

void on_time_limit_timer(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    if (job.time_limit.unlimited()) return;
    const Time end = end_by_limit(cluster, job);
    if (now >= end) {
        end_running(cluster, now, job.id, KillReason::TimeLimit, effects);
    } else {  // requeued or given more time since
        cluster.add_timer({end, TimerKind::TimeLimit, job.id.value});
    }
}

void on_job_timer(Cluster& cluster, Time now, const Timer& timer, Effects& effects) {
    auto job = cluster.find_job(JobId{timer.subject});
    if (!job) return;
    bool running = job->state == JobState::Running && !is_completing(*job);
    switch (timer.kind) {
        case TimerKind::Begin:
            if (job->state != JobState::Pending || job->eligible_time > now) return;
            if (job->reason == Reason::BeginTime) cluster.edit_job(job->id)->reason = Reason::None;
            enqueue(cluster, cluster.job(job->id), now);
            return;
        case TimerKind::TimeLimit:
            if (running && !awaits_boot(cluster, *job))
                on_time_limit_timer(cluster, now, *job, effects);
            return;
        case TimerKind::Warn:
            if (!running || job->run.warned || !job->request->warn_signal ||
                awaits_boot(cluster, *job) || job->time_limit.unlimited())
                return;
            // Suspended or given more time since: there is another timer.
            if (now < limit_end(*job) - job->request->warn_signal->before) return;
            send_warning(cluster, *job, effects);
            return;
        case TimerKind::Forget:
            if (is_over(*job) && *job->run.end_time + cluster.settings().min_job_age <= now) {
                cluster.forget_job(job->id);
            }
            return;
        case TimerKind::Preempt:
            end_preempted(cluster, now, job->id, effects);
            return;
        case TimerKind::Dependency:
            on_dependency_timer(cluster, now, job->id, effects);
            return;
        case TimerKind::Deadline:
            on_deadline_timer(cluster, now, job->id, effects);
            return;
        case TimerKind::Launch:
            on_launch_timer(cluster, now, job->id, effects);
            return;
        case TimerKind::LimitMail:
            on_limit_mail_timer(cluster, now, job->id, effects);
            return;
        case TimerKind::BatchStart:
            on_batch_start_timer(cluster, now, *job, effects);
            return;
        case TimerKind::Configure:
            if (is_configuring(*job)) prepare_job(cluster, now, job->id, effects);
            return;
        case TimerKind::StepLimit:
            on_step_limit_timer(cluster, now, job->id, effects);
            return;
        case TimerKind::Silence:
            on_silence_timer(cluster, now, *job, effects);
            return;
        case TimerKind::Reservation:
        case TimerKind::Reboot:
        case TimerKind::Plan:
        case TimerKind::NodeTimeout:
        case TimerKind::Priority:
        case TimerKind::TimeSlice:
        case TimerKind::UsedMinutes:
        case TimerKind::HealthCheck:
        case TimerKind::Power:
        case TimerKind::ResumeAfter:
        case TimerKind::Trigger:
            return;
    }
}

void on_stood_still(Cluster& cluster, Time now, const StoodStill& event) {
    cluster.was_blocked(now, event.length);
}

void on_tick(Cluster& cluster, Time now, const Tick&, Effects& effects) {
    for (const Timer& timer : cluster.due_timers(now)) {
        if (timer.kind == TimerKind::NodeTimeout) {
            node_timed_out(cluster, now, NodeIndex{timer.subject}, effects);
        } else if (timer.kind == TimerKind::Plan) {
            cluster.want_pass();
        } else if (timer.kind == TimerKind::Priority) {
            on_priority_timer(cluster, now, timer);
        } else if (timer.kind == TimerKind::TimeSlice) {
            on_time_slice(cluster, now, effects);
        } else if (timer.kind == TimerKind::Reservation) {
            on_reservation_timer(cluster, now, effects);
        } else if (timer.kind == TimerKind::UsedMinutes) {
            on_used_minutes_timer(cluster, now, effects);
        } else if (timer.kind == TimerKind::HealthCheck) {
            on_health_timer(cluster, now, timer.subject, effects);
        } else if (timer.kind == TimerKind::Power) {
            on_power_timer(cluster, now, timer.subject, effects);
        } else if (timer.kind == TimerKind::ResumeAfter) {
            on_resume_after(cluster, now, NodeIndex{timer.subject});
        } else if (timer.kind == TimerKind::Trigger) {
            on_trigger_timer(cluster, now, effects);
        } else if (timer.kind == TimerKind::Reboot) {
            reboot_timed_out(cluster, now, NodeIndex{timer.subject});
        } else {
            on_job_timer(cluster, now, timer, effects);
        }
    }
}

void on_reconfigure(Cluster& cluster, Time now, const Reconfigure& event, Effects& effects) {
    if (auto allowed = permit(role_in(cluster, event.caller), Action::Reconfigure); !allowed) {
        effects.push_back(Reply{event.request, allowed.error()});
        return;
    }
    cluster.apply_settings(event.settings, now);
    reset_usage_if_asked(cluster, now);
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        if (cluster.node(NodeIndex{i}).removed)
            node_was_removed(cluster, now, NodeIndex{i}, effects);
    }
    count_anew(cluster);
    watch_used_minutes(cluster, now);
    watch_health(cluster, now);
    watch_power(cluster, now);
    pull_triggers(cluster, now, TriggerEvent::Reconfigured);
    unpark_all(cluster, now);
    cluster.want_pass();
    if (event.request.value != 0) effects.push_back(Reply{event.request, Done{}});
}

void on_usage_imported(Cluster& cluster, Time now, const UsageImported& event) {
    import_usage(cluster, now, *event.import);
    watch_used_minutes(cluster, now);
    reprioritize_all(cluster, now, true);
    cluster.want_pass();
}

void on_question(Cluster& cluster, Time now, RequestId request, const Event& question,
                 Effects& effects) {
    cluster.refresh_layout();
    effects.push_back(Reply{request, answer_to(cluster, now, question)});
}

struct Dispatch {
    Cluster& cluster;
    Time now;
    Effects& effects;

    // clang-format off
    void operator()(const SubmitJob& e) const { e.test_only ? on_question(cluster, now, e.request, e, effects) : on_submit(cluster, now, e, effects); }
    void operator()(const CancelJobs& e) const { on_cancel(cluster, now, e, effects); }
    void operator()(const ControlJobs& e) const { on_control(cluster, now, e, effects); }
    void operator()(const UpdateJob& e) const { on_update_job(cluster, now, e, effects); }
    void operator()(const UpdateNode& e) const { on_update_node(cluster, now, e, effects); }
    void operator()(const UpdatePartition& e) const { on_update_partition(cluster, now, e, effects); }
    void operator()(const CreateStep& e) const { on_create_step(cluster, now, e, effects); }
    void operator()(const WaitJob& e) const { on_wait(cluster, now, e, effects); }
    void operator()(const RequestDropped& e) const { on_request_dropped(cluster, now, e, effects); }
    void operator()(const CompleteJob& e) const { on_complete_job(cluster, now, e, effects); }
    void operator()(const ShowAllocation& e) const { on_show_allocation(cluster, now, e, effects); }
    void operator()(const NodeRegistered& e) const { on_node_registered(cluster, now, e, effects); }
    void operator()(const DataProgressed& e) const { on_data_progressed(cluster, e); }
    void operator()(const DataCached& e) const { on_data_cached(cluster, e); }
    void operator()(const NodeHeartbeat& e) const { on_node_heartbeat(cluster, now, e, effects); }
    void operator()(const NodeDisconnected& e) const { on_node_disconnected(cluster, e); }
    void operator()(const LaunchReported& e) const { on_launch_reported(cluster, now, e, effects); }
    void operator()(const JobEnded& e) const { on_job_ended(cluster, now, e, effects); }
    void operator()(const StepEnded& e) const { on_step_ended(cluster, now, e, effects); }
    void operator()(const NodeCleaned& e) const { on_node_cleaned(cluster, now, e, effects); }
    void operator()(const DataReported& e) const { on_data_reported(cluster, now, e); }
    void operator()(const KillFailed& e) const { on_kill_failed(cluster, now, e); }
    void operator()(const GpusReported& e) const { on_gpus_reported(cluster, now, e, effects); }
    void operator()(const Tick& e) const { on_tick(cluster, now, e, effects); }
    void operator()(const Reconfigure& e) const { on_reconfigure(cluster, now, e, effects); }
    void operator()(const ExplainJob& e) const { on_question(cluster, now, e.request, e, effects); }
    void operator()(const ChangeReservation& e) const { on_change_reservation(cluster, now, e, effects); }
    void operator()(const FactsDelivered& e) const { cluster.facts_were_delivered(e.last); }
    void operator()(const PolicyChanged& e) const { on_policy_changed(cluster, now, e); }
    void operator()(const UsageImported& e) const { on_usage_imported(cluster, now, e); }
    void operator()(const ClockStepped& e) const { on_clock_stepped(cluster, now, e, effects); }
    void operator()(const StoodStill& e) const { on_stood_still(cluster, now, e); }
    void operator()(const JobProgramEnded& e) const { on_job_program_ended(cluster, now, e, effects); }
    void operator()(const SetTrigger& e) const { on_set_trigger(cluster, now, e, effects); }
    void operator()(const ClearTriggers& e) const { on_clear_triggers(cluster, e, effects); }
    void operator()(const ServiceChanged& e) const { pull_triggers(cluster, now, e.what); }
    void operator()(const RebootNodes& e) const { on_reboot_nodes(cluster, now, e, effects); }
    void operator()(const CreateNodes& e) const { on_create_nodes(cluster, now, e, effects); }
    void operator()(const DeleteNodes& e) const { on_delete_nodes(cluster, now, e, effects); }
    void operator()(const PowerProgramStarted& e) const { on_power_program_started(cluster, e); }
    // clang-format on
};

}  // namespace

void apply(Cluster& cluster, Time now, const Event& event, Effects& effects) {
    cluster.facts().set_time(now);
    const auto note_sender = [&](const auto& each) {
        if constexpr (requires { each.node == NodeIndex{}; })
            node_is_heard(cluster, *cluster.edit_node(each.node), now);
    };
    std::visit(note_sender, event);
    std::visit(Dispatch{cluster, now, effects}, event);
    if (!cluster.wanted_reboots().empty()) order_reboots(cluster, now, effects);
    if (!cluster.triggers().empty()) compare_with_triggers(cluster, now);
}

}  // namespace sluice
