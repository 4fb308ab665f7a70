#include "cli/srun/launcher.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/srun/step_request.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

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
      lines_(loop_, client,
             {[this](std::uint32_t rank, const wire::StepOutput& output) {
                  on_message(*nodes_[rank], output);
              },
              [this](std::uint32_t rank, const Error& error) {
                  fail_launch(nodes_[rank].get(), error);
              },
              [this](const std::vector<std::uint32_t>& ranks) { on_lost(ranks); },
              [this] { pace_input(); }}),
      tasks_(task_count(step)),
      output_({options.label, options.unbuffered || options.pty, std::max(1u, task_count(step))},
              streams) {}

int StepLauncher::run(const wire::TaskSpec& spec, StepFiles files) {
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
    if (options_.pty) terminal_.emplace();
    StepLaunch launch = launch_messages(step_, spec, options_.request.shape.nodelist);
    if (files.program) name_nodes(launch, *files.program);
    if (!spec.mpi().empty()) {
        exchange_ = std::make_unique<StepExchange>(
            launch.nodes.size(),
            [this](std::optional<std::uint32_t> rank, const std::string& frame) {
                rank ? lines_.send_to(*rank, frame) : lines_.send_to_all(frame);
            });
    }
    Result<void> connected = offer_display(launch);
    if (connected) connected = connect(launch);
    if (!connected) {
        terminal_.reset();
        fail_launch(nullptr, connected.error());
        return exit_code_for_error(invocation_);
    }
    if (files.reads_input) {
        pump_ = std::make_unique<InputPump>(loop_, std::move(files.in),
                                            [this](std::string_view data) { on_input(data); });
    }
    loop_.run();
    terminal_.reset();
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

// --x11: on which nodes of the step.
Result<void> StepLauncher::offer_display(StepLaunch& launch) {
    if (options_.x11.empty() || launch.nodes.empty()) return {};
    const Config* config = TRY(client_.config());
    XServer server = TRY(find_x_server(invocation_.environment, *config));
    wire::X11Forwarding offer;
    offer.set_cookie(server.cookie);
    offer.set_screen(server.screen);
    for (wire::LaunchTasks& own : launch.nodes) {
        const bool is_meant =
            options_.x11 == "all" ||
            &own == (options_.x11 == "first" ? &launch.nodes.front() : &launch.nodes.back());
        if (is_meant) *own.mutable_spec()->mutable_x11() = offer;
    }
    x11_ = std::make_unique<X11Carrier>(loop_, std::move(server),
                                        [this](std::uint32_t rank, const wire::StepInput& input) {
                                            std::string frame;
                                            append_frame(frame, input);
                                            lines_.send_to(rank, frame);
                                            pace_input();
                                        });
    return {};
}

// With --no-kill the loss of one node must not be the loss of others; with --x11 and --pty the
// nodes are few.
Result<std::uint32_t> StepLauncher::tree_width() {
    if (!options_.request.kill_on_node_fail || !options_.x11.empty() || options_.pty) return 0u;
    if (options_.tree_width) return *options_.tree_width;
    return TRY(client_.config())->tree_width;
}

Result<void> StepLauncher::connect(const StepLaunch& launch) {
    unfinished_ = launch.nodes.size();
    for (const wire::LaunchTasks& own : launch.nodes) {
        Node& node = *nodes_.emplace_back(std::make_unique<Node>());
        node.name = own.node();
        node.rank = own.node_rank();
        node.tasks.assign(own.task_ids().begin(), own.task_ids().end());
    }
    TRY(lines_.open(launch, step_, TRY(tree_width())));
    for (const auto& node : nodes_) {
        tell_more(fmt::format("launching StepId={} on host {}, {} tasks: {}", step_id_, node->name,
                              node->tasks.size(), bracketed_tasks(node->tasks)));
    }
    return {};
}

void StepLauncher::on_message(Node& node, const wire::StepOutput& output) {
    switch (output.body_case()) {
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
        case wire::StepOutput::kError:  // these are for NodeLines
        case wire::StepOutput::kHoldInput:
        case wire::StepOutput::kLost:
        case wire::StepOutput::kUsages:  // for others than srun
        case wire::StepOutput::kAttached:
        case wire::StepOutput::kGpus:
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
        abort_code_ = code_of_abort(abort.code());
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

void StepLauncher::on_lost(const std::vector<std::uint32_t>& ranks) {
    std::vector<std::string> names;
    for (std::uint32_t rank : ranks) names.push_back(nodes_[rank]->name);
    if (!aborting_)
        print_error(streams_, invocation_,
                    fmt::format("{}: connection to the step lost", Hostlist(names).to_string()));
    least_exit_code_ = 1;
    for (std::uint32_t rank : ranks) finish(*nodes_[rank]);
    // The tasks of other nodes may wait for those that are lost.
    const bool ends_step = exchange_ || options_.request.kill_on_node_fail;
    if (!ends_step || terminating_ || unfinished_ == 0) return;
    inform(fmt::format("Terminating StepId={}", step_id_));
    terminate(true);
}

void StepLauncher::finish(Node& node) {
    if (std::exchange(node.done, true)) return;
    lines_.finish(node.rank);  // slurmstepd waits for it, so that none of its output is lost
    tell_ends(node);
    if (--unfinished_ > 0) return;
    // Compat: not of tasks that ended by other signals, nor if it was said that the step is ended.
    if (tasks_.any_killed() && !aborting_ && !abort_said_) {
        inform(fmt::format("Force Terminated StepId={}", step_id_));
    }
    loop_.stop();
}

void StepLauncher::fail_launch(Node* node, const Error& error) {
    if (node) {
        print_error(streams_, invocation_,
                    fmt::format("Task launch for StepId={} failed on node {}: {}", step_id_,
                                node->name, to_string(error)));
    }
    print_error(streams_, invocation_,
                fmt::format("Application launch failed: {}", to_string(error)));
    least_exit_code_ = 1;
    aborting_ = launch_failed_ = true;
    signal_tasks(SIGKILL);
    if (node) finish(*node);
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
    lines_.send_to_all(frame);
}

void StepLauncher::pace_input() {
    const bool is_full = !lines_.takes_input();
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
    if (number == SIGWINCH) return send_window();
    if (number == SIGCONT) return on_continued();
    if (number == SIGUSR1 || number == SIGUSR2 || number == SIGALRM) return signal_tasks(number);
    if (aborting_) return loop_.stop();
    aborting_ = true;
    inform("forcing job termination");
    terminate();
}

void StepLauncher::send_window() {
    if (!options_.pty) return;
    wire::StepInput input;
    *input.mutable_window() = window_size();
    send_to_all(input);
}

void StepLauncher::on_continued() {
    if (terminal_) terminal_->restore_raw();
    send_window();
    inform("got SIGCONT");
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
