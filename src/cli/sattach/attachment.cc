#include "cli/sattach/attachment.h"

#include <signal.h>

#include <algorithm>

#include "cli/srun/terminal.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr std::size_t kInputBacklogMax = 1u << 20;  // for a node
constexpr std::uint32_t kEveryTask = 0xffffffff;

}  // namespace

Attachment::Attachment(const AttachOptions& options, std::string step_id,
                       const Invocation& invocation, Client& client, Streams& streams)
    : options_(options),
      step_id_(std::move(step_id)),
      invocation_(invocation),
      client_(client),
      streams_(streams) {}

int Attachment::run(const wire::AttachStep& step, const std::vector<wire::NodeAddress>& nodes) {
    signal(SIGPIPE, SIG_IGN);
    for (const wire::NodeAddress& node : nodes) {
        if (Result<void> connected = connect(step, node); !connected) {
            print_error(streams_, invocation_,
                        fmt::format("StepId={}: {}", step_id_, to_string(connected.error())));
            return exit_code_for_error(invocation_);
        }
    }
    loop_.on_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT}, [this](int number) { on_signal(number); });
    std::optional<RawTerminal> terminal;
    if (options_.pty) terminal.emplace();
    loop_.run();
    terminal.reset();
    if (output_) output_->finish();
    streams_.flush();
    return std::max(own_code_, tasks_ && !options_.layout ? tasks_->exit_code() : 0);
}

Result<void> Attachment::connect(const wire::AttachStep& step, const wire::NodeAddress& address) {
    OpenedNode opened = TRY(client_.connect_node(address, [&](const Connection&) {
        wire::StepInput input;
        *input.mutable_attach() = step;
        return input;
    }));
    set_blocking(opened.connection.fd, false);
    allow_stopped_peer(opened.connection.fd);
    Node& node = *nodes_.emplace_back(std::make_unique<Node>());
    node.name = address.name();
    node.stream = std::make_unique<Stream>(
        loop_, std::move(opened.connection.fd),
        Stream::Handlers{[this, &node](std::string_view bytes) { on_data(node, bytes); },
                         [this, &node] {
                             if (!node.done) fail(fmt::format("{}: connection lost", node.name));
                             finish(node);
                         },
                         [this] { pace_input(); }});
    node.stream->send(opened.unsent);
    return {};
}

void Attachment::on_data(Node& node, std::string_view bytes) {
    node.reader.feed(bytes);
    while (!node.done) {
        Result<std::optional<std::string_view>> frame = node.reader.next();
        if (frame && !*frame) return;
        std::optional<Error> error;
        if (!frame) {
            error = frame.error();
        } else if (!node.welcomed) {
            node.welcomed = true;
            const Result<wire::Welcome> welcome = decode<wire::Welcome>(**frame);
            if (!welcome) error = welcome.error();
            if (welcome && welcome->has_error()) error = from_wire(welcome->error());
        } else {
            const Result<wire::StepOutput> output = decode<wire::StepOutput>(**frame);
            if (!output) error = output.error();
            if (output && output->has_error()) error = from_wire(output->error());
            if (!error) on_message(node, *output);
        }
        if (!error) continue;
        fail(fmt::format("StepId={}: node {}: {}", step_id_, node.name, to_string(*error)));
        return finish(node);
    }
}

void Attachment::on_message(Node& node, const wire::StepOutput& output) {
    if (output.has_attached()) return on_attached(node, output.attached());
    if (output.has_done()) return finish(node);
    if (!output_) return;  // not all nodes have answered
    if (output.has_output()) return on_output(output.output());
    if (output.has_exited()) return on_exited(node, output.exited());
    if (output.body_case() == wire::StepOutput::kMessage) streams_.err(output.message() + "\n");
}

void Attachment::on_attached(Node& node, const wire::Attached& attached) {
    node.greeting = attached;
    if (!output_) {
        const std::uint32_t tasks = std::max(1u, attached.total_tasks());
        tasks_ = std::make_unique<TaskTable>(tasks);
        output_ = std::make_unique<TaskOutput>(
            TaskOutput::Layout{options_.label, options_.pty, tasks}, streams_);
    }
    for (const wire::TaskExited& each : attached.ended())
        tasks_->on_exited(each.task(), each.exit());
    const bool is_complete = std::all_of(nodes_.begin(), nodes_.end(), [](const auto& each) {
        return each->greeting.has_value() || each->done;
    });
    if (is_complete) begin();
}

void Attachment::begin() {
    if (options_.layout) {
        print_layout();
        return loop_.stop();
    }
    const bool has_pty = std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
        return !node->greeting || node->greeting->pty();
    });
    if (options_.pty && !has_pty) {
        fail(fmt::format("StepId={} was not started with srun --pty", step_id_));
        return loop_.stop();
    }
    if (options_.verbose) {
        print_info(streams_, invocation_,
                   fmt::format("attached to StepId={} on {} nodes", step_id_, nodes_.size()));
    }
    pump_ =
        std::make_unique<InputPump>(loop_, Fd{}, [this](std::string_view data) { on_input(data); });
}

void Attachment::print_layout() {
    std::vector<const Node*> by_rank;
    for (const auto& node : nodes_) {
        if (node->greeting) by_rank.push_back(node.get());
    }
    std::sort(by_rank.begin(), by_rank.end(), [](const Node* a, const Node* b) {
        return a->greeting->node_rank() < b->greeting->node_rank();
    });
    std::vector<std::string> names;
    for (const Node* node : by_rank) names.push_back(node->name);
    std::string text = fmt::format("Job step layout:\n\t{} tasks, {} nodes ({})\n\n",
                                   by_rank.front()->greeting->total_tasks(), by_rank.size(),
                                   Hostlist(names).to_string());
    for (const Node* node : by_rank) {
        text += fmt::format(
            "\tNode {} ({}), {} task(s): {} \n", node->greeting->node_rank(), node->name,
            node->greeting->task_ids_size(),
            fmt::join(node->greeting->task_ids().begin(), node->greeting->task_ids().end(), " "));
    }
    streams_.out(text);
}

void Attachment::on_output(const wire::StreamData& data) {
    if (options_.layout) return;
    const std::optional<std::uint32_t>& only =
        data.stream() == 2 ? options_.error_task : options_.output_task;
    if (only && *only != data.task()) return;
    output_->write(data.task(), data.stream(), data.data());
}

void Attachment::on_exited(Node& node, const wire::TaskExited& exited) {
    tasks_->on_exited(exited.task(), exited.exit());
    for (const std::string& line : exit_lines(node.name, {TaskEnd{exited.task(), exited.exit()}})) {
        print_error(streams_, invocation_, line);
    }
}

// The end of our input is not the end of the tasks' input, which they share with srun.
void Attachment::on_input(std::string_view data) {
    if (data.empty()) return;
    wire::StepInput input;
    const std::uint32_t all = options_.pty ? 0 : kEveryTask;
    input.mutable_input()->set_task(options_.input_task.value_or(all));
    input.mutable_input()->set_data(data.data(), data.size());
    std::string frame;
    append_frame(frame, input);
    for (const auto& node : nodes_) {
        if (!node->done && !node->stream->closed()) node->stream->send(frame);
    }
    pace_input();
}

void Attachment::pace_input() {
    if (!pump_) return;
    const bool is_full = std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
        return !node->done && node->stream->backlog() > kInputBacklogMax;
    });
    is_full ? pump_->pause() : pump_->resume();
}

void Attachment::on_signal(int number) {
    if (!options_.quiet) {
        print_info(streams_, invocation_, fmt::format("detached; StepId={} goes on", step_id_));
    }
    own_code_ = 128 + number;
    loop_.stop();
}

void Attachment::fail(const std::string& text) {
    print_error(streams_, invocation_, text);
    own_code_ = exit_code_for_error(invocation_);
}

void Attachment::finish(Node& node) {
    node.done = true;
    node.stream->close();
    const bool all_done =
        std::all_of(nodes_.begin(), nodes_.end(), [](const auto& each) { return each->done; });
    if (all_done) loop_.stop();
}

}  // namespace sluice
