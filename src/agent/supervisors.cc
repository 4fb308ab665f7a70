// What the supervisors say of their runs.
#include <csignal>

#include "agent/jobs.h"
#include "base/log.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

RunEnd end_of(const wire::StepEnd& end) {
    const Result<ExitStatus> exit = from_wire(end.exit());
    RunEnd result{.exit = exit ? *exit : ExitStatus{.code = 0, .signal = SIGKILL},
                  .usage = from_wire(end.usage()),
                  .srun_lost = end.srun_lost()};
    if (end.has_launch_error()) result.launch_error = from_wire(end.launch_error());
    return result;
}

void log_end(const RunKey& key, const RunEnd& end) {
    const char* what = key.step == kBatchStep ? "job" : "step";
    if (end.launch_error) {
        log_info("[{}] could not be started: {}", print_run(key), end.launch_error->detail);
    } else if (end.exit.oom_killed) {
        log_info("[{}] done with {}: processes were killed, out of memory", print_run(key), what);
    } else if (end.exit.signal != 0) {
        log_info("[{}] done with {}, signal {}", print_run(key), what, end.exit.signal);
    } else {
        log_info("[{}] done with {}, exit code {}", print_run(key), what, end.exit.code);
    }
}

}  // namespace

StepLine::Handlers Jobs::handlers_for(const RunKey& key) {
    return {[this, key](const wire::StepReport& report) { on_report(key, report); },
            [this, key] { on_gone(key); }};
}

void Jobs::on_report(const RunKey& key, const wire::StepReport& report) {
    if (report.has_state()) {
        handle(SupervisorState{key, report.state().user(), report.state().group()});
    } else if (report.has_started()) {
        const bool has_asked = report.started().has_user();
        const wire::UserRecord& user = report.started().user();
        if (has_asked) users_[{user.user(), user.group()}] = user;
        handle(SupervisorStarted{key, has_asked});
    } else if (report.has_killing()) {
        handle(SupervisorKilling{key, end_of(report.killing())});
    } else if (report.has_usage()) {
        on_usage(report.usage());
    } else if (report.has_end()) {
        const RunEnd end = end_of(report.end());
        if (node_.find(key)) log_end(key, end);
        handle(SupervisorEnded{key, end});
    }
}

void Jobs::on_gone(const RunKey& key) {
    const auto supervisor = supervisors_.find(key);
    if (supervisor == supervisors_.end()) return;
    std::optional<RunEnd> end;
    if (node_.find(key)) end = end_in_mark(key, supervisor->second.place);
    loop_.later([line = std::move(supervisor->second.line)] {});  // we are in one of its functions
    handle(SupervisorGone{key, std::move(end)});
}

std::optional<RunEnd> Jobs::end_in_mark(const RunKey& key, const std::string& place) const {
    const Result<std::string> bytes = read_file(mark_path(site_->spool, key, place));
    wire::StepEnd end;
    if (!bytes || bytes->empty() || !end.ParseFromString(*bytes)) return {};
    RunEnd result = end_of(end);
    log_end(key, result);
    return result;
}

}  // namespace sluice
