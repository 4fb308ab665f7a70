#include "stepd/batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "model/errors.h"
#include "model/job.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"
#include "stepd/limits.h"
#include "stepd/login.h"
#include "stepd/output.h"

namespace sluice {

namespace {
constexpr std::chrono::seconds kLoginTimeout{120};
}

wire::ExitStatus exit_status(int wait_status) {
    wire::ExitStatus exit;
    if (WIFEXITED(wait_status)) exit.set_code(static_cast<std::uint32_t>(WEXITSTATUS(wait_status)));
    if (WIFSIGNALED(wait_status)) {
        exit.set_signal(static_cast<std::uint32_t>(WTERMSIG(wait_status)));
    }
    return exit;
}

void set_out_of_memory(wire::ExitStatus& exit) {
    constexpr std::uint32_t kOutOfMemory = 125;
    exit.set_code(0);
    exit.set_signal(kOutOfMemory);
    exit.set_oom_killed(true);
}

// The directory is root's, so that the user cannot put a link where we are about to write.
Result<std::string> BatchWork::write_script() const {
    std::string path = order_.directory() + "/slurm_script";
    unlink(path.c_str());
    Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700));
    if (!file || !write_all(file.get(), order_.batch().script()) ||
        (geteuid() == 0 && fchown(file.get(), user_.uid, user_.gid) != 0)) {
        return Error{ErrorCode::LaunchFailed,
                     os_error(fmt::format("could not write the script to {}", path)).detail};
    }
    return path;
}

Result<void> BatchWork::open_files() {
    const wire::JobRequest& request = order_.batch().job().request();
    FilenameContext context = filename_context(order_, user_);
    std::string pattern = request.std_out();
    if (pattern.empty()) {
        pattern = context.array_task ? "slurm-%A_%a.out" : "slurm-%j.out";
    }
    auto path_of = [&](const std::string& name) {
        return absolute_path(expand_filename(name, context), request.work_dir());
    };
    // Compat: a job that was requeued overwrites its output too, unless told to append.
    bool append = request.open_mode() == static_cast<std::uint32_t>(OpenMode::Append);
    std::string out = path_of(pattern);
    std::string err = request.std_err().empty() ? out : path_of(request.std_err());
    std::string in = request.std_in().empty() ? "/dev/null" : path_of(request.std_in());
    const std::string& here = request.work_dir();
    out_ = TRY(open_as(user_, {"stdout", out, here, append}));
    if (err != out) err_ = TRY(open_as(user_, {"stderr", err, here, append}));
    in_ = TRY(open_as(user_, {"stdin", in, here, false, true}));
    return {};
}

Environment BatchWork::make_environment() const {
    Environment environment = Environment::parse(order_.batch().environment());
    if (order_.batch().job().request().get_user_env()) {
        environment.add_missing(login_environment(user_, kLoginTimeout));
    } else {
        environment.set_default("HOME", user_.home);
    }
    environment.set_default("PATH", "/usr/local/bin:/usr/bin:/bin");
    set_batch_variables(environment, order_, user_.name);
    return environment;
}

Result<void> BatchWork::start(const std::string& preface) {
    const wire::JobRequest& request = order_.batch().job().request();
    mode_t ours = umask(static_cast<mode_t>(request.umask() & 0777));
    Result<void> opened = open_files();
    umask(ours);
    if (!opened) return opened;
    ProcessSpec spec;
    spec.program = TRY(write_script());
    spec.argv = {spec.program};
    spec.argv.insert(spec.argv.end(), request.script_args().begin(), request.script_args().end());
    spec.environment = make_environment().entries();
    spec.pid_variable = "SLURM_TASK_PID";
    spec.directory = request.work_dir();
    spec.directory_fallback = "/tmp";
    spec.user = &user_;
    spec.umask = static_cast<mode_t>(request.umask() & 0777);
    spec.limits = limits_of(request.rlimits());
    spec.in = in_.get();
    spec.out = out_.get();
    spec.err = err_ ? err_.get() : out_.get();
    spec.new_group = true;
    if (!preface.empty()) write_all(spec.err, preface);
    spec.cgroups = container_.entries();
    add_prologs(spec, order_);
    shell_ = TRY(as(ErrorCode::LaunchFailed, spawn(spec)));
    if (has_epilogs(order_)) {
        epilogs_ = std::make_unique<TaskEpilogs>(loop_, order_, spec,
                                                 [this](const std::string& line) { say(line); });
    }
    return {};
}

void BatchWork::on_exit(pid_t pid, int wait_status) {
    if (pid != shell_ && pid != epilog_) return;
    if (pid == shell_) exit_ = exit_status(wait_status);
    shell_ = -1;
    epilog_ = epilogs_ ? epilogs_->next(wait_status).value_or(-1) : -1;
    finished_ = epilog_ < 0;
}

void BatchWork::say(const std::string& line) {
    write_all(err_ ? err_.get() : out_.get(), line);
}

void BatchWork::announce(const std::string& reason_line) {
    say(supervisor_line(reason_line));
}

void BatchWork::signal(const wire::SignalJob& order) {
    if (order.children() && order.if_handled()) {
        container_.signal_handlers(order.signal());
    } else if (order.children()) {
        container_.signal_all(order.signal());
    } else if (order.batch_shell() && shell_ > 0) {
        kill(shell_, order.signal());
    }
}

}  // namespace sluice
