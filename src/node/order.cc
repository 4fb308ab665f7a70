// The controller's orders about jobs that are here, and what it has stored.
#include "node/handlers.h"

namespace sluice {

namespace {

// Signals to the steps of a job are not meant for processes that users have brought into its
// container themselves.
bool is_meant(const SignalOrder& order, StepId step) {
    if (step == kExternStep) return order.suspension || order.step == step;
    if (step == kBatchStep) return order.batch_shell || order.children;
    return (!order.step || order.step == step) && (order.steps || order.children);
}

void end_step(const Deciding& on, const EndOrdered& event) {
    if (RunHere* run = on.state.find(event.run)) {
        if (!run->is_supervised) {
            run->is_cancelled = true;
            return;
        }
        on.add(EndRun{event.run, event.grace, event.reason_line, true});
        watch_kill(on, event.run, event.grace);
    } else if (!on.state.unacknowledged.contains(event.run)) {
        // It never arrived here, or its end has been reported already.
        on.state.never_start.insert(event.run);
        report_step_end(on, event.run, {.exit = kKilled});
    }
}

// Nothing of the job is here.
void confirm_end(const Deciding& on, const JobKey& job) {
    std::erase_if(on.state.never_start, [&](const RunKey& step) { return step.job == job; });
    on.state.recent_ends.add(job, on.now);
    // A report that the job has ended says as much.
    if (!on.state.unacknowledged.contains(batch_of(job))) on.add(ReportCleaned{job});
}

// A requeued run may be in the same directory already, or its mark.
bool uses_directory(const NodeState& state, JobId job) {
    const auto here = state.jobs.lower_bound({job, 0});
    if (here != state.jobs.end() && here->first.job == job) return true;
    const auto mark = state.unreleased.lower_bound({{job, 0}, StepId{0}});
    return mark != state.unreleased.end() && mark->job.job == job;
}

}  // namespace

void on_signal_ordered(const Deciding& on, const SignalOrdered& event) {
    const JobHere* job = on.state.find(event.job);
    if (!job) return;
    for (const auto& [step, run] : job->runs) {
        if (run.is_supervised && is_meant(event.order, step))
            on.add(PassSignal{{event.job, step}, event.order});
    }
}

void on_end_ordered(const Deciding& on, const EndOrdered& event) {
    if (event.only_step) return end_step(on, event);
    const JobKey& key = event.run.job;
    const bool was_here =
        on.state.unacknowledged.contains(batch_of(key)) || on.state.recent_ends.contains(key);
    if (!on.state.find(key) && event.job && !was_here) on.state.jobs[key].hook = *event.job;
    JobHere* job = on.state.find(key);
    if (!job) return confirm_end(on, key);
    job->is_ending = true;
    end_runs(on, key, event.grace, event.reason_line);
    stop_data(on, key);
    close_if_clean(on, key);
}

void on_report_stored(const Deciding& on, const ReportStored& event) {
    if (event.kind != ReportStored::Kind::Cleaned) {
        on.state.unacknowledged.erase(event.run);
        if (on.state.unreleased.erase(event.run) > 0) on.add(ReleaseRun{event.run});
    }
    if (event.kind == ReportStored::Kind::StepEnd) return;
    const JobId job = event.run.job.job;
    if (!uses_directory(on.state, job)) on.add(RemoveDirectory{job});
}

}  // namespace sluice
