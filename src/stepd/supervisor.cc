#include "stepd/supervisor.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "os/error.h"
#include "os/keyring.h"
#include "os/private_directories.h"
#include "os/process.h"
#include "protocol/convert.h"
#include "stepd/batch.h"
#include "stepd/extern.h"
#include "stepd/task_hooks.h"
#include "stepd/tasks.h"

namespace sluice {

namespace {

constexpr std::chrono::milliseconds kRoundDelayMax{250};
constexpr std::chrono::milliseconds kLeaveDelayMax{100};
constexpr std::chrono::seconds kKilledWithin{
    1};  // otherwise slurmd gets a report that it takes longer
constexpr std::chrono::seconds kKnownWithin{1};
constexpr std::chrono::milliseconds kMemoryWatchInterval{500};
constexpr std::chrono::milliseconds kContainerWatchInterval{100};
constexpr std::chrono::seconds kReadWithin{300};
constexpr const char* kStepCancelled = " DUE to SIGNAL Terminated ***";  // for a single step

Microseconds microseconds(const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + Microseconds{time.tv_usec};
}

User user_from(const wire::UserRecord& record) {
    return {record.user(),      record.group(), record.name(),
            record.home(),      record.shell(), {record.groups().begin(), record.groups().end()},
            record.group_name()};
}

wire::UserRecord record_of(const User& user) {
    wire::UserRecord record;
    record.set_user(user.uid);
    record.set_group(user.gid);
    record.set_name(user.name);
    record.set_home(user.home);
    record.set_shell(user.shell);
    record.mutable_groups()->Add(user.groups.begin(), user.groups.end());
    record.set_group_name(user.group_name);
    return record;
}

Result<void> enter_private_dirs(const wire::StepOrder& order) {
    if (order.private_dirs().empty()) return {};
    std::vector<PrivateDirectory> directories;
    for (const wire::PrivateDirectory& each : order.private_dirs())
        directories.push_back({each.source(), each.path()});
    return enter_private_directories(directories, order.shared_mounts());
}

}  // namespace

Supervisor::Supervisor(EventLoop& loop, wire::StepOrder order, Fd control, Fd srun)
    : loop_(loop),
      order_(std::move(order)),
      sampler_(
          sampling_of(order_),
          [this](pid_t pid) { return read_process_usage(pid, sampler_.demand().memory_count); }),
      control_(loop, order_, std::move(control),
               [this](const wire::StepCommand& command) { on_command(command); }) {
    *end_.mutable_run() = order_.run();
    end_.set_user(order_.user());
    end_.set_group(order_.group());
    end_.set_batch(order_.has_batch());
    if (control_.is_forbidden()) return;
    loop_.on_signals({SIGCHLD}, [this](int) { on_children(); });
    if (Result<void> started = start(std::move(srun)); !started) {
        on_start_failed(started.error());
        return;
    }
    wire::StepReport report;
    report.mutable_started();
    if (!order_.has_known_user()) *report.mutable_started()->mutable_user() = record_of(*user_);
    control_.report(report);
    sample_again();
    watch_memory();
}

void Supervisor::on_start_failed(const Error& error) {
    if (cleaning_) return;
    end_.mutable_launch_error()->set_code(static_cast<std::uint32_t>(error.code));
    end_.mutable_launch_error()->set_detail(error.detail);
    begin_cleanup();
}

Result<void> Supervisor::start(Fd srun) {
    leave_session_keyring();
    Result<std::optional<User>> user = order_.has_known_user()
                                           ? std::optional<User>(user_from(order_.known_user()))
                                           : find_user_with_groups(order_.user(), order_.group());
    if (user) user_ = *user;
    if (user_ && user_->group_name.empty()) user_->group_name = group_name(order_.group());
    auto on_failed = [this](const Error& error) { on_start_failed(error); };
    // The connection must be answered in any case, so the work takes it before anything can fail.
    if (order_.has_tasks()) {
        work_ = std::make_unique<TaskWork>(
            loop_, order_, std::move(srun),
            [this](bool srun_lost) {
                if (srun_lost) end_.set_srun_lost(true);
                if (!terminating_) terminate(Seconds{order_.kill_wait()}, "");  // they know
            },
            [this](int signal, bool by_srun) { signal_tasks(signal, by_srun); }, on_failed);
    }
    TRY(as(ErrorCode::NodeUnable, std::move(user)));
    if (!user_) {
        return Error{ErrorCode::UserUnknown, fmt::format("user id {} is not known on node {}",
                                                         order_.user(), order_.node())};
    }
    TRY(as(ErrorCode::NodeUnable, enter_private_dirs(order_)));
    container_ = TRY(as(ErrorCode::NodeUnable, Container::create(order_)));
    if (order_.has_container()) {
        work_ = std::make_unique<ExternWork>(*container_);
        return work_->start("");
    }
    if (order_.has_batch()) {
        work_ = std::make_unique<BatchWork>(loop_, order_, *user_, *container_, on_failed);
    } else {
        static_cast<TaskWork&>(*work_).prepare(*user_, *container_);
    }
    const std::string about_cpus = cpu_frequencies_.set(order_);
    return work_->start(about_cpus + TRY(gpu_frequencies_.set(order_)));
}

void Supervisor::on_command(const wire::StepCommand& command) {
    if (command.has_signal()) {
        on_signal(command.signal());
    } else if (command.has_terminate()) {
        const wire::Terminate& order = command.terminate();
        terminate(Seconds{order.grace_seconds()}, order.only_step() && order.reason_line().empty()
                                                      ? kStepCancelled
                                                      : order.reason_line());
    } else if (command.has_end_known() && known_until_ != EventLoop::Clock::time_point{}) {
        end_is_kept_ = true;
        leave_when_told();
    } else if (command.has_ask_usage()) {
        on_usage_asked(command.ask_usage());
    }
}

void Supervisor::on_signal(const wire::SignalJob& order) {
    if (!order.message().empty()) {  // Compat: srun names itself, slurmstepd says it as an error
        const std::string& text = order.message();
        if (work_) work_->say(order_.has_tasks() ? "srun: " + text : supervisor_line(text));
        if (order.stack_dump()) dump_stacks();
    } else if (!order.suspension()) {
        if (work_) work_->signal(order);
    } else if (container_ && !terminating_ && !cleaning_) {
        order.signal() == SIGSTOP ? container_->suspend() : container_->resume();
    }
}

void Supervisor::dump_stacks() {
    if (!work_ || !user_ || !container_ || cleaning_) return;
    stack_dump_.start(order_.stack_dump_program(), *user_, container_->pids(),
                      [this](const std::string& text) {
                          if (work_) work_->say(text);
                      });
}

// Compat: when a job ends, both the srun in its script and its tasks get SIGTERM, and srun forwards
// it to the tasks: they get it only once.
void Supervisor::signal_tasks(int signal, bool by_srun) {
    const bool is_end = by_srun && (signal == SIGCONT || signal == SIGTERM);
    if (is_end && terminating_) return;
    if (is_end && signal == SIGTERM) told_by_srun_ = true;
    if (container_) container_->signal_all(signal);
}

void Supervisor::terminate(std::chrono::seconds grace, const std::string& reason_line) {
    const bool is_first = !std::exchange(terminating_, true);
    // The end of a step may have ended the script before this order arrived: the reason is written
    // all the same.
    const bool may_announce = work_ && (!cleaning_ || order_.has_batch());
    if (is_first && !reason_line.empty() && may_announce) work_->announce(reason_line);
    if (cleaning_) return;
    if (work_) work_->start_no_more();
    // A second order may shorten the time that is left, and repeats the signals.
    if (container_) container_->thaw();
    if (order_.has_container()) sample();  // processes that are not ours are not reaped
    if (grace.count() <= 0) return kill_tasks();
    if (container_ && !std::exchange(told_by_srun_, false)) {
        container_->signal_all(SIGCONT);
        container_->signal_all(SIGTERM);
    }
    loop_.after(grace, [this] { kill_tasks(); });
    if (order_.has_container()) end_container_if_empty();
}

// The processes of a job's container are not its supervisor's children: nothing reports their end.
void Supervisor::end_container_if_empty() {
    if (cleaning_) return;
    if (!container_ || container_->pids().empty()) return begin_cleanup();
    loop_.after(kContainerWatchInterval, [this] { end_container_if_empty(); });
}

// Compat: a task's epilogs run after it however it ended.
void Supervisor::kill_tasks() {
    if (!container_ || !has_epilogs(order_)) return begin_cleanup();
    if (cleaning_ || std::exchange(killing_, true)) return;
    container_->signal_all(SIGKILL);
    loop_.after(kEpilogTime, [this] { begin_cleanup(); });
}

void Supervisor::reap() {
    // WNOWAIT: as long as it is not reaped, /proc tells what it has read and written.
    siginfo_t ended{};
    int result = 0;
    while ((result = waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT)) == 0 &&
           ended.si_pid != 0) {
        reap_one(ended.si_pid);
        ended.si_pid = 0;
    }
    has_children_ = result == 0;
}

void Supervisor::reap_one(pid_t pid) {
    const bool is_sampled = sampler_.demand().enabled;
    const ProcessBytes bytes = is_sampled ? read_process_bytes(pid) : ProcessBytes{};
    int status = 0;
    rusage usage{};
    if (wait4(pid, &status, 0, &usage) != pid) return;
    if (!work_) return;
    if (is_sampled) sampler_.on_exit(work_->processes(), pid, usage, bytes);
    work_->on_exit(pid, status);
}

// ---- usage

void Supervisor::sample() {
    if (!sampler_.demand().enabled || !work_ || !container_ || cleaning_) return;
    const bool by_cgroup = sampler_.demand().by_cgroup;
    sampler_.sample(work_->processes(), container_->pids(),
                    by_cgroup ? container_->count() : CgroupCount{});
    if (const std::optional<GpuShares> shares = gpu_usage_.read(sampler_.demand().gpus)) {
        sampler_.note_gpus(*shares);
    }
    end_if_over_memory();
}

void Supervisor::sample_again() {
    const SamplingDemand& demand = sampler_.demand();
    if (!demand.enabled || demand.interval.count() == 0 || cleaning_) return;
    sample_timer_ = loop_.after(demand.interval, [this] {
        sample();
        sample_again();
    });
}

// --oom-kill-step: with cgroup v1 the kernel kills single processes.
void Supervisor::watch_memory() {
    if (!kills_as_one(order_) || cleaning_) return;
    if (container_ && container_->oom_kills() > 0 && !terminating_)
        return terminate(Seconds{0}, "");
    memory_timer_ = loop_.after(kMemoryWatchInterval, [this] { watch_memory(); });
}

// JobAcctGatherParams=OverMemoryKill.
void Supervisor::end_if_over_memory() {
    const std::uint64_t most = sampler_.demand().memory_kb_max;
    if (most == 0 || sampler_.memory_kb() <= most || terminating_) return;
    over_memory_ = true;
    work_->say(supervisor_line(fmt::format(
        "StepId={}.{} exceeded memory limit ({} > {}), being killed", order_.run().job(),
        print_step(StepId{order_.run().step()}), sampler_.memory_kb() * 1024, most * 1024)));
    terminate(Seconds{0}, "");
}

void Supervisor::on_usage_asked(std::uint64_t question) {
    sample();
    if (!cleaning_) take_stock();
    wire::StepReport report;
    report.mutable_usage()->set_question(question);
    wire::StepUsage& answer = *report.mutable_usage()->mutable_usage();
    *answer.mutable_run() = order_.run();
    *answer.mutable_usage() = end_.usage();
    answer.set_tasks(order_.has_tasks() ? static_cast<std::uint32_t>(order_.tasks().task_ids_size())
                                        : 1);
    for (const TaskProcess& each : work_ ? work_->processes() : std::vector<TaskProcess>{}) {
        const auto& ids = order_.tasks().task_ids();
        wire::TaskProcess& process = *answer.add_task_processes();
        process.set_pid(static_cast<std::uint32_t>(each.pid));
        process.set_task(each.task);
        if (order_.has_tasks()) {
            const auto place = std::find(ids.begin(), ids.end(), each.task);
            process.set_local(static_cast<std::uint32_t>(place - ids.begin()));
        }
    }
    if (container_) {
        for (pid_t pid : container_->pids()) answer.add_pids(static_cast<std::uint32_t>(pid));
    }
    control_.report(report);
}

void Supervisor::on_children() {
    reap();
    if (!work_ || !work_->finished()) return;
    if (order_.tasks().spec().wait_for_children() && has_children_) return;
    // Compat: processes that got SIGTERM have the grace time, even if the script or task that
    // started them has ended.
    if (!terminating_ || !has_children_) begin_cleanup();
}

void Supervisor::begin_cleanup() {
    if (cleaning_) return;
    cleaning_ = true;
    loop_.cancel(sample_timer_);
    loop_.cancel(memory_timer_);
    killed_until_ = EventLoop::Clock::now() + kKilledWithin;
    cleanup_round();
}

void Supervisor::cleanup_round() {
    reap();
    if (!container_ || container_->kill_round(has_children_)) return finish();
    report_killing();
    loop_.after(round_delay_, [this] { cleanup_round(); });
    round_delay_ = std::min(round_delay_ * 2, kRoundDelayMax);
}

// slurmd decides for how long: UnkillableStepTimeout.
void Supervisor::report_killing() {
    if (killing_reported_ || EventLoop::Clock::now() < killed_until_) return;
    killing_reported_ = true;
    take_stock();
    wire::StepReport report;
    *report.mutable_killing() = end_;
    control_.report(report);
}

void Supervisor::note_oom_kills(std::uint64_t count) {
    set_out_of_memory(*end_.mutable_exit());
    if (!work_) return;
    work_->say(supervisor_line(fmt::format(
        "Detected {} oom_kill event{} in StepId={}.{}. Some of the step tasks have been OOM "
        "Killed.",
        count, count == 1 ? "" : "s", order_.run().job(),
        print_step(StepId{order_.run().step()}))));
}

// How it has ended, as far as that is known.
void Supervisor::take_stock() {
    if (work_) *end_.mutable_exit() = work_->exit();
    if (end_.has_launch_error()) end_.mutable_exit()->set_code(1);
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    std::uint64_t rss = static_cast<std::uint64_t>(usage.ru_maxrss);
    if (container_) rss = std::max(rss, container_->memory_peak() / 1024);
    Usage total{.cpu_user = microseconds(usage.ru_utime),
                .cpu_system = microseconds(usage.ru_stime),
                .rss_max_kb = rss};
    if (sampler_.demand().enabled && work_) {
        if (container_) sampler_.note_peak(container_->memory_peak() / 1024);
        total.tasks = std::make_shared<const TaskUsage>(sampler_.usage());
        total.rss_max_kb = std::max(rss, total.tasks->rss_kb.most);
        if (order_.has_container())
            total.cpu_user =
                std::chrono::milliseconds{static_cast<std::int64_t>(total.tasks->cpu_ms.total)};
    }
    *end_.mutable_usage() = to_wire(total);
}

void Supervisor::finish() {
    gpu_frequencies_.reset();
    cpu_frequencies_.reset();
    take_stock();
    if (over_memory_) set_out_of_memory(*end_.mutable_exit());
    if (container_ && container_->oom_kills() > 0) note_oom_kills(container_->oom_kills());

    wire::StepReport report;
    *report.mutable_end() = end_;
    control_.report(report);
    if (work_) work_->wind_up(end_);
    known_until_ = EventLoop::Clock::now() + kKnownWithin;
    read_until_ = EventLoop::Clock::now() + kReadWithin;
    leave_when_told();
}

// A slurmd that comes when we are gone finds it in the mark. Where it cannot be written, we stay
// and try again: a full disk must not make a success look like a kill.
void Supervisor::keep_end() {
    if (end_is_kept_ || (control_.connected() && EventLoop::Clock::now() < known_until_)) return;
    const Result<void> written = control_.write_into_mark(end_.SerializeAsString());
    end_is_kept_ = written || !control_.has_mark();
    if (end_is_kept_) return;
    known_until_ = EventLoop::Clock::now() + kKnownWithin;
    if (std::exchange(end_write_failed_, true)) return;
    log_error("the end of the step could not be recorded yet: {}", written.error().detail);
}

// slurmd must have it all, and srun the last of the output.
void Supervisor::leave_when_told() {
    keep_end();
    const bool is_read = !work_ || work_->wound_up() || EventLoop::Clock::now() >= read_until_;
    if (end_is_kept_ && control_.drained() && is_read) return loop_.stop();
    loop_.cancel(leave_timer_);
    leave_timer_ = loop_.after(leave_delay_, [this] { leave_when_told(); });
    leave_delay_ = std::min(leave_delay_ * 2, kLeaveDelayMax);
}

void Supervisor::run() {
    if (!control_.is_forbidden()) loop_.run();
}

}  // namespace sluice
