#include "stepd/tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/log.h"
#include "base/log_copy.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/job.h"
#include "model/times.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"
#include "os/pty.h"
#include "stepd/environment.h"
#include "stepd/gpus.h"
#include "stepd/limits.h"
#include "stepd/login.h"
#include "stepd/pmi_server.h"
#include "stepd/pmix_helper.h"

namespace sluice {

namespace {

constexpr std::chrono::milliseconds kExitDelay{100};
constexpr std::chrono::seconds kFarewellMax{30};         // for srun to read the end and to close
constexpr std::chrono::seconds kAttachedFarewellMax{5};  // the same for sattach
constexpr const char* kTaskFailed = " DUE TO TASK FAILURE";
constexpr const char* kStepTimeLimit = " DUE TO TIME LIMIT";  // of a job: after "*** JOB ..."

// " DUE TO TIME LIMIT" of "*** JOB 1 ON n1 CANCELLED AT ... DUE TO TIME LIMIT ***".
std::string cause_in(const std::string& reason_line) {
    const std::size_t start = std::min(reason_line.find(" DUE "), reason_line.size());
    return reason_line.substr(start, reason_line.rfind(" ***") - start);
}

// By KILL, itself or, as a shell says it of its last command, its child.
bool was_killed(const wire::ExitStatus& exit) {
    return exit.signal() == SIGKILL || exit.code() == 128 + SIGKILL;
}

// --multi-prog: tasks have programs of their own.
const google::protobuf::RepeatedPtrField<std::string>& argv_of(const wire::TaskSpec& spec,
                                                               std::uint32_t task) {
    for (const wire::TaskProgram& program : spec.programs()) {
        if (std::find(program.tasks().begin(), program.tasks().end(), task) !=
            program.tasks().end())
            return program.argv();
    }
    return spec.argv();
}

bool worse(const wire::ExitStatus& a, const wire::ExitStatus& b) {
    auto code = [](const wire::ExitStatus& exit) {
        return exit.signal() ? 128 + exit.signal() : exit.code();
    };
    return code(a) > code(b);
}

}  // namespace

TaskWork::TaskWork(EventLoop& loop, const wire::StepOrder& order, Fd srun,
                   std::function<void(bool)> terminate, std::function<void(int, bool)> signal_all,
                   OnFailed on_failed)
    : loop_(loop),
      order_(order),
      spec_(order.tasks().spec()),
      terminate_(std::move(terminate)),
      signal_all_(std::move(signal_all)),
      on_failed_(std::move(on_failed)),
      attached_(loop, {[this](const wire::StreamData& data) { feed(data); }, [this] { pace(); }}) {
    srun_ = std::make_unique<Stream>(
        loop_, std::move(srun),
        Stream::Handlers{[this](std::string_view bytes) { on_input(bytes); }, [this] { on_lost(); },
                         [this] { pace(); }});
    if (!order.place().empty()) {
        attach_door_ = std::make_unique<AttachDoor>(
            loop, order.place(), [this](Fd connection) { attach(std::move(connection)); });
    }
}

void TaskWork::prepare(const User& user, const Container& container) {
    user_ = &user;
    container_ = &container;
}

void TaskWork::attach(Fd connection) {
    if (done_sent_) return;
    const wire::LaunchTasks& launch = order_.tasks();
    wire::StepOutput greeting;
    wire::Attached& attached = *greeting.mutable_attached();
    attached.set_total_tasks(launch.total_tasks());
    *attached.mutable_task_ids() = launch.task_ids();
    attached.set_node_rank(launch.node_rank());
    attached.set_pty(spec_.pty());
    for (const auto& task : tasks_) {
        if (!task->told) continue;
        wire::TaskExited& ended = *attached.add_ended();
        ended.set_task(task->id);
        *ended.mutable_exit() = task->exit;
    }
    attached_.add(std::move(connection), greeting, recent_.all());
}

Result<void> TaskWork::start(const std::string& preface) {
    if (spec_.argv_size() == 0) return Error{ErrorCode::LaunchFailed, "no program was named"};
    if (order_.tasks().task_ids_size() == 0) {
        return Error{ErrorCode::LaunchFailed, "no task was named for this node"};
    }
    if (spec_.log_level() > 0) show_log();
    log_info("starting {} tasks", order_.tasks().task_ids_size());
    preface_ = preface;
    binding_ = TRY(StepBinding::of_tasks(order_));
    TRY(open_display());
    TRY(make_pmi());
    if (!pmi_) return start_tasks();
    TRY(pmi_->start());
    starting_ = true;
    return {};
}

// srun --slurmd-debug.
void TaskWork::show_log() {
    constexpr auto kMost = static_cast<std::uint32_t>(LogLevel::Debug5);
    const auto level = static_cast<LogLevel>(std::min(spec_.log_level(), kMost));
    copy_log(level, [this](const std::string& line) {
        say(fmt::format("slurmstepd-{}: {}", order_.node(), line));
    });
}

TaskWork::~TaskWork() {
    copy_log(LogLevel::Quiet, {});
}

void TaskWork::start_no_more() {
    starting_ = false;
    if (pmi_ && running_ == 0) pmi_->finish();
}

Result<void> TaskWork::open_display() {
    if (!spec_.has_x11()) return {};
    auto carry = [this](const wire::X11Data& data) {
        wire::StepOutput output;
        *output.mutable_x11() = data;
        send(output);
        pace();
    };
    x11_ = TRY(X11Display::open(loop_, order_, *user_, carry, [this] { pace(); }));
    return {};
}

Result<void> TaskWork::make_pmi() {
    const std::string& kind = spec_.mpi();
    if (kind.empty() || kind == "none") return {};
    Pmi::Handlers handlers;
    handlers.send = [this](const wire::StepOutput& output) {
        send(output);
        pace();
    };
    handlers.say = [this](const std::string& line) { say(line); };
    // Later: our caller may not have noted that the start has begun.
    handlers.on_ready = [this](Result<void> ready) {
        loop_.later([this, ready] { on_pmi_ready(ready); });
    };
    if (kind == "pmi2") {
        pmi_ = std::make_unique<PmiServer>(loop_, order_, std::move(handlers));
    } else if (kind == "pmix") {
        pmi_ =
            std::make_unique<PmixHelper>(loop_, order_, *user_, *container_, std::move(handlers));
    } else {
        return Error{ErrorCode::LaunchFailed, fmt::format("unknown kind of MPI '{}'", kind)};
    }
    return {};
}

void TaskWork::on_pmi_ready(const Result<void>& ready) {
    if (ready) return go_on_starting();
    starting_ = false;
    on_failed_(ready.error());
}

// One after the other: the first task that opens a shared file empties it, and the next must not
// have written to it by then.
Result<void> TaskWork::start_tasks() {
    const auto count = static_cast<std::size_t>(order_.tasks().task_ids_size());
    starting_ = true;
    while (tasks_.size() < count) {
        const std::size_t local = tasks_.size();
        Result<void> started = start_task(local, local == 0 ? preface_ : "");
        if (!started) {
            starting_ = false;
            return started;
        }
        starting_ = tasks_.size() < count;
        if (tasks_.back()->opening && tasks_.back()->opens_files) return {};
    }
    return {};
}

void TaskWork::go_on_starting() {
    if (!starting_) return;
    if (Result<void> started = start_tasks(); !started) on_failed_(started.error());
}

void TaskWork::on_files(Task& task, Result<Fd> err) {
    task.opening.reset();
    if (!err) {
        starting_ = false;
        task.told = true;  // the error says it
        return on_failed_(err.error());
    }
    tell_started(task);
    if (task.epilogs) task.epilogs->set_error(err->get());
    if (task.opens_files) loop_.later([this] { go_on_starting(); });
}

Result<ProcessSpec> TaskWork::make_spec(std::size_t local, const Ends& ends) {
    Environment environment = Environment::parse(spec_.environment());
    environment.add_missing(minimal_environment(*user_));
    const TaskDevices devices = TRY(devices_of_task(order_, local));
    for (const std::string& complaint : devices.complaints) say(supervisor_line(complaint));
    set_task_variables(environment, order_, *user_, local, devices.gpus);
    if (x11_) x11_->set_variables(environment);
    ProcessSpec spec;
    TRY(binding_.apply(local, environment, spec));
    if (pmi_) TRY(pmi_->add_task(local, environment, spec));
    const auto& argv = argv_of(spec_, order_.tasks().task_ids(static_cast<int>(local)));
    spec.argv = {argv.begin(), argv.end()};
    spec.program = spec.argv[0];
    spec.search_path = environment.get("PATH");
    spec.environment = environment.entries();
    spec.pid_variable = "SLURM_TASK_PID";
    spec.directory = spec_.work_dir();
    spec.directory_fallback = "/tmp";
    spec.user = user_;
    spec.umask = static_cast<mode_t>(spec_.umask() & 0777);
    std::vector<std::pair<std::string, std::uint64_t>> limits;
    for (const wire::Rlimit& limit : spec_.rlimits()) {
        limits.emplace_back(limit.name(), limit.soft());
    }
    spec.limits = limits_of(limits);
    spec.in = ends.in.get();
    spec.out = ends.out.get();
    spec.err = ends.err ? ends.err.get() : ends.out.get();
    spec.preface = devices.binding;
    spec.new_group = !ends.terminal;
    spec.new_session = ends.terminal;
    spec.controlling_tty = ends.terminal;
    spec.cgroups = container_->entries();
    add_prologs(spec, order_);
    return spec;
}

Result<void> TaskWork::start_task(std::size_t local, const std::string& preface) {
    tasks_.push_back(std::make_unique<Task>());
    Task& task = *tasks_.back();
    task.id = order_.tasks().task_ids(static_cast<int>(local));
    const Ends ends = TRY(open_ends(task, local));
    ProcessSpec spec = TRY(make_spec(local, ends));
    spec.preface.insert(0, preface);
    task.container = TRY(OciTask::make(order_, *user_, task.id));
    if (task.container) task.container->add_to(spec);
    if (has_epilogs(order_)) {
        task.epilogs = std::make_unique<TaskEpilogs>(
            loop_, order_, spec, [this](const std::string& line) { say(line); });
        task.epilogs->begin_with(task.container);
    }
    // Also of a task without files: it says if it could not join its cgroup.
    task.opens_files = ends.files.any();
    task.opening = TRY(FileOpening::prepare(loop_, spec, ends.files, [this, &task](Result<Fd> err) {
        on_files(task, std::move(err));
    }));
    task.pid = TRY(as(ErrorCode::LaunchFailed, spawn(spec)));
    if (pmi_) pmi_->task_started(local);
    ++running_;
    task.opening->started();
    return {};
}

void TaskWork::tell_started(const Task& task) {
    log_info("task {} ({}) started", task.id, task.pid);
    wire::StepOutput output;
    output.mutable_started()->set_task(task.id);
    output.mutable_started()->set_pid(static_cast<std::uint32_t>(task.pid));
    send(output);
}

std::vector<TaskProcess> TaskWork::processes() const {
    std::vector<TaskProcess> running;
    for (const auto& task : tasks_) {
        if (task->pid != -1 && !task->exited) running.push_back({task->id, task->pid});
    }
    return running;
}

void TaskWork::on_exit(pid_t pid, int wait_status) {
    if (pmi_ && pmi_->on_exit(pid)) return;
    for (auto& each : tasks_) {
        Task& task = *each;
        if (task.pid != pid || task.exited) continue;
        if (task.opening) task.opening->take_answer();
        if (std::exchange(task.opening, nullptr))
            starting_ = false;  // killed before they were open
        if (!task.epilogs || !task.epilogs->begun()) {
            task.exit = exit_status(wait_status);
            if (was_killed(task.exit) && container_->oom_kills() > 0) set_out_of_memory(task.exit);
            if (task.exit.oom_killed() && spec_.oom_kill_step()) signal_all_(SIGKILL, false);
            hint_at_pmi(task);
        }
        const std::optional<pid_t> epilog =
            task.epilogs ? task.epilogs->next(wait_status) : std::nullopt;
        if (epilog) {
            task.pid = *epilog;
            return;
        }
        task.exited = true;
        log_info("task {} ({}) exited with exit code {}, signal {}", task.id, pid, task.exit.code(),
                 task.exit.signal());
        if (worse(task.exit, worst_)) worst_ = task.exit;
        --running_;
        if (pmi_ && tasks_are_over()) pmi_->finish();
        if (spec_.wait_for_children()) continue;  // told when all processes have ended
        // Its last words first, unless a child of it keeps the pipe open.
        if (task.output_open()) {
            loop_.after(kExitDelay, [this, &task] { tell_exit(task); });
        } else {
            tell_exit(task);
        }
    }
}

void TaskWork::hint_at_pmi(const Task& task) {
    const bool has_written_to_nobody =
        task.exit.signal() == SIGPIPE || task.exit.code() == 128 + SIGPIPE;
    if (!pmi_ || !has_written_to_nobody) return;
    for (std::size_t local = 0; local < tasks_.size(); ++local) {
        if (tasks_[local].get() != &task) continue;
        const std::string hint = pmi_->hint(local);
        if (!hint.empty()) say(supervisor_line(fmt::format("task {}: {}", task.id, hint)));
    }
}

void TaskWork::tell_exit(Task& task) {
    if (task.told) return;
    task.told = true;
    wire::StepOutput output;
    output.mutable_exited()->set_task(task.id);
    *output.mutable_exited()->mutable_exit() = task.exit;
    send(output);
    bool bad = task.exit.code() != 0 || task.exit.signal() != 0;
    if (!bad || !spec_.kill_on_bad_exit() || bad_exit_handled_ || running_ == 0) return;
    bad_exit_handled_ = true;
    say_cancelled(kTaskFailed);
    terminate_(false);
}

void TaskWork::say(const std::string& line) {
    wire::StepOutput output;
    output.set_message(std::string(trim(line)));
    send(output);
}

// srun says that it waits, whichever node it hears it from.
void TaskWork::announce(const std::string& reason_line) {
    // Compat: srun says less if the limit was the step's own.
    if (!reason_line.starts_with(kStepTimeLimit)) {
        wire::StepOutput output;
        output.mutable_aborted();
        send(output);
    }
    say_cancelled(cause_in(reason_line));
}

// One node reports for the whole step, and each cause once.
void TaskWork::say_cancelled(const std::string& cause) {
    if (order_.tasks().node_rank() != 0 || running_ == 0 || cause == cause_said_) return;
    cause_said_ = cause;
    say(supervisor_line(fmt::format("*** STEP {}.{} ON {} CANCELLED AT {}{} ***",
                                    order_.run().job(), order_.run().step(), order_.node(),
                                    print_moment(from_unix(std::time(nullptr))), cause)));
}

void TaskWork::pass_signal(int signal, bool by_srun, bool task_failed) {
    if ((signal == SIGTERM || signal == SIGKILL) && cause_said_.empty()) {
        say_cancelled(task_failed ? kTaskFailed
                                  : fmt::format(" DUE to SIGNAL {}", strsignal(signal)));
    }
    signal_all_(signal, by_srun);
}

void TaskWork::signal(const wire::SignalJob& order) {
    if (order.steps() || order.children()) pass_signal(order.signal(), false, false);
}

void TaskWork::send(const wire::StepOutput& output) {
    std::string frame;
    append_frame(frame, output);
    srun_->send(frame);
    const bool is_for_srun =
        output.has_exchange() || output.has_parcel() || output.has_abort() || output.has_x11();
    if (is_for_srun) return;
    if (!attached_.are_gone()) attached_.send(frame);
    if (output.has_output()) recent_.add(std::move(frame));
}

// The connection to srun is lost: there is no reader for the output, and the step ends.
void TaskWork::on_lost() {
    if (done_sent_) return;
    for (auto& task : tasks_) {
        for (Stream* stream : {task->out.get(), task->err.get()}) {
            if (stream && !stream->closed()) stream->read_more(true);
        }
    }
    terminate_(true);
}

void TaskWork::wind_up(const wire::StepEnd& end) {
    x11_.reset();
    if (end.has_launch_error()) {
        wire::StepOutput output;
        *output.mutable_error() = end.launch_error();
        send(output);
    }
}

// srun closes the connection when it has read Done. To close it from here would discard output in
// flight if srun has sent input that was not read.
bool TaskWork::wound_up() {
    bool open = std::any_of(tasks_.begin(), tasks_.end(),
                            [](const auto& task) { return task->output_open(); });
    if (open && !srun_->closed()) return false;
    if (!done_sent_) send_done();
    const EventLoop::Clock::time_point now = EventLoop::Clock::now();
    const bool attached_are_done =
        attached_.are_gone() || now >= leave_before_ - kFarewellMax + kAttachedFarewellMax;
    return (srun_->closed() && attached_are_done) || now >= leave_before_;
}

void TaskWork::send_done() {
    for (auto& task : tasks_) {
        if (task->exited) tell_exit(*task);
    }
    wire::StepOutput output;
    output.mutable_done();
    send(output);
    done_sent_ = true;
    leave_before_ = EventLoop::Clock::now() + kFarewellMax;
    if (!srun_->closed()) srun_->read_more(true);
    attached_.read_more(true);
}

}  // namespace sluice
