#include "relay/relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/handshake.h"
#include "model/errors.h"
#include "net/opening.h"
#include "os/error.h"
#include "os/socket.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr std::size_t kBacklogMax = 1u << 20;  // for srun, and for a node

std::string framed(std::string_view message) {
    std::string frame;
    for (std::size_t i = 0; i < kFrameHeaderSize; ++i)
        frame += static_cast<char>(message.size() >> (8 * i) & 0xff);
    frame += message;
    return frame;
}

}  // namespace

Relay::Relay(EventLoop& loop, const Config& config, Fd srun, wire::LaunchTree tree)
    : loop_(loop),
      config_(config),
      tree_(std::move(tree)),
      srun_(loop, std::move(srun),
            Stream::Handlers{[this](std::string_view bytes) { on_srun_data(bytes); },
                             [this] { loop_.stop(); }, [this] { pace_output(); }}) {}

std::uint32_t Relay::rank_of(std::size_t node) const {
    return tree_.nodes(static_cast<int>(node)).launch().node_rank();
}

// Our own node first: it is always a part of its own.
void Relay::launch() {
    const auto count = static_cast<std::size_t>(tree_.nodes_size());
    launch_branch({0, 1});
    for (const Branch& each : branches(count - 1, tree_.width()))
        launch_branch({each.start + 1, each.count});
    tree_.Clear();
}

// Where the first node cannot be reached, the next one takes its place.
void Relay::launch_branch(Branch branch) {
    for (; branch.count > 0; ++branch.start, --branch.count) {
        const Result<void> opened = open(branch);
        if (opened) return;
        fail(rank_of(branch.start), opened.error());
    }
}

Result<void> Relay::open(const Branch& branch) {
    const wire::TreeNode& first = tree_.nodes(static_cast<int>(branch.start));
    const wire::NodeAddress& node = first.address();
    const Endpoint endpoint{.address = node.address().empty() ? node.name() : node.address(),
                            .port = static_cast<std::uint16_t>(node.port()),
                            .daemon = "slurmd"};
    wire::StepInput input;
    if (branch.count == 1) {
        *input.mutable_launch() = launch_of(tree_.common(), first.launch());
    } else {
        *input.mutable_tree() = subtree(tree_, branch);
    }
    Connection connection =
        TRY(as(ErrorCode::LaunchFailed, connect_to(endpoint, config_.message_timeout)));
    const Opening opening{.tool = "sluice-relay",
                          .config = config_,
                          .channel = wire::CHANNEL_STEP,
                          .destination = node_destination(node.name())};
    const std::string unsent = TRY(open_channel(connection, opening, input));
    Child& child = *children_.emplace_back(std::make_unique<Child>());
    child.is_relay = branch.count > 1;
    for (std::size_t i = 0; i < branch.count; ++i) {
        child.ranks.push_back(rank_of(branch.start + i));
        child_of_rank_[child.ranks.back()] = &child;
    }
    allow_stopped_peer(connection.fd);
    child.stream = std::make_unique<Stream>(
        loop_, std::move(connection.fd),
        Stream::Handlers{[this, &child](std::string_view bytes) { on_child_data(child, bytes); },
                         [this, &child] { on_child_closed(child); }, [this] { pace_input(); }});
    child.stream->send(unsent);
    return {};
}

void Relay::on_srun_data(std::string_view bytes) {
    reader_.feed(bytes);
    for (;;) {
        const auto frame = reader_.next();
        if (!frame) return loop_.stop();
        if (!*frame) break;
        const std::optional<std::uint32_t> rank = leading_node_rank(**frame);
        const std::string whole = framed(**frame);
        if (rank) {
            const auto child = child_of_rank_.find(*rank);
            if (child != child_of_rank_.end() && !child->second->is_over())
                child->second->stream->send(whole);
            continue;
        }
        for (const auto& child : children_) {
            if (!child->is_over()) child->stream->send(whole);
        }
    }
    pace_input();
}

bool Relay::take_welcome(Child& child, std::string_view frame) {
    const Result<wire::Welcome> welcome = decode<wire::Welcome>(frame);
    child.welcomed = welcome && !welcome->has_error();
    if (!child.welcomed)
        fail(child.ranks.front(), welcome ? from_wire(welcome->error()) : welcome.error());
    return child.welcomed;
}

void Relay::on_child_data(Child& child, std::string_view bytes) {
    child.reader.feed(bytes);
    std::string up;
    while (!child.is_over()) {
        const auto frame = child.reader.next();
        if (frame && !*frame) break;
        if (frame && !child.welcomed && take_welcome(child, **frame)) continue;
        if (!frame || !child.welcomed) {
            srun_.send(std::exchange(up, {}));
            child.stream->close();
            on_child_closed(child);
        } else if (child.is_relay && !leading_node_rank(**frame)) {
            on_relay_word(child, **frame);
        } else {
            up += child.is_relay ? framed(**frame)
                                 : with_node_rank(framed(**frame), child.ranks.front());
            if (!child.is_relay && is_step_done(**frame)) child.stream->close();
        }
    }
    if (!up.empty()) srun_.send(up);
    pace_output();
}

// What it says of itself, or of the node that it runs on.
void Relay::on_relay_word(Child& child, std::string_view message) {
    const Result<wire::StepOutput> output = decode<wire::StepOutput>(message);
    if (!output) return;
    if (output->has_error()) fail(child.ranks.front(), from_wire(output->error()));
    if (output->body_case() == wire::StepOutput::kHoldInput) {
        child.holds_input = output->hold_input();
        pace_input();
    }
}

void Relay::on_child_closed(Child& child) {
    wire::StepOutput output;
    output.mutable_lost();
    for (std::uint32_t rank : child.ranks) send_up(output, rank);
    pace_input();
}

void Relay::fail(std::uint32_t rank, const Error& error) {
    wire::StepOutput output;
    *output.mutable_error() = to_wire(error);
    send_up(output, rank);
}

void Relay::send_up(const wire::StepOutput& output, std::uint32_t rank) {
    srun_.send(with_node_rank(framed(output.SerializeAsString()), rank));
}

// srun does not read fast enough: the tasks wait.
void Relay::pace_output() {
    const bool is_full = srun_.backlog() > kBacklogMax;
    if (is_full == output_held_) return;
    output_held_ = is_full;
    for (const auto& child : children_) {
        if (!child->is_over()) child->stream->read_more(!is_full);
    }
}

// A node does not read fast enough: srun sends no more input, but signals are passed on.
void Relay::pace_input() {
    const bool is_full = std::ranges::any_of(children_, [](const auto& child) {
        return !child->is_over() && (child->holds_input || child->stream->backlog() > kBacklogMax);
    });
    if (is_full == input_held_) return;
    input_held_ = is_full;
    wire::StepOutput output;
    output.set_hold_input(is_full);
    srun_.send(framed(output.SerializeAsString()));
}

}  // namespace sluice
