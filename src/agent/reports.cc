// Reports of the node's decisions to the controller.
#include "agent/jobs.h"
#include "protocol/convert.h"

namespace sluice {

void Jobs::perform(const ReportLaunch& effect) {
    wire::AgentReport report;
    *report.mutable_launch_result()->mutable_run() = to_run_id(effect.run);
    if (effect.error) *report.mutable_launch_result()->mutable_error() = to_wire(*effect.error);
    report_(std::move(report));
}

void Jobs::perform(const ReportJobEnd& effect) {
    remove_directories_of(effect.run.job);
    wire::AgentReport report;
    wire::JobEnded& ended = *report.mutable_job_ended();
    *ended.mutable_run() = to_run_id(effect.run);
    *ended.mutable_exit() = to_wire(effect.end.exit);
    if (effect.end.launch_error) *ended.mutable_launch_error() = to_wire(*effect.end.launch_error);
    *ended.mutable_usage() = to_wire(effect.end.usage);
    ended.set_epilog_failed(effect.epilog_failed);
    report_(std::move(report));
}

void Jobs::perform(const ReportStepEnd& effect) {
    wire::AgentReport report;
    *report.mutable_step_ended()->mutable_run() = to_run_id(effect.run);
    *report.mutable_step_ended()->mutable_exit() = to_wire(effect.end.exit);
    *report.mutable_step_ended()->mutable_usage() = to_wire(effect.end.usage);
    report.mutable_step_ended()->set_srun_lost(effect.end.srun_lost);
    report_(std::move(report));
}

void Jobs::perform(const ReportCleaned& effect) {
    remove_directories_of(effect.job);
    wire::AgentReport report;
    *report.mutable_node_cleaned()->mutable_run() = to_run_id(batch_of(effect.job));
    report.mutable_node_cleaned()->set_epilog_failed(effect.epilog_failed);
    report_(std::move(report));
}

void Jobs::perform(const ReportKillFailed& effect) {
    wire::AgentReport report;
    *report.mutable_kill_failed()->mutable_run() = to_run_id(effect.run);
    report_(std::move(report));
}

}  // namespace sluice
