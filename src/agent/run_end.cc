// What the supervisors report of their runs, and runs whose supervisor or processes do not go away
// as they should (UnkillableStepTimeout, UnkillableStepProgram).
#include <csignal>

#include "agent/jobs.h"
#include "base/log.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/process.h"
#include "protocol/convert.h"

namespace sluice {

namespace {
// What a supervisor may need beside the grace time: the epilogs of tasks.
constexpr Seconds kSupervisorTime{5};

void log_end(const RunKey& key, const wire::StepEnd& end) {
    const char* what = key.step == kBatchStep ? "job" : "step";
    if (end.has_launch_error()) {
        log_info("[{}] could not be started: {}", print_run(key), end.launch_error().detail());
    } else if (end.exit().oom_killed()) {
        log_info("[{}] done with {}: processes were killed, out of memory", print_run(key), what);
    } else if (end.exit().signal() != 0) {
        log_info("[{}] done with {}, signal {}", print_run(key), what, end.exit().signal());
    } else {
        log_info("[{}] done with {}, exit code {}", print_run(key), what, end.exit().code());
    }
}

}  // namespace

void Jobs::on_report(const RunKey& key, const wire::StepReport& report) {
    Run* run = find(key);
    if (!run) return;
    if (report.has_state()) {
        run->started = true;
        HookJob& who = find(key.job)->who;
        who.user = report.state().user();
        who.group = report.state().group();
    } else if (report.has_started()) {
        run->started = true;
        if (report.started().has_user()) {
            known_users_.remember(report.started().user(), KnownUsers::Moment::clock::now());
            user_was_asked_for(key);
        }
        report_launched(key);
    } else if (report.has_killing()) {
        run->so_far = report.killing();
        watch_kill(key, Seconds{0});
    } else if (report.has_usage()) {
        on_usage(report.usage());
    } else if (report.has_end()) {
        on_end(key, report.end());
    }
}

// The end of a step does not say why it could not be started, and the node may be the cause.
void Jobs::report_refused_step(const RunKey& key, const wire::StepEnd& end) {
    if (!end.has_launch_error()) return;
    const Error error = from_wire(end.launch_error());
    if (is_fault_of_node(error.code)) report_launched(key, &error);
}

void Jobs::on_end(const RunKey& key, const wire::StepEnd& end) {
    user_was_asked_for(key);
    log_end(key, end);
    JobHere* job = find(key.job);
    auto run = job->runs.find(key.step);
    if (run != job->runs.end()) {
        loop_.cancel(run->second.kill_timer);
        rests_[key] = {std::move(run->second.line), std::move(run->second.place)};
        job->runs.erase(run);
    }
    if (key.step != kBatchStep) {
        report_refused_step(key, end);
        report_step_ended(key, end);
    } else {
        job->batch_end = end;
        // The script is over, and with it the job: steps it left behind have to go.
        order_end(key.job, site_->config.kill_wait, "");
    }
    close_if_clean(key.job);
}

// Normally the end was reported before. Otherwise it may be in the mark; or the supervisor was
// killed, and what it looked after is still there.
void Jobs::on_gone(const RunKey& key) {
    if (auto rest = rests_.find(key); rest != rests_.end()) {
        loop_.later([line = std::move(rest->second.line)] {});  // we are in one of its functions
    }
    const Run* run = find(key);
    if (!run) return;
    wire::StepEnd end;
    Result<std::string> bytes = read_file(mark_path(site_->spool, key, run->place));
    if (bytes && !bytes->empty() && end.ParseFromString(*bytes)) return on_end(key, end);
    log_error("[{}] the supervisor died; its processes are killed", print_run(key));
    watch_kill(key, Seconds{0});
    clear_leftovers(key);
}

CgroupPlace Jobs::cgroup_of(const RunKey& key) const {
    return cgroup_place(*site_, key.job.job.value, print_step(key.step));
}

void Jobs::clear_leftovers(const RunKey& key) {
    if (!find(key)) return;
    if (site_->cgroups && !kill_leftovers(cgroup_of(key))) {
        loop_.after(std::chrono::milliseconds{100}, [this, key] { clear_leftovers(key); });
        return;
    }
    on_end(key, end_without_report(*find(key)));
}

void Jobs::watch_kill(const RunKey& key, Seconds grace) {
    Run* run = find(key);
    const Seconds length = grace + kSupervisorTime + site_->config.unkillable_step_timeout;
    const KnownUsers::Moment time = KnownUsers::Moment::clock::now() + length;
    if (!run || (run->kill_timer != 0 && run->kill_time <= time)) return;
    loop_.cancel(run->kill_timer);
    run->kill_time = time;
    run->kill_timer = loop_.after(length, [this, key] { give_up(key); });
}

wire::StepEnd Jobs::end_without_report(const Run& run) const {
    if (run.so_far) return *run.so_far;
    wire::StepEnd end;
    end.mutable_exit()->set_signal(SIGKILL);
    return end;
}

// The job ends for the controller, and the node gets no other one. What can be killed is killed,
// the supervisor included: it may be what does not answer.
void Jobs::give_up(const RunKey& key) {
    const Run* run = find(key);
    if (!run) return;
    log_error("[{}] could not be killed within UnkillableStepTimeout, {} s: giving it up",
              print_run(key), site_->config.unkillable_step_timeout.count());
    if (const std::optional<pid_t> supervisor = run->line ? run->line->pid() : std::nullopt) {
        const std::vector<pid_t> left = descendants(*supervisor);
        kill(*supervisor, SIGKILL);
        for (pid_t pid : left) kill(pid, SIGKILL);
    }
    if (site_->cgroups) kill_leftovers(cgroup_of(key));
    hooks_.run_unkillable(*site_, key);
    wire::AgentReport report;
    *report.mutable_kill_failed()->mutable_run() = to_run_id(key);
    report_(std::move(report));
    on_end(key, end_without_report(*run));
}

}  // namespace sluice
