// The controller's orders about jobs that are here, and what is found after a restart.
#include <fmt/format.h>
#include <unistd.h>

#include "agent/jobs.h"
#include "base/log.h"
#include "os/files.h"
#include "protocol/step_mark.h"

namespace sluice {

namespace {
constexpr std::uint32_t kAllSteps = 0xffffffff;

// The variables of the epilog for a job that ran nothing on this node.
HookJob hook_job_of(const wire::Terminate& order) {
    wire::StepOrder here;
    *here.mutable_run() = order.run();
    here.set_user(order.job().user());
    here.set_group(order.job().group());
    if (order.job().nodes_size() > 0) *here.mutable_share() = order.job().nodes(0);
    return hook_job(here, order.job());
}

void log_order(const NodeState& node, const EndOrdered& order) {
    const JobHere* job = node.find(order.run.job);
    if (!order.only_step && job && !job->is_ending && !job->runs.empty()) {
        log_info("job {} is told to end; SIGKILL follows after {} s", order.run.job.job.value,
                 order.grace.count());
    } else if (order.only_step && node.find(order.run)) {
        log_info("[{}] is told to end; SIGKILL follows after {} s", print_run(order.run),
                 order.grace.count());
    }
}
}  // namespace

void Jobs::signal(const wire::SignalJob& order) {
    const RunKey run = key_of(order.run());
    SignalOrdered event{run.job,
                        {.signal = order.signal(),
                         .batch_shell = order.batch_shell(),
                         .children = order.children(),
                         .steps = order.steps(),
                         .if_handled = order.if_handled(),
                         .suspension = order.suspension(),
                         .message = order.message(),
                         .stack_dump = order.stack_dump()}};
    if (run.step.value != kAllSteps) event.order.step = run.step;
    handle(event);
}

void Jobs::terminate(const wire::Terminate& order) {
    EndOrdered event{.run = key_of(order.run()),
                     .grace = Seconds{order.grace_seconds()},
                     .reason_line = order.reason_line(),
                     .only_step = order.only_step()};
    if (order.has_job()) event.job = hook_job_of(order);
    log_order(node_, event);
    handle(event);
}

std::vector<JobKey> Jobs::going_on() const {
    std::vector<JobKey> found;
    for (const auto& [key, job] : node_.jobs) {
        if (!job.runs.empty() && !job.takes_no_more()) found.push_back(key);
    }
    return found;
}

void Jobs::end_for_data(const JobKey& key, const std::string& why) {
    const JobHere* job = node_.find(key);
    if (!job || job->takes_no_more()) return;
    log_error("job {}: {}", key.job.value, why);
    report_data({key, {}, why});
    const std::string line =
        fmt::format("*** JOB {} ON {} ENDED: {} ***", key.job.value, site_->node.name, why);
    std::vector<StepId> steps;
    for (const auto& [step, run] : job->runs) steps.push_back(step);
    // The script ends the job; without it here, its steps end.
    const bool has_script = node_.find(batch_of(key)) != nullptr;
    if (has_script) steps = {kBatchStep};
    for (const StepId step : steps) {
        handle(EndOrdered{.run = {key, step},
                          .grace = site_->config.kill_wait,
                          .reason_line = line,
                          .only_step = !has_script});
    }
}

void Jobs::keep_only(const wire::RunList& jobs) {
    std::set<JobKey> kept;
    for (const wire::RunId& run : jobs.runs()) kept.insert(key_of(run).job);
    for (const auto& [key, job] : node_.jobs) kept.insert(key);
    scratch_.keep_only(kept);
    private_dirs_.keep_only(kept);
    data_jobs_ = kept;
    tidy_data();
}

void Jobs::on_acknowledged(const wire::AgentReport& report) {
    using Kind = ReportStored::Kind;
    if (report.has_step_ended())
        handle(ReportStored{Kind::StepEnd, key_of(report.step_ended().run())});
    if (report.has_job_ended() && !report.job_ended().cleaning())
        handle(ReportStored{Kind::JobEnd, key_of(report.job_ended().run())});
    if (report.has_node_cleaned())
        handle(ReportStored{Kind::Cleaned, key_of(report.node_cleaned().run())});
}

std::vector<wire::RunId> Jobs::known() const {
    std::vector<wire::RunId> result;
    for (const RunKey& run : known_runs(node_)) result.push_back(to_run_id(run));
    return result;
}

std::set<JobKey> Jobs::jobs_here() const {
    std::set<JobKey> jobs;
    for (const auto& [key, _] : node_.jobs) jobs.insert(key);
    return jobs;
}

std::vector<pid_t> Jobs::supervisors_of(const JobKey& job) const {
    std::vector<pid_t> pids;
    for (const auto& [run, supervisor] : supervisors_) {
        if (run.job != job || !supervisor.line) continue;
        if (const std::optional<pid_t> pid = supervisor.line->pid()) pids.push_back(*pid);
    }
    return pids;
}

namespace {

// Supervisors that have not made their marks start nothing from now on.
void forbid_pending(const std::string& directory) {
    for (const std::string& name : list_directory(directory)) {
        if (name.starts_with(kPendingMark)) unlink(fmt::format("{}/{}", directory, name).c_str());
    }
}

}  // namespace

void Jobs::recover() {
    JobDirectories::remove_spare(site_->spool);
    Result<void> made = write_file_atomically(mark_original(site_->spool), "", {.mode = 0600});
    if (!made) log_error("cannot write to the spool: {}", made.error().detail);
    SpoolRead event;
    for (const std::string& directory : list_directory(site_->spool)) {
        forbid_pending(site_->spool + "/" + directory);
        for (const std::string& name : list_directory(site_->spool + "/" + directory)) {
            const std::optional<Mark> mark = parse_mark(directory, name);
            if (mark) event.runs.push_back(find_run(*mark));
        }
    }
    handle(std::move(event));
    for (const auto& [key, job] : node_.jobs) {
        if (job.hook.syncs && !job.is_closing) checkpoints_.begin(*site_, key);
    }
    recover_data();
}

FoundRun Jobs::find_run(const Mark& mark) {
    FoundRun found{.run = mark.key, .job = {.key = mark.key.job}};
    Result<std::string> learned = read_file(epilog_path(site_->spool, mark.key.job));
    if (learned) recall(found.job, *learned);
    found.job.syncs = checkpoints_.recall(site_->spool, mark.key.job);
    Supervisor& supervisor = supervisors_[mark.key];
    supervisor.place = mark.place;
    Result<std::unique_ptr<StepLine>> line =
        StepLine::find(loop_, mark.place, handlers_for(mark.key));
    found.is_supervised = line.has_value();
    if (line) {
        log_info("found {} running", print_run(mark.key));
        supervisor.line = std::move(*line);
    } else {
        found.end = end_in_mark(mark.key, mark.place);
    }
    return found;
}

}  // namespace sluice
