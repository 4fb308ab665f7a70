// The end of a run, and of its job on this node: that is reported when nothing of it is left here
// and the Epilog has run.
#include <utility>

#include "model/errors.h"
#include "node/handlers.h"

namespace sluice {

namespace {

// A job that is being ended has nothing left here but its container.
void end_container_alone(const Deciding& on, const JobKey& key) {
    const JobHere* job = on.state.find(key);
    if (!job || !job->takes_no_more() || job->runs.size() != 1) return;
    const auto& [step, run] = *job->runs.begin();
    if (step != kExternStep || !run.is_supervised) return;
    on.add(EndRun{{key, step}, Seconds{0}, ""});
    watch_kill(on, {key, step}, Seconds{0});
}

}  // namespace

void on_supervisor_ended(const Deciding& on, const SupervisorEnded& event) {
    const RunKey& run = event.run;
    if (!on.state.find(run)) return;
    JobHere* job = on.state.find(run.job);
    job->runs.erase(run.step);
    on.state.unreleased.insert(run);
    if (run.step == kBatchStep) {
        job->batch_end = event.end;
        // The script is over, and with it the job: steps it left behind have to go.
        end_runs(on, run.job, on.state.settings.kill_wait, "");
    } else {
        // The end of a step does not say why it could not be started, and the node may be the
        // cause.
        if (event.end.launch_error) report_refusal(on, run, *event.end.launch_error);
        report_step_end(on, run, event.end);
        end_container_alone(on, run.job);
    }
    on_user_asked(on, run);
    close_if_clean(on, run.job);
}

// Processes in the job's container get as much time as the rest of the job, if the job was killed.
// They do not delay the end of a job that has ended by itself.
void end_runs(const Deciding& on, const JobKey& job, Seconds grace,
              const std::string& reason_line) {
    for (const auto& [step, run] : on.state.find(job)->runs) {
        if (!run.is_supervised) continue;
        const bool at_once = step == kExternStep && reason_line.empty();
        const Seconds length = at_once ? Seconds{0} : grace;
        on.add(EndRun{{job, step}, length, reason_line});
        watch_kill(on, {job, step}, length);
    }
}

namespace {

void report_end(const Deciding& on, const JobKey& key, bool epilog_failed) {
    const std::optional<RunEnd> batch_end = on.state.find(key)->batch_end;
    on.state.jobs.erase(key);
    on.state.recent_ends.add(key, on.now);
    std::erase_if(on.state.never_start, [&](const RunKey& step) { return step.job == key; });
    if (batch_end)
        report_job_end(on, batch_of(key), *batch_end, epilog_failed);
    else
        on.add(ReportCleaned{key, epilog_failed});
}

void run_epilog(const Deciding& on, const JobKey& key) {
    if (on.state.settings.has_epilog)
        on.add(RunEpilog{on.state.find(key)->hook});
    else
        report_end(on, key, false);
}

}  // namespace

void close_if_clean(const Deciding& on, const JobKey& key) {
    JobHere* job = on.state.find(key);
    if (!job || !job->runs.empty() || job->is_closing) return;
    if (job->is_preparing()) return;                 // called again when that has ended
    if (!job->batch_end && !job->is_ending) return;  // between two steps
    job->is_closing = true;
    const bool has_failed = job->batch_end && job->batch_end->launch_error;
    if (!job->hook.syncs || !job->has_run || has_failed) return run_epilog(on, key);
    job->is_syncing = true;
    // The synchronisation may take long: meanwhile the job is shown as completing.
    if (job->batch_end) on.add(ReportJobEnd{batch_of(key), *job->batch_end, false, true});
    on.add(RunFinalSync{job->hook});
}

void on_final_sync_ended(const Deciding& on, const FinalSyncEnded& event) {
    JobHere* job = on.state.find(event.job);
    if (job && std::exchange(job->is_syncing, false)) run_epilog(on, event.job);
}

void on_epilog_ended(const Deciding& on, const EpilogEnded& event) {
    const JobHere* job = on.state.find(event.job);
    if (job && job->is_closing && !job->is_syncing) report_end(on, event.job, !event.ok);
}

void report_job_end(const Deciding& on, const RunKey& run, const RunEnd& end, bool epilog_failed) {
    constexpr ExitStatus kNotLaunched{.code = 0, .signal = 53};  // Compat: shown as "0:53"
    ReportJobEnd report{run, end, epilog_failed};
    if (end.launch_error) report.end.exit = kNotLaunched;
    on.state.unacknowledged.insert(run);
    on.add(std::move(report));
}

// Of a job's container the controller waits for the report, whatever has gone wrong.
void report_refusal(const Deciding& on, const RunKey& run, const Error& error) {
    if (is_fault_of_node(error.code) || run.step == kExternStep) on.add(ReportLaunch{run, error});
}

void report_step_end(const Deciding& on, const RunKey& run, const RunEnd& end) {
    on.state.unacknowledged.insert(run);
    on.add(ReportStepEnd{run, end});
}

}  // namespace sluice
