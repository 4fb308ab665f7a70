#include "cli/srun/node_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "model/errors.h"
#include "os/self.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr std::size_t kLinesOfAnyLimit = 512;  // with the usual limit of 1024 open files
constexpr std::size_t kBacklogMax = 1u << 20;  // of input for a node or a relay

// In the order of the step's nodes.
Result<std::vector<const wire::NodeAddress*>> addresses_of_nodes(const StepLaunch& launch,
                                                                 const wire::StepCreated& step) {
    std::unordered_map<std::string, const wire::NodeAddress*> by_name;
    for (const wire::NodeAddress& each : step.addresses()) by_name[each.name()] = &each;
    std::vector<const wire::NodeAddress*> addresses;
    for (const wire::LaunchTasks& own : launch.nodes) {
        const auto found = by_name.find(own.node());
        if (found == by_name.end()) {
            return Error{ErrorCode::LaunchFailed,
                         fmt::format("no address for node {}", own.node())};
        }
        addresses.push_back(found->second);
    }
    return addresses;
}

wire::StepInput order_for(const Branch& branch, const StepLaunch& launch,
                          const std::vector<const wire::NodeAddress*>& addresses,
                          std::uint32_t width) {
    wire::StepInput input;
    if (branch.count == 1) {
        *input.mutable_launch() = launch_of(launch.common, launch.nodes[branch.start]);
        return input;
    }
    wire::LaunchTree& tree = *input.mutable_tree();
    tree.set_width(width);
    *tree.mutable_common() = launch.common;
    for (std::size_t rank = branch.start; rank < branch.start + branch.count; ++rank) {
        wire::TreeNode& node = *tree.add_nodes();
        *node.mutable_address() = *addresses[rank];
        *node.mutable_launch() = launch.nodes[rank];
    }
    return input;
}

void set_srun_address(wire::StepInput& input, const std::string& address) {
    wire::LaunchTasks& launch =
        input.has_tree() ? *input.mutable_tree()->mutable_common() : *input.mutable_launch();
    launch.set_srun_address(address);
}

}  // namespace

Result<void> NodeLines::open(const StepLaunch& launch, const wire::StepCreated& step,
                             std::uint32_t width) {
    const std::size_t count = launch.nodes.size();
    line_of_rank_.assign(count, nullptr);
    is_finished_.assign(count, false);
    const auto addresses = TRY(addresses_of_nodes(launch, step));
    const std::vector<Branch> all = branches(count, width > 0 ? width : count);
    if (all.size() > kLinesOfAnyLimit) raise_file_limit(all.size() + kLinesOfAnyLimit);
    for (const Branch& branch : all) TRY(open_line(branch, launch, addresses, width));
    return {};
}

Result<void> NodeLines::open_line(const Branch& branch, const StepLaunch& launch,
                                  const std::vector<const wire::NodeAddress*>& addresses,
                                  std::uint32_t width) {
    const wire::NodeAddress& node = *addresses[branch.start];
    const std::string& called = node.address().empty() ? node.name() : node.address();
    OpenedNode opened = TRY(client_.connect_node(node, [&](const Connection& connection) {
        wire::StepInput input = order_for(branch, launch, addresses, width);
        set_srun_address(input, own_address(connection, called));
        return input;
    }));
    set_blocking(opened.connection.fd, false);
    allow_stopped_peer(opened.connection.fd);
    Line& line = *lines_.emplace_back(std::make_unique<Line>());
    line.branch = branch;
    line.open_count = branch.count;
    for (std::size_t i = 0; i < branch.count; ++i) line_of_rank_[branch.start + i] = &line;
    line.stream = std::make_unique<Stream>(
        loop_, std::move(opened.connection.fd),
        Stream::Handlers{[this, &line](std::string_view bytes) { on_data(line, bytes); },
                         [this, &line] {
                             lose(line);
                             tell_lost();
                         },
                         handlers_.on_pace});
    line.stream->send(opened.unsent);
    return {};
}

void NodeLines::on_data(Line& line, std::string_view bytes) {
    line.reader.feed(bytes);
    while (!line.is_over()) {
        const Result<std::optional<std::string_view>> frame = line.reader.next();
        if (frame && !*frame) break;
        Result<void> taken = frame ? Result<void>() : frame.error();
        if (frame && !line.welcomed) {
            taken = on_welcome(line, **frame);
        } else if (frame) {
            const Result<wire::StepOutput> output = decode<wire::StepOutput>(**frame);
            output ? on_message(line, *output) : void(taken = output.error());
        }
        if (taken) continue;
        handlers_.on_refused(line.first_rank(), taken.error());
        if (line.is_over()) break;
        line.stream->close();
        lose(line);
    }
    tell_lost();
}

Result<void> NodeLines::on_welcome(Line& line, std::string_view frame) {
    const wire::Welcome welcome = TRY(decode<wire::Welcome>(frame));
    if (welcome.has_error()) return from_wire(welcome.error());
    line.welcomed = true;
    return {};
}

void NodeLines::on_message(Line& line, const wire::StepOutput& output) {
    const std::uint32_t rank = output.has_node_rank() ? output.node_rank() : line.first_rank();
    if (!line.has(rank) || is_finished_[rank]) return;
    const bool is_of_relay = line.is_relay() && !output.has_node_rank();
    if (output.body_case() == wire::StepOutput::kHoldInput) {
        if (is_of_relay) {
            line.holds_input = output.hold_input();
        } else if (output.hold_input()) {
            held_.insert(rank);
        } else {
            held_.erase(rank);
        }
        handlers_.on_pace();
    } else if (output.has_lost()) {
        lost_.push_back(rank);
    } else if (output.has_error()) {
        handlers_.on_refused(rank, from_wire(output.error()));
    } else {
        handlers_.on_message(rank, output);
    }
}

void NodeLines::lose(const Line& line) {
    for (std::size_t i = 0; i < line.branch.count; ++i)
        lost_.push_back(static_cast<std::uint32_t>(line.branch.start + i));
}

void NodeLines::tell_lost() {
    std::vector<std::uint32_t> lost = std::exchange(lost_, {});
    std::erase_if(lost, [&](std::uint32_t rank) { return is_finished_[rank]; });
    if (!lost.empty()) handlers_.on_lost(lost);
}

void NodeLines::send_to_all(const std::string& frames) {
    for (const auto& line : lines_) {
        if (!line->is_over()) line->stream->send(frames);
    }
}

void NodeLines::send_to(std::uint32_t rank, const std::string& frames) {
    Line* line = line_of_rank_[rank];
    if (!line || line->is_over() || is_finished_[rank]) return;
    line->stream->send(line->is_relay() ? with_node_rank(frames, rank) : frames);
}

void NodeLines::finish(std::uint32_t rank) {
    if (is_finished_[rank]) return;
    is_finished_[rank] = true;
    held_.erase(rank);
    Line* line = line_of_rank_[rank];
    if (line && --line->open_count == 0) line->stream->close();
}

bool NodeLines::takes_input() const {
    return held_.empty() && std::ranges::none_of(lines_, [](const std::unique_ptr<Line>& line) {
               return !line->is_over() &&
                      (line->holds_input || line->stream->backlog() > kBacklogMax);
           });
}

}  // namespace sluice
