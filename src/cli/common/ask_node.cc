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

}  // namespace

NodeDeadline deadline_for_nodes() {
    return std::chrono::steady_clock::now() + kPatience;
}

Result<wire::StepUsages> hear_node(AskedNode& node, NodeDeadline deadline) {
    const std::string first = TRY(receive(node, deadline));
    const wire::Welcome welcome = TRY(decode<wire::Welcome>(first));
    if (welcome.has_error()) return from_wire(welcome.error());
    const std::string second = TRY(receive(node, deadline));
    wire::StepOutput output = TRY(decode<wire::StepOutput>(second));
    if (output.has_error()) return from_wire(output.error());
    return std::move(*output.mutable_usages());
}

Result<AskedNode> ask_node(Client& client, const wire::NodeAddress& address,
                           const wire::AskUsage& question) {
    OpenedNode opened = TRY(client.connect_node(address, [&](const Connection&) {
        wire::StepInput input;
        *input.mutable_ask_usage() = question;
        return input;
    }));
    const std::string& bytes = opened.unsent;
    if (send(opened.connection.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("node {} closed the connection", address.name())};
    }
    return AskedNode{address.name(), std::move(opened.connection), FrameReader{}};
}

}  // namespace sluice
