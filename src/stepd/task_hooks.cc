#include "stepd/task_hooks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "os/files.h"
#include "stepd/run_to_end.h"

namespace sluice {

namespace {

constexpr const char* kUserEpilog = "--task-epilog";
constexpr const char* kContainer = "removal of the container";
constexpr const char* kContext = "SLURM_SCRIPT_CONTEXT";

void add(std::vector<TaskHook>& hooks, const char* name, const std::string& program) {
    if (!program.empty()) hooks.push_back({name, program, nullptr});
}

std::vector<TaskHook> prologs_of(const wire::StepOrder& order) {
    std::vector<TaskHook> hooks;
    add(hooks, "TaskProlog", order.task_prolog());
    add(hooks, "--task-prolog", order.tasks().spec().task_prolog());
    return hooks;
}

std::vector<TaskHook> epilogs_of(const wire::StepOrder& order) {
    std::vector<TaskHook> hooks;
    add(hooks, kUserEpilog, order.tasks().spec().task_epilog());
    add(hooks, "TaskEpilog", order.task_epilog());
    return hooks;
}

// Compat: both outputs of a prolog are read, to their ends; what did not exit by itself counts
// as 1.
void run_prolog(const TaskHook& prolog, Environment& environment) {
    ProgramOutcome outcome{1, {}};
    if (access(prolog.program.c_str(), X_OK) != 0) {
        const char* why = std::strerror(errno);
        write_all(STDERR_FILENO, supervisor_line(fmt::format("{} can not be executed ({}) {}",
                                                             prolog.name, prolog.program, why)));
    } else {
        Environment its = environment;
        its.set(kContext, "prolog_task");
        outcome = run_to_end(prolog.program, {prolog.program}, its.entries());
    }
    write_all(STDOUT_FILENO, apply_prolog_output(environment, outcome.output));
    if (outcome.exit_code == 0) return;
    write_all(STDERR_FILENO,
              supervisor_line(fmt::format("{} failed status={}", prolog.name, outcome.exit_code)));
    _exit(outcome.exit_code);
}

}  // namespace

bool has_epilogs(const wire::StepOrder& order) {
    return !order.task_epilog().empty() || !order.tasks().spec().task_epilog().empty() ||
           OciTask::is_wanted(order);
}

void add_prologs(ProcessSpec& spec, const wire::StepOrder& order) {
    std::vector<TaskHook> prologs = prologs_of(order);
    if (prologs.empty()) return;
    spec.before_program = [first = std::move(spec.before_program),
                           prologs = std::move(prologs)](std::vector<std::string>& entries) {
        if (first) first(entries);
        Environment environment(std::move(entries));
        for (const TaskHook& prolog : prologs) run_prolog(prolog, environment);
        entries = environment.entries();
    };
}

std::string apply_prolog_output(Environment& environment, std::string_view output) {
    std::string printed;
    for (std::string_view line : split(output, '\n')) {
        const std::size_t blank = std::min(line.find(' '), line.size());
        const std::string_view verb = line.substr(0, blank);
        std::string_view rest = line.substr(blank);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        if (verb == "print" && !rest.empty()) {
            printed.append(rest).push_back('\n');
        } else if (verb == "unset") {
            environment.unset(trim(rest));
        } else if (verb == "export") {
            const std::size_t equals = std::min(rest.find('='), rest.size());
            const std::string_view name = rest.substr(0, equals);
            if (name.empty() || name == rest || rest.find('\0') != rest.npos) continue;
            environment.set(name, rest.substr(equals + 1));
        }
    }
    return printed;
}

TaskEpilogs::TaskEpilogs(EventLoop& loop, const wire::StepOrder& order, const ProcessSpec& task,
                         std::function<void(const std::string&)> say)
    : loop_(loop), say_(std::move(say)), epilogs_(epilogs_of(order)), spec_(task) {
    set_error(task.err);
    spec_.in = spec_.out = -1;
    spec_.kept = spec_.inherited = -1;
    spec_.open_files = nullptr;
    spec_.on_failure = nullptr;
    spec_.preface.clear();
    spec_.bound_preface = nullptr;
    spec_.new_session = spec_.controlling_tty = false;
    spec_.new_group = true;
    spec_.pid_variable.clear();
    spec_.before_program = nullptr;
    Environment environment(std::move(spec_.environment));
    environment.set(kContext, "epilog_task");
    spec_.environment = environment.entries();
}

void TaskEpilogs::begin_with(std::shared_ptr<const OciTask> container) {
    if (!container) return;
    epilogs_.insert(epilogs_.begin(), {kContainer, "", [container](int wait_status) {
                                           container->clean_up(wait_status);
                                       }});
}

void TaskEpilogs::set_error(int fd) {
    err_.reset(fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3));
    spec_.err = err_.get();
}

std::optional<pid_t> TaskEpilogs::next(int wait_status) {
    loop_.cancel(std::exchange(limit_, 0));
    if (!begun()) task_status_ = wait_status;
    if (begun() && wait_status != 0) {
        say_(supervisor_line(
            fmt::format("{} failed status={}", epilogs_[started_ - 1].name, wait_status)));
    }
    while (started_ < epilogs_.size()) {
        if (std::optional<pid_t> pid = start(epilogs_[started_++])) return pid;
    }
    err_.reset();
    return {};
}

std::optional<pid_t> TaskEpilogs::start(const TaskHook& epilog) {
    spec_.program = epilog.program;
    spec_.search_path.reset();
    spec_.argv = {epilog.program};
    spec_.before_program = nullptr;
    if (epilog.action) {
        spec_.before_program = [&](std::vector<std::string>&) {
            epilog.action(task_status_);
            _exit(0);
        };
    }
    Result<pid_t> pid = spawn(spec_);
    if (!pid) {
        say_(supervisor_line(fmt::format("{}: {}", epilog.name, pid.error().detail)));
        return {};
    }
    // Compat: that of slurm.conf may take as long as the job may.
    if (epilog.name == kUserEpilog || epilog.action) {
        limit_ = loop_.after(kEpilogTime, [group = *pid] { kill(-group, SIGKILL); });
    }
    return *pid;
}

}  // namespace sluice
