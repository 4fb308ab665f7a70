// The end of a job on this node, and the reports to the controller about its runs.
#include "agent/jobs.h"
#include "base/log.h"
#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {

void Jobs::order_end(const JobKey& key, Seconds grace, const std::string& reason_line) {
    for (auto& [step, run] : find(key)->runs) {
        if (!run.line) continue;
        wire::StepCommand command;
        *command.mutable_terminate()->mutable_run() = to_run_id({key, step});
        command.mutable_terminate()->set_grace_seconds(grace.count());
        command.mutable_terminate()->set_reason_line(reason_line);
        run.line->send(command);
        watch_kill({key, step}, grace);
    }
}

void Jobs::close_if_clean(const JobKey& key) {
    JobHere* job = find(key);
    if (!job || !job->runs.empty() || job->closing) return;
    if (!job->batch_end && !job->ending) return;  // between two steps
    job->closing = true;
    hooks_.run(*site_, false, job->who, [this, key](int status) {
        if (status != 0) log_error("epilog of job {} failed", key.job.value);
        report_end(key, status != 0);
    });
}

void Jobs::report_end(const JobKey& key, bool epilog_failed) {
    std::optional<wire::StepEnd> batch_end = find(key)->batch_end;
    jobs_.erase(key);
    note_over(key);
    forget_cancelled_steps(key);
    if (batch_end) return report_job_ended({key, kBatchStep}, *batch_end, epilog_failed);
    wire::AgentReport report;
    *report.mutable_node_cleaned()->mutable_run() = to_run_id({key, kBatchStep});
    report.mutable_node_cleaned()->set_epilog_failed(epilog_failed);
    report_(std::move(report));
}

void Jobs::report_launched(const RunKey& key, const Error* error) {
    wire::AgentReport report;
    *report.mutable_launch_result()->mutable_run() = to_run_id(key);
    if (error) *report.mutable_launch_result()->mutable_error() = to_wire(*error);
    report_(std::move(report));
}

void Jobs::report_launch_failure(const RunKey& key, const Error& error) {
    log_error("job {} cannot be launched: {}", key.job.job.value, to_string(error));
    wire::StepEnd end;
    *end.mutable_launch_error() = to_wire(error);
    // One that had begun here ends as any does, after its Epilog.
    if (JobHere* job = find(key.job))
        job->batch_end = std::move(end);
    else
        report_job_ended(key, end);
}

void Jobs::report_job_ended(const RunKey& key, const wire::StepEnd& end, bool epilog_failed) {
    wire::AgentReport report;
    wire::JobEnded& ended = *report.mutable_job_ended();
    *ended.mutable_run() = to_run_id(key);
    *ended.mutable_exit() = end.exit();
    if (end.has_launch_error()) {
        constexpr std::uint32_t kNotLaunched = 53;  // Compat: shown as the signal, "0:53"
        *ended.mutable_launch_error() = end.launch_error();
        ended.mutable_exit()->set_code(0);
        ended.mutable_exit()->set_signal(kNotLaunched);
    }
    *ended.mutable_usage() = end.usage();
    ended.set_epilog_failed(epilog_failed);
    unacknowledged_.insert(key);
    report_(std::move(report));
}

void Jobs::report_step_ended(const RunKey& key, const wire::StepEnd& end) {
    wire::AgentReport report;
    *report.mutable_step_ended()->mutable_run() = to_run_id(key);
    *report.mutable_step_ended()->mutable_exit() = end.exit();
    *report.mutable_step_ended()->mutable_usage() = end.usage();
    report.mutable_step_ended()->set_srun_lost(end.srun_lost());
    unacknowledged_.insert(key);
    report_(std::move(report));
}

}  // namespace sluice
