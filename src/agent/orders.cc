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
void learn_from(const wire::Terminate& order, HookJob& job) {
    wire::StepOrder here;
    *here.mutable_run() = order.run();
    here.set_user(order.job().user());
    here.set_group(order.job().group());
    if (order.job().nodes_size() > 0) *here.mutable_share() = order.job().nodes(0);
    learn(job, here, order.job());
}
}  // namespace

void Jobs::signal(const wire::SignalJob& order) {
    RunKey key = key_of(order.run());
    JobHere* job = find(key.job);
    if (!job) return;
    for (auto& [step, run] : job->runs) {
        if (!run.line) continue;
        bool named = order.run().step() == kAllSteps || order.run().step() == step.value;
        bool wanted = step == kBatchStep ? order.batch_shell() || order.children()
                                         : named && (order.steps() || order.children());
        if (!wanted) continue;
        wire::StepCommand command;
        *command.mutable_signal() = order;
        run.line->send(command);
    }
}

void Jobs::terminate(const wire::Terminate& order) {
    RunKey key = key_of(order.run());
    if (order.only_step()) {
        if (Run* run = find(key)) {
            if (!run->line) {
                run->cancelled = true;
                return;
            }
            log_info("[{}] is told to end; SIGKILL follows after {} s", print_run(key),
                     order.grace_seconds());
            wire::StepCommand command;
            *command.mutable_terminate() = order;
            run->line->send(command);
            watch_kill(key, Seconds{order.grace_seconds()});
        } else if (!unacknowledged_.contains(key)) {
            // It never arrived here, or its end has been reported already.
            never_start_.insert(key);
            wire::StepEnd end;
            end.mutable_exit()->set_signal(9);
            report_step_ended(key, end);
        }
        return;
    }
    JobHere* job = find(key.job);
    const bool end_is_reported = unacknowledged_.contains({key.job, kBatchStep});
    if (!job && order.has_job() && !end_is_reported && !over_.contains(key.job)) {
        job = &jobs_[key.job];
        learn_from(order, job->who);
    }
    if (!job) {
        forget_cancelled_steps(key.job);
        note_over(key.job);
        if (end_is_reported) return;  // JobEnded says as much
        wire::AgentReport report;
        *report.mutable_node_cleaned()->mutable_run() = to_run_id({key.job, kBatchStep});
        return report_(std::move(report));
    }
    if (!job->ending && !job->runs.empty()) {
        log_info("job {} is told to end; SIGKILL follows after {} s", key.job.job.value,
                 order.grace_seconds());
    }
    job->ending = true;
    order_end(key.job, Seconds{order.grace_seconds()}, order.reason_line());
    close_if_clean(key.job);
}

void Jobs::on_acknowledged(const wire::AgentReport& report) {
    auto forget = [&](const wire::RunId& run) {
        unacknowledged_.erase(key_of(run));
        clear_rest(key_of(run));
    };
    if (report.has_step_ended()) return forget(report.step_ended().run());
    JobId job;
    if (report.has_job_ended()) {
        forget(report.job_ended().run());
        job = JobId{report.job_ended().run().job()};
    } else if (report.has_node_cleaned()) {
        job = JobId{report.node_cleaned().run().job()};
    } else {
        return;
    }
    // A requeued run may be in the same directory already.
    auto again = jobs_.lower_bound({job, 0});
    if (again == jobs_.end() || again->first.job != job) {
        directories_.remove(site_->spool, job);
    }
}

void Jobs::clear_rest(const RunKey& key) {
    auto rest = rests_.find(key);
    if (rest == rests_.end()) return;
    if (rest->second.line) {
        wire::StepCommand command;
        command.mutable_end_known();
        rest->second.line->send(command);
    }
    unlink(mark_path(site_->spool, key, rest->second.place).c_str());
    rests_.erase(rest);
}

std::vector<wire::RunId> Jobs::known() const {
    std::vector<wire::RunId> result;
    for (const auto& [key, job] : jobs_) {
        for (const auto& [step, run] : job.runs) result.push_back(to_run_id({key, step}));
        if (job.batch_end) result.push_back(to_run_id({key, kBatchStep}));
    }
    for (const RunKey& key : unacknowledged_) result.push_back(to_run_id(key));
    return result;
}

void Jobs::recover() {
    JobDirectories::remove_spare(site_->spool);
    Result<void> made = write_file_atomically(mark_original(site_->spool), "", {.mode = 0600});
    if (!made) log_error("cannot write to the spool: {}", made.error().detail);
    std::vector<Mark> marks;
    for (const std::string& directory : list_directory(site_->spool)) {
        for (const std::string& name : list_directory(site_->spool + "/" + directory)) {
            if (std::optional<Mark> mark = parse_mark(directory, name))
                marks.push_back(std::move(*mark));
        }
    }
    // All of them first: whether a job is clean can only be said when every run of it is known.
    for (const Mark& mark : marks) {
        JobHere& job = jobs_[mark.key.job];
        job.prolog = JobHere::Prolog::Done;
        job.who.key = mark.key.job;
        Result<std::string> learned = read_file(epilog_path(site_->spool, mark.key.job));
        if (learned) recall(job.who, *learned);
        job.runs[mark.key.step].place = mark.place;
    }
    // Then all that are alive: the end of one may be the end of the others.
    std::vector<RunKey> gone;
    for (const Mark& mark : marks) {
        Result<std::unique_ptr<StepLine>> line =
            StepLine::find(loop_, mark.place, handlers_for(mark.key));
        if (!line) {
            gone.push_back(mark.key);
            continue;
        }
        log_info("found {} running", print_run(mark.key));
        find(mark.key)->line = std::move(*line);
    }
    for (const RunKey& key : gone) on_gone(key);
}

}  // namespace sluice
