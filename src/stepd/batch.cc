#include "stepd/batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "model/batch_x11.h"
#include "model/errors.h"
#include "model/job.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"
#include "stepd/binding.h"
#include "stepd/limits.h"
#include "stepd/login.h"
#include "stepd/output.h"
#include "stepd/x11.h"

namespace sluice {

namespace {
constexpr std::chrono::seconds kLoginTimeout{120};
constexpr std::chrono::seconds kSayWithin{1};
}  // namespace

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
        return Error{ErrorCode::NodeUnable,
                     os_error(fmt::format("could not write the script to {}", path)).detail};
    }
    return path;
}

FileDemands BatchWork::files() const {
    FilenameContext context = filename_context(order_, user_);
    std::string pattern = request_.std_out;
    if (pattern.empty()) {
        pattern = context.array_task ? "slurm-%A_%a.out" : "slurm-%j.out";
    }
    auto path_of = [&](const std::string& name) {
        return absolute_path(expand_filename(name, context), request_.work_dir);
    };
    // Compat: a job that was requeued overwrites its output too, unless told to append.
    bool append = request_.open_mode == OpenMode::Append;
    std::string out = path_of(pattern);
    std::string err = request_.std_err.empty() ? out : path_of(request_.std_err);
    const std::string& here = request_.work_dir;
    FileDemands demands;
    demands.out = OpenDemand{"stdout", out, here, append};
    demands.err_is_out = err == out;
    if (!demands.err_is_out) demands.err = OpenDemand{"stderr", err, here, append};
    if (!request_.std_in.empty()) {
        demands.in = OpenDemand{"stdin", path_of(request_.std_in), here, false, true};
    }
    return demands;
}

void BatchWork::on_files(Result<Fd> err) {
    if (!err) {
        finished_ = true;
        return on_failed_(err.error());
    }
    err_ = std::move(*err);
    if (epilogs_) epilogs_->set_error(err_.get());
}

Environment BatchWork::make_environment() const {
    Environment environment = Environment::parse(order_.batch().environment());
    environment.set_default("HOME", user_.home);
    environment.set_default("PATH", "/usr/local/bin:/usr/bin:/bin");
    set_batch_variables(environment, order_, user_.name);
    set_display(environment);
    return environment;
}

// The login shell is the user's program: it runs where the script runs, and ends with it.
void BatchWork::add_login(ProcessSpec& spec) const {
    if (!request_.get_user_env) return;
    spec.before_program = [this](std::vector<std::string>& entries) {
        Environment environment = Environment::parse(order_.batch().environment());
        environment.add_missing(login_environment(user_, kLoginTimeout));
        set_batch_variables(environment, order_, user_.name);
        set_display(environment);
        environment.add_missing(Environment(std::move(entries)));
        entries = environment.entries();
    };
}

// The directory goes with the job, and the file with it.
Result<void> BatchWork::open_display() {
    if (request_.x11.empty()) return {};
    const BatchDisplay display =
        TRY(as(ErrorCode::LaunchFailed, parse_batch_display(request_.x11)));
    const std::string path = fmt::format("{}/xauth.batch", order_.directory());
    TRY(write_authority(path, authority_entry(display.number, display.cookie), user_));
    display_ = display.display;
    authority_ = path;
    return {};
}

void BatchWork::set_display(Environment& environment) const {
    if (display_.empty()) return;
    environment.set("DISPLAY", display_);
    environment.set("XAUTHORITY", authority_);
}

Result<void> BatchWork::start(const std::string& preface) {
    ProcessSpec spec;
    TRY(open_display());
    spec.program = TRY(write_script());
    spec.argv = {spec.program};
    spec.argv.insert(spec.argv.end(), request_.script_args.begin(), request_.script_args.end());
    spec.environment = make_environment().entries();
    spec.pid_variable = "SLURM_TASK_PID";
    spec.directory = request_.work_dir;
    spec.directory_fallback = "/tmp";
    spec.user = &user_;
    spec.umask = static_cast<mode_t>(request_.umask & 0777);
    spec.limits = limits_of(request_.rlimits);
    spec.preface = preface;
    spec.new_group = true;
    spec.cgroups = container_.entries();
    bind_batch(order_, spec);
    add_login(spec);
    add_prologs(spec, order_);
    oci_ = TRY(OciTask::make(order_, user_, 0));
    if (oci_) oci_->add_to(spec);
    opening_ = TRY(FileOpening::prepare(loop_, spec, files(),
                                        [this](Result<Fd> err) { on_files(std::move(err)); }));
    if (has_epilogs(order_)) {
        epilogs_ = std::make_unique<TaskEpilogs>(loop_, order_, spec,
                                                 [this](const std::string& line) { say(line); });
        epilogs_->begin_with(oci_);
    }
    shell_ = TRY(as(ErrorCode::LaunchFailed, spawn(spec)));
    opening_->started();
    return {};
}

std::vector<TaskProcess> BatchWork::processes() const {
    const pid_t pid = shell_ != -1 ? shell_ : epilog_;
    return pid == -1 ? std::vector<TaskProcess>{} : std::vector<TaskProcess>{{0, pid}};
}

void BatchWork::on_exit(pid_t pid, int wait_status) {
    if (pid != shell_ && pid != epilog_) return;
    opening_->take_answer();
    if (finished_) return;
    if (pid == shell_) exit_ = exit_status(wait_status);
    shell_ = -1;
    epilog_ = epilogs_ ? epilogs_->next(wait_status).value_or(-1) : -1;
    finished_ = epilog_ < 0;
}

void BatchWork::say(const std::string& line) {
    if (err_) write_in_time(err_.get(), line, kSayWithin);
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
