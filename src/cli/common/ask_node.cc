#include "cli/common/ask_node.h"

#include <poll.h>
#include <sys/socket.h>

#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr std::chrono::seconds kPatience{5};  // slurmd answers within three seconds

// The next message, or an error when it has not come by `deadline`.
Result<std::string> receive(AskedNode& node, NodeDeadline deadline) {
    char buffer[16 * 1024];
    for (;;) {
        if (auto frame = TRY(node.reader.next())) return std::string(*frame);
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd ready{node.connection.fd.get(), POLLIN, 0};
        if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
            return Error{ErrorCode::Timeout, fmt::format("node {} did not answer", node.name)};
        }
        const ssize_t count = recv(node.connection.fd.get(), buffer, sizeof buffer, 0);
        if (count <= 0) {
            return Error{ErrorCode::LaunchFailed,
                         fmt::format("node {} closed the connection", node.name)};
        }
        node.reader.feed({buffer, static_cast<std::size_t>(count)});
    }
}

Result<void> hear_welcome(AskedNode& node, NodeDeadline deadline) {
    const std::string bytes = TRY(receive(node, deadline));
    const wire::Welcome welcome = TRY(decode<wire::Welcome>(bytes));
    if (welcome.has_error()) return from_wire(welcome.error());
    return {};
}

Result<wire::StepOutput> hear_output(AskedNode& node, NodeDeadline deadline) {
    const std::string bytes = TRY(receive(node, deadline));
    wire::StepOutput output = TRY(decode<wire::StepOutput>(bytes));
    if (output.has_error()) return from_wire(output.error());
    return output;
}

}  // namespace

NodeDeadline deadline_for_nodes() {
    return std::chrono::steady_clock::now() + kPatience;
}

Result<wire::StepUsages> hear_node(AskedNode& node, NodeDeadline deadline) {
    TRY(hear_welcome(node, deadline));
    wire::StepOutput output = TRY(hear_output(node, deadline));
    return std::move(*output.mutable_usages());
}

Result<std::vector<wire::GpuAnswer>> hear_gpus(AskedNode& node, NodeDeadline deadline) {
    TRY(hear_welcome(node, deadline));
    std::vector<wire::GpuAnswer> answers;
    do {
        wire::StepOutput output = TRY(hear_output(node, deadline));
        answers.push_back(std::move(*output.mutable_gpus()));
    } while (answers.back().more());
    return answers;
}

Result<AskedNode> ask_node(Client& client, const wire::NodeAddress& address,
                           const wire::StepInput& question) {
    OpenedNode opened =
        TRY(client.connect_node(address, [&](const Connection&) { return question; }));
    const std::string& bytes = opened.unsent;
    if (send(opened.connection.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("node {} closed the connection", address.name())};
    }
    return AskedNode{address.name(), std::move(opened.connection), FrameReader{}};
}

Result<AskedNode> ask_node(Client& client, const wire::NodeAddress& address,
                           const wire::AskUsage& question) {
    wire::StepInput input;
    *input.mutable_ask_usage() = question;
    return ask_node(client, address, input);
}

}  // namespace sluice
