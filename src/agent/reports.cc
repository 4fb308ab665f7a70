// Reports of the node's decisions to the controller.
#include "agent/jobs.h"
#include "protocol/convert.h"

namespace sluice {

void Jobs::perform(const ReportLaunch& effect) {
    wire::AgentReport report;
    *report.mutable_launch_result()->mutable_run() = to_run_id(effect.run);
    if (effect.error) *report.mutable_launch_result()->mutable_error() = to_wire(*effect.error);
    controller_.report(std::move(report));
}

void Jobs::perform(const ReportJobEnd& effect) {
    if (!effect.is_cleaning) remove_directories_of(effect.run.job);
    wire::AgentReport report;
    wire::JobEnded& ended = *report.mutable_job_ended();
    *ended.mutable_run() = to_run_id(effect.run);
    *ended.mutable_exit() = to_wire(effect.end.exit);
    if (effect.end.launch_error) *ended.mutable_launch_error() = to_wire(*effect.end.launch_error);
    *ended.mutable_usage() = to_wire(effect.end.usage);
    ended.set_epilog_failed(effect.epilog_failed);
    ended.set_cleaning(effect.is_cleaning);
    if (effect.is_cleaning) return controller_.report(std::move(report));
    gpus_.run_ends(effect.run, effect.end.usage);
    gpus_.job_leaves(effect.run.job, [this, report](const NodeUse& use) mutable {
        report.mutable_job_ended()->set_use(encode(use));
        controller_.report(std::move(report));
    });
}

void Jobs::perform(const ReportStepEnd& effect) {
    wire::AgentReport report;
    *report.mutable_step_ended()->mutable_run() = to_run_id(effect.run);
    *report.mutable_step_ended()->mutable_exit() = to_wire(effect.end.exit);
    *report.mutable_step_ended()->mutable_usage() = to_wire(effect.end.usage);
    report.mutable_step_ended()->set_srun_lost(effect.end.srun_lost);
    gpus_.run_ends(effect.run, effect.end.usage);
    controller_.report(std::move(report));
}

void Jobs::perform(const ReportCleaned& effect) {
    remove_directories_of(effect.job);
    wire::AgentReport report;
    *report.mutable_node_cleaned()->mutable_run() = to_run_id(batch_of(effect.job));
    report.mutable_node_cleaned()->set_epilog_failed(effect.epilog_failed);
    gpus_.job_leaves(effect.job, [this, report](const NodeUse& use) mutable {
        report.mutable_node_cleaned()->set_use(encode(use));
        controller_.report(std::move(report));
    });
}

void Jobs::perform(const ReportKillFailed& effect) {
    wire::AgentReport report;
    *report.mutable_kill_failed()->mutable_run() = to_run_id(effect.run);
    controller_.report(std::move(report));
}

void Jobs::report_data(const Checkpoints::News& news) {
    wire::AgentReport report;
    wire::DataReport& data = *report.mutable_data();
    *data.mutable_run() = to_run_id(batch_of(news.job));
    if (news.saved) data.set_saved(to_unix(*news.saved));
    data.set_problem(news.problem);
    controller_.report(std::move(report));
}

}  // namespace sluice
