#include "cli/srun/launcher.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/srun/step_request.h"
#include "cli/srun/terminal.h"
#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr std::size_t kBacklogMax = 1u << 20;         // of input for a node
constexpr std::chrono::milliseconds kAbortDelay{50};  // for the task that aborts to end by itself
constexpr std::chrono::milliseconds kTellDelay{20};   // tasks that end together are one line
constexpr std::chrono::seconds kInterruptWindow{1};
constexpr std::chrono::seconds kWaitAfterKill{2};
constexpr std::uint32_t kAllTasks = 0xffffffff;

}  // namespace

StepLauncher::StepLauncher(const JobOptions& options, const wire::StepCreated& step,
                           const Invocation& invocation, Client& client, Streams& streams)
    : options_(options),
      step_(step),
      invocation_(invocation),
      client_(client),
      streams_(streams),
      step_id_(fmt::format("{}.{}", step.job().job(), step.step())),
      tasks_(task_count(step)),
      output_({options.label, options.unbuffered || options.pty, std::max(1u, task_count(step))},
              streams) {}

int StepLauncher::run(const wire::TaskSpec& spec, StepFiles files) {
    signal(SIGPIPE, SIG_IGN);  // Compat: without a reader, output is dropped and tasks continue
    loop_.on_signals(
        {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT},
        [this](int number) {
            const std::vector<int>& ignored = options_.ignored_signals;
            if (std::find(ignored.begin(), ignored.end(), number) == ignored.end())
                on_signal(number);
        });
    if (files.out) output_.use_file(1, std::move(files.out));
    if (files.err) output_.use_file(2, std::move(files.err));
    if (files.err_is_out) output_.share_output_file();
    input_task_ = files.input_task;
    std::optional<RawTerminal> terminal;
    if (options_.pty) terminal.emplace();
    std::vector<wire::LaunchTasks> messages =
        launch_messages(step_, spec, options_.request.shape.nodelist);
    for (wire::LaunchTasks& message : messages) {
        if (files.program) name_node(message, *files.program);
    }
    if (!spec.mpi().empty()) {
        exchange_ = std::make_unique<StepExchange>(
            messages.size(), [this](std::uint32_t rank, const std::string& frame) {
                send_to(*nodes_[rank], frame);
            });
    }
    Result<void> connected = offer_display(messages);
    if (connected) connected = connect(messages);
    if (!connected) {
        terminal.reset();
        fail_launch("", connected.error());
        return exit_code_for_error(invocation_);
    }
    if (files.reads_input) {
        pump_ = std::make_unique<InputPump>(loop_, std::move(files.in),
                                            [this](std::string_view data) { on_input(data); });
    }
    loop_.run();
    terminal.reset();
    output_.finish();
    streams_.flush();
    return abort_code_.value_or(std::max(tasks_.exit_code(), least_exit_code_));
}

wire::ExitStatus StepLauncher::exit_status() const {
    if (abort_code_) {
        wire::ExitStatus aborted;
        aborted.set_code(static_cast<std::uint32_t>(*abort_code_));
        return aborted;
    }
    if (least_exit_code_ <= tasks_.exit_code()) return tasks_.worst();
    wire::ExitStatus own;
    own.set_code(static_cast<std::uint32_t>(least_exit_code_));
    return own;
}

// --x11: on which nodes of the step. Messages are in the order of the nodes.
Result<void> StepLauncher::offer_display(std::vector<wire::LaunchTasks>& messages) {
    if (options_.x11.empty() || messages.empty()) return {};
    const Config* config = TRY(client_.config());
    XServer server = TRY(find_x_server(invocation_.environment, *config));
    wire::X11Forwarding offer;
    offer.set_cookie(server.cookie);
    offer.set_screen(server.screen);
    for (wire::LaunchTasks& message : messages) {
        const bool is_meant =
            options_.x11 == "all" ||
            &message == (options_.x11 == "first" ? &messages.front() : &messages.back());
        if (is_meant) *message.mutable_spec()->mutable_x11() = offer;
    }
    x11_ = std::make_unique<X11Carrier>(loop_, std::move(server),
                                        [this](std::uint32_t rank, const wire::StepInput& input) {
                                            std::string frame;
                                            append_frame(frame, input);
                                            send_to(*nodes_[rank], frame);
                                            pace_input();
                                        });
    return {};
}

Result<void> StepLauncher::connect(const std::vector<wire::LaunchTasks>& messages) {
    for (const wire::LaunchTasks& message : messages) {
        auto address = std::find_if(
            step_.addresses().begin(), step_.addresses().end(),
            [&](const wire::NodeAddress& each) { return each.name() == message.node(); });
        if (address == step_.addresses().end()) {
            return Error{ErrorCode::LaunchFailed,
                         fmt::format("no address for node {}", message.node())};
        }
        const std::string& called =
            address->address().empty() ? address->name() : address->address();
        OpenedNode opened = TRY(client_.connect_node(*address, [&](const Connection& connection) {
            wire::StepInput input;
            *input.mutable_launch() = message;
            input.mutable_launch()->set_srun_address(own_address(connection, called));
            return input;
        }));
        set_blocking(opened.connection.fd, false);
        allow_stopped_peer(opened.connection.fd);
        Node& node = *nodes_.emplace_back(std::make_unique<Node>());
        node.name = message.node();
        node.rank = message.node_rank();
        node.tasks.assign(message.task_ids().begin(), message.task_ids().end());
        node.stream = std::make_unique<Stream>(
            loop_, std::move(opened.connection.fd),
            Stream::Handlers{[this, &node](std::string_view bytes) { on_data(node, bytes); },
                             [this, &node] { on_closed(node); }, [this] { pace_input(); }});
        node.stream->send(opened.unsent);
        tell_more(fmt::format("launching StepId={} on host {}, {} tasks: {}", step_id_, node.name,
                              node.tasks.size(), bracketed_tasks(node.tasks)));
    }
    return {};
}

void StepLauncher::on_data(Node& node, std::string_view bytes) {
    node.reader.feed(bytes);
    while (!node.done) {
        Result<std::optional<std::string_view>> frame = node.reader.next();
        if (!frame) return fail_launch(node.name, frame.error());
        if (!*frame) return;
        if (!node.welcomed) {
            node.welcomed = true;
            Result<wire::Welcome> welcome = decode<wire::Welcome>(**frame);
            if (!welcome) return fail_launch(node.name, welcome.error());
            if (welcome->has_error()) return fail_launch(node.name, from_wire(welcome->error()));
            continue;
        }
        Result<wire::StepOutput> output = decode<wire::StepOutput>(**frame);
        if (!output) return fail_launch(node.name, output.error());
        on_message(node, *output);
    }
}

void StepLauncher::on_message(Node& node, const wire::StepOutput& output) {
    switch (output.body_case()) {
        case wire::StepOutput::kError:
            return fail_launch(node.name, from_wire(output.error()));
        case wire::StepOutput::kStarted:
            return on_started(node, output.started().task());
        case wire::StepOutput::kOutput:
            return output_.write(output.output().task(), output.output().stream(),
                                 output.output().data());
        case wire::StepOutput::kExited:
            return on_exited(node, output.exited());
        case wire::StepOutput::kDone:
            return finish(node);
        case wire::StepOutput::kMessage:
            return streams_.err(output.message() + "\n");
        case wire::StepOutput::kAborted:
            return say_aborted();
        case wire::StepOutput::kExchange:
            if (exchange_) on_exchange(exchange_->add(node.rank, output.exchange()));
            return;
        case wire::StepOutput::kParcel:
            if (exchange_) on_exchange(exchange_->pass_on(node.rank, output.parcel()));
            return;
        case wire::StepOutput::kX11:
            if (x11_) x11_->on_data(node.rank, output.x11());
            return;
        case wire::StepOutput::kAbort:
            return on_abort(output.abort());
        case wire::StepOutput::kHoldInput:
            node.holds_input = output.hold_input();
            return pace_input();
        case wire::StepOutput::kUsages:  // for others than srun
        case wire::StepOutput::kAttached:
        case wire::StepOutput::BODY_NOT_SET:
            return;
    }
}

void StepLauncher::on_started(Node& node, std::uint32_t task) {
    tasks_.on_started(task);
    if (++node.started == node.tasks.size()) {
        tell_more(fmt::format("Node {}, {} tasks started", node.name, node.started));
    }
}

void StepLauncher::on_exited(Node& node, const wire::TaskExited& exited) {
    bool is_first = !tasks_.any_exited();
    tasks_.on_exited(exited.task(), exited.exit());
    node.untold.push_back({exited.task(), exited.exit()});
    if (!node.telling) {
        node.telling = true;
        loop_.after(kTellDelay, [this, &node] { tell_ends(node); });
    }
    if (is_first) on_first_exit();
    bool kills = options_.kill_on_bad_exit.value_or(false) && is_failure(exited.exit());
    if (kills && !terminating_ && !tasks_.all_exited()) {
        tell_ends(node);
        inform(fmt::format("Terminating StepId={}", step_id_));
        terminate(true);
    }
}

void StepLauncher::on_exchange(const Result<void>& result) {
    if (result || terminating_) return;
    print_error(streams_, invocation_,
                fmt::format("StepId={}: {}", step_id_, result.error().detail));
    least_exit_code_ = std::max(least_exit_code_, 1);
    terminate(true);
}

// MPI_Abort, or a task on which the others would wait for ever. It may still be on its way to the
// end.
void StepLauncher::on_abort(const wire::StepAbort& abort) {
    if (terminating_ || aborting_) return;
    const bool is_lost = !abort.has_code();
    if (is_lost && is_given(options_, "kill-on-bad-exit") && !*options_.kill_on_bad_exit) return;
    if (!is_lost && !abort_code_) {
        abort_code_ = abort.code() == 0 ? 1 : abort.code() & 0xff;
    }
    loop_.after(kAbortDelay, [this, abort, is_lost] {
        if (terminating_ || tasks_.all_exited()) return;
        std::string text = is_lost ? std::string()
                                   : fmt::format("has aborted the step with code {}{}",
                                                 abort.code(), abort.message().empty() ? "" : ": ");
        print_error(streams_, invocation_,
                    fmt::format("task {} {}{}", abort.task(), text, abort.message()));
        say_aborted();
        terminate(true);
    });
}

// --wait: tasks that run for too long after the first one has ended.
void StepLauncher::on_first_exit() {
    if (!options_.wait_after_first_exit || *options_.wait_after_first_exit == Seconds{0}) return;
    loop_.after(*options_.wait_after_first_exit, [this] {
        if (tasks_.all_exited() || terminating_) return;
        inform(fmt::format("First task exited {}s ago", options_.wait_after_first_exit->count()));
        print_states();
        inform(fmt::format("Terminating StepId={}", step_id_));
        say_aborted();
        terminate();
    });
}

void StepLauncher::tell_ends(Node& node) {
    node.telling = false;
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_status;
    for (const TaskEnd& end : node.untold) {
        by_status[end.exit.code() << 8 | end.exit.signal()].push_back(end.task);
    }
    for (const auto& [status, tasks] : by_status) {
        tell_more(
            fmt::format("Received task exit notification for {} task{} of StepId={} "
                        "(status=0x{:04x}).",
                        tasks.size(), tasks.size() == 1 ? "" : "s", step_id_, status));
        if (status == 0) tell_more(fmt::format("{}: {}: Completed", node.name, name_tasks(tasks)));
    }
    for (const std::string& line : exit_lines(node.name, node.untold)) {
        print_error(streams_, invocation_, line);
    }
    node.untold.clear();
}

void StepLauncher::on_closed(Node& node) {
    if (node.done) return;
    if (!aborting_)
        print_error(streams_, invocation_,
                    fmt::format("{}: connection to the step lost", node.name));
    least_exit_code_ = 1;
    finish(node);
    // The tasks of other nodes wait for those that are lost.
    if (exchange_ && !tasks_.all_exited()) terminate(true);
}

void StepLauncher::finish(Node& node) {
    if (node.done) return;
    node.done = true;
    node.stream->close();  // slurmstepd waits for it, so that none of its output is lost
    tell_ends(node);
    bool all_done = std::all_of(nodes_.begin(), nodes_.end(),
                                [](const std::unique_ptr<Node>& each) { return each->done; });
    if (!all_done) return;
    // Compat: not of tasks that ended by other signals, nor if it was said that the step is ended.
    if (tasks_.any_killed() && !aborting_ && !abort_said_) {
        inform(fmt::format("Force Terminated StepId={}", step_id_));
    }
    loop_.stop();
}

void StepLauncher::fail_launch(const std::string& node, const Error& error) {
    if (!node.empty()) {
        print_error(streams_, invocation_,
                    fmt::format("Task launch for StepId={} failed on node {}: {}", step_id_, node,
                                to_string(error)));
    }
    print_error(streams_, invocation_,
                fmt::format("Application launch failed: {}", to_string(error)));
    least_exit_code_ = 1;
    aborting_ = launch_failed_ = true;
    signal_tasks(SIGKILL);
    for (auto& each : nodes_) {
        if (each->name == node) finish(*each);
    }
}

void StepLauncher::on_input(std::string_view data) {
    wire::StepInput input;
    input.mutable_input()->set_task(input_task_.value_or(kAllTasks));
    input.mutable_input()->set_data(data.data(), data.size());
    send_to_all(input);
    pace_input();
}

void StepLauncher::send_to_all(const wire::StepInput& input) {
    std::string frame;
    append_frame(frame, input);
    for (auto& node : nodes_) send_to(*node, frame);
}

void StepLauncher::send_to(Node& node, const std::string& frame) {
    if (!node.done && node.stream && !node.stream->closed()) node.stream->send(frame);
}

void StepLauncher::pace_input() {
    bool is_full = std::any_of(nodes_.begin(), nodes_.end(), [](const std::unique_ptr<Node>& node) {
        return !node->done && node->stream &&
               (node->holds_input || node->stream->backlog() > kBacklogMax);
    });
    if (x11_) x11_->read_more(!is_full);
    if (!pump_) return;
    is_full ? pump_->pause() : pump_->resume();
}

void StepLauncher::signal_tasks(int number, bool task_failed) {
    wire::StepInput input;
    input.set_signal(number);
    input.set_task_failed(task_failed);
    send_to_all(input);
}

void StepLauncher::on_signal(int number) {
    if (number == SIGINT) return on_interrupt();
    if (number == SIGWINCH) {
        wire::StepInput input;
        *input.mutable_window() = window_size();
        if (options_.pty) send_to_all(input);
        return;
    }
    if (number == SIGCONT) return inform("got SIGCONT");
    if (number == SIGUSR1 || number == SIGUSR2 || number == SIGALRM) return signal_tasks(number);
    if (aborting_) return loop_.stop();
    aborting_ = true;
    inform("forcing job termination");
    terminate();
}

void StepLauncher::on_interrupt() {
    auto now = std::chrono::steady_clock::now();
    bool is_second = last_interrupt_ && now - *last_interrupt_ <= kInterruptWindow;
    last_interrupt_ = now;
    if (aborting_) return loop_.stop();
    if (!is_second && !options_.quit_on_interrupt && !options_.disable_status) {
        print_info(streams_, invocation_, "interrupt (one more within 1 sec to abort)");
        return print_states();
    }
    aborting_ = true;
    least_exit_code_ = 128 + SIGINT;
    print_info(streams_, invocation_, fmt::format("sending Ctrl-C to StepId={}", step_id_));
    signal_tasks(SIGINT);
    print_info(streams_, invocation_, "forcing job termination");
    terminate();
}

Seconds StepLauncher::grace_time() {
    Result<const Config*> config = client_.config();
    return config ? (*config)->kill_wait : Seconds{30};
}

// Every node of a step that the controller ends says so.
void StepLauncher::say_aborted() {
    if (std::exchange(abort_said_, true)) return;
    inform(fmt::format("Job step aborted: Waiting up to {} seconds for job step to finish.",
                       (grace_time() + kWaitAfterKill).count()));
}

void StepLauncher::terminate(bool task_failed) {
    if (terminating_) return;
    terminating_ = true;
    const Seconds grace = grace_time();
    if (aborting_) say_aborted();
    signal_tasks(SIGCONT);
    signal_tasks(SIGTERM, task_failed);
    loop_.after(grace, [this] { signal_tasks(SIGKILL); });
    loop_.after(grace + 5 * kWaitAfterKill, [this] {
        print_error(streams_, invocation_, "Timed out waiting for job step to complete");
        least_exit_code_ = std::max(least_exit_code_, 1);
        loop_.stop();
    });
}

void StepLauncher::print_states() {
    for (const std::string& line : tasks_.states(step_id_)) inform(line);
}

// With --verbose.
void StepLauncher::tell_more(const std::string& text) {
    if (options_.verbose > 0) print_info(streams_, invocation_, text);
}

// Compat: --quiet leaves the errors.
void StepLauncher::inform(const std::string& text) {
    if (!options_.quiet) print_info(streams_, invocation_, text);
}

}  // namespace sluice
