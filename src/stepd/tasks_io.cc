// stepd/tasks_io.cc
//
// How bytes get into and out of the tasks of a step (tasks.h): their pipes, files and terminal, the
// messages of srun, and the flow control between both.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/job.h"
#include "os/error.h"
#include "os/files.h"
#include "os/pty.h"
#include "stepd/environment.h"
#include "stepd/tasks.h"

namespace sluice {

namespace {

constexpr std::size_t kBacklogMax = 1u << 20;         // towards srun, before tasks must wait
constexpr std::size_t kInputBacklogMax = 256u << 10;  // towards a task, before srun must wait
// The same for MPI, whose tasks cannot read before they have heard of each other, by way of srun:
// it is told to send no more input, and only one that does so all the same must wait with
// everything.
constexpr std::size_t kMpiInputBacklogMax = 64u << 20;
constexpr std::uint32_t kAllTasks = 0xffffffff;

}  // namespace

Result<TaskWork::Ends> TaskWork::open_ends(Task& task, std::size_t local) {
    Ends ends;
    if (spec_.pty()) {
        if (local > 0 || task.id != 0) return ends;  // one terminal, for the first task
        Pty pty = TRY(
            as(ErrorCode::LaunchFailed, open_pty({static_cast<std::uint16_t>(spec_.rows()),
                                                  static_cast<std::uint16_t>(spec_.columns())})));
        ends.terminal = true;
        if (geteuid() == 0 && fchown(pty.task.get(), user_->uid, user_->gid) != 0) {
            return Error{ErrorCode::LaunchFailed, os_error("terminal").detail};
        }
        ends.in = std::move(pty.task);
        ends.out.reset(fcntl(ends.in.get(), F_DUPFD_CLOEXEC, 3));
        task.out = read_output(task, std::move(pty.supervisor), 1);
        return ends;
    }
    TRY(open_input(task, ends));
    TRY(open_output(task, 1, ends));
    const bool names_task = to_number(spec_.std_out()).has_value();
    if (spec_.std_err() == spec_.std_out() && !spec_.std_out().empty() && !names_task) {
        ends.files.err_is_out = true;
    } else {
        TRY(open_output(task, 2, ends));
    }
    return ends;
}

Result<void> TaskWork::open_input(Task& task, Ends& ends) {
    const std::string& demand = spec_.std_in();
    std::optional<std::uint64_t> only = to_number(demand);
    if (demand == "none" || (only && *only != task.id)) return {};
    if (!demand.empty() && !only) {
        FilenameContext context = filename_context(order_, *user_);
        context.task = task.id;
        ends.files.in =
            OpenDemand{"stdin", absolute_path(expand_filename(demand, context), spec_.work_dir()),
                       spec_.work_dir(), false, true};
        return {};
    }
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) return os_error("pipe");
    ends.in.reset(pair[0]);
    task.in = std::make_unique<Stream>(loop_, Fd(pair[1]),
                                       Stream::Handlers{{}, [] {}, [this] { pace(); }});
    return {};
}

Result<void> TaskWork::open_output(Task& task, int stream, Ends& ends) {
    const std::string& own = stream == 1 ? spec_.std_out() : spec_.std_err();
    // Compat: --output alone takes the errors too.
    const std::string& demand = stream == 2 && own.empty() ? spec_.std_out() : own;
    Fd& end = stream == 1 ? ends.out : ends.err;
    const std::optional<std::uint64_t> only = to_number(demand);
    if (demand == "none" || (only && *only != task.id)) {
        end.reset(open("/dev/null", O_WRONLY | O_CLOEXEC));
        return {};
    }
    if (demand.empty() || only) {
        int pair[2];
        if (pipe2(pair, O_CLOEXEC) != 0) return os_error("pipe");
        (stream == 1 ? task.out : task.err) =
            read_output(task, Fd(pair[0]), static_cast<std::uint32_t>(stream));
        end.reset(pair[1]);
        return {};
    }
    FilenameContext context = filename_context(order_, *user_);
    context.task = task.id;
    const bool append = spec_.open_mode() == static_cast<std::uint32_t>(OpenMode::Append) ||
                        !may_empty(order_.tasks(), task.id, demand) || (stream == 2 && own.empty());
    OpenDemand file;
    file.stream = stream == 1 ? "stdout" : "stderr";
    file.path = absolute_path(expand_filename(demand, context), spec_.work_dir());
    file.work_dir = spec_.work_dir();
    file.append = append;
    std::optional<OpenDemand>& opened = stream == 1 ? ends.files.out : ends.files.err;
    opened = std::move(file);
    return {};
}

std::unique_ptr<Stream> TaskWork::read_output(Task& task, Fd fd, std::uint32_t stream) {
    auto on_data = [this, &task, stream](std::string_view bytes) {
        wire::StepOutput output;
        output.mutable_output()->set_task(task.id);
        output.mutable_output()->set_stream(stream);
        output.mutable_output()->set_data(bytes.data(), bytes.size());
        send(output);
        pace();
    };
    auto on_close = [this, &task, stream] {
        wire::StepOutput output;
        output.mutable_output()->set_task(task.id);
        output.mutable_output()->set_stream(stream);
        send(output);
        if (task.exited && !task.output_open() && !spec_.wait_for_children()) tell_exit(task);
    };
    return std::make_unique<Stream>(loop_, std::move(fd),
                                    Stream::Handlers{on_data, on_close, [this] { pace(); }});
}

void TaskWork::on_input(std::string_view bytes) {
    if (done_sent_) return;
    reader_.feed(bytes);
    for (;;) {
        auto frame = reader_.next();
        if (!frame) return hang_up();
        if (!*frame) return;
        Result<wire::StepInput> input = decode<wire::StepInput>(**frame);
        if (!input) return hang_up();
        handle(*input);
    }
}

// A peer with protocol errors is no srun: nothing more is read from it or buffered for it.
void TaskWork::hang_up() {
    log_error("step {}.{}: its srun sent what is not a message; the connection is closed",
              order_.run().job(), order_.run().step());
    srun_->close();
    on_lost();
}

void TaskWork::handle(const wire::StepInput& input) {
    if (input.has_input()) {
        feed(input.input());
    } else if (input.body_case() == wire::StepInput::kSignal) {
        pass_signal(input.signal(), true, input.task_failed());
    } else if (input.has_x11()) {
        if (x11_) x11_->on_data(input.x11());
        pace();
    } else if (input.has_exchanged() || input.has_parcel()) {
        if (pmi_ && !pmi_->on_input(input)) hang_up();
    } else if (input.has_window() && !tasks_.empty() && tasks_[0]->out && spec_.pty()) {
        if (tasks_[0]->out->closed()) return;
        Fd terminal(fcntl(tasks_[0]->out->fd(), F_DUPFD_CLOEXEC, 3));
        resize_pty(terminal, {static_cast<std::uint16_t>(input.window().rows()),
                              static_cast<std::uint16_t>(input.window().columns())});
    }
}

void TaskWork::feed(const wire::StreamData& data) {
    for (auto& task : tasks_) {
        if (data.task() != kAllTasks && data.task() != task->id) continue;
        Stream* in = spec_.pty() ? task->out.get() : task->in.get();
        if (!in || in->closed()) continue;
        if (!data.data().empty()) {
            in->send(data.data());
            task->in_line = data.data().back() != '\n';
        } else if (spec_.pty()) {
            task->terminal_end = std::make_unique<TerminalEnd>(loop_, *in, task->in_line);
        } else {
            in->close_after_drain();
        }
    }
    pace();
}

// Flow control in both directions: a full buffer stops reading from the other side.
void TaskWork::pace() {
    bool full = srun_->backlog() > kBacklogMax || attached_.is_full();
    bool input_full = false;
    const std::size_t input_max = pmi_ ? kMpiInputBacklogMax : kInputBacklogMax;
    for (auto& task : tasks_) {
        for (Stream* stream : {task->out.get(), task->err.get()}) {
            if (stream && !stream->closed() && full != paused_) stream->read_more(!full);
        }
        Stream* in = spec_.pty() ? task->out.get() : task->in.get();
        input_full = input_full || (in && !in->closed() && in->backlog() > input_max);
    }
    if (pmi_ && full != paused_) pmi_->read_more(!full);
    if (x11_) x11_->read_more(!full);
    input_full = input_full || (x11_ && x11_->backlog() > input_max);
    paused_ = full;
    if (!srun_->closed()) srun_->read_more(!input_full);
    if (pmi_) hold_input();
    attached_.read_more(!input_full);
}

void TaskWork::hold_input() {
    const bool is_full = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
        return task->in && !task->in->closed() && task->in->backlog() > kInputBacklogMax;
    });
    if (is_full == input_held_ || srun_->closed()) return;
    input_held_ = is_full;
    wire::StepOutput output;
    output.set_hold_input(is_full);
    std::string frame;
    append_frame(frame, output);
    srun_->send(frame);
}

}  // namespace sluice
