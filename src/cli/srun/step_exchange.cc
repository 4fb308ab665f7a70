#include "cli/srun/step_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "model/errors.h"
#include "model/sizes.h"
#include "protocol/frame.h"

namespace sluice {

namespace {

constexpr std::size_t kPiece = kStepInputSizeMax / 2;  // a frame holds one and its key

Error bad_exchange(std::string text) {
    return {ErrorCode::BadArgument, "MPI: " + std::move(text)};
}

}  // namespace

Result<std::vector<std::uint32_t>> StepExchange::nodes_of(
    const wire::Exchange& contribution) const {
    std::vector<std::uint32_t> nodes(contribution.nodes().begin(), contribution.nodes().end());
    if (nodes.empty()) {
        nodes.resize(node_count_);
        std::iota(nodes.begin(), nodes.end(), 0u);
    }
    const bool is_ascending =
        std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end();
    if (!is_ascending || nodes.back() >= node_count_) {
        return bad_exchange("a node names nodes that are not of the step");
    }
    return nodes;
}

Result<void> StepExchange::add(std::uint32_t node, const wire::Exchange& contribution) {
    const std::vector<std::uint32_t> nodes = TRY(nodes_of(contribution));
    if (contribution.key().size() > sizes::kWord)
        return bad_exchange("the name of an exchange is too long");
    Open& exchange = open_[contribution.key()];
    if (exchange.data.empty()) exchange.nodes = nodes;
    if (exchange.nodes != nodes || !std::binary_search(nodes.begin(), nodes.end(), node) ||
        exchange.data.count(node) > 0) {
        return bad_exchange(
            fmt::format("node {} of the step is not expected in an exchange", node));
    }
    exchange.bytes += contribution.data().size();
    if (exchange.bytes > sizes::kExchange) {
        return bad_exchange(fmt::format("what the tasks tell each other is larger than {} MiB",
                                        sizes::kExchange >> 20));
    }
    exchange.data[node] = contribution.data();
    if (exchange.data.size() < nodes.size()) return {};
    const auto done = open_.extract(contribution.key());
    finish(contribution.key(), done.mapped());
    return {};
}

void StepExchange::finish(const std::string& key, const Open& exchange) {
    std::string all;
    for (const auto& [node, data] : exchange.data) all += data;
    std::string frames;
    for (std::size_t start = 0; start == 0 || start < all.size(); start += kPiece) {
        wire::StepInput input;
        input.mutable_exchanged()->set_key(key);
        input.mutable_exchanged()->set_data(all.substr(start, kPiece));
        input.mutable_exchanged()->set_last(start + kPiece >= all.size());
        append_frame(frames, input);
    }
    if (exchange.nodes.size() == node_count_) return send_({}, frames);
    for (std::uint32_t node : exchange.nodes) send_(node, frames);
}

Result<void> StepExchange::pass_on(std::uint32_t node, wire::Parcel parcel) {
    const std::uint32_t receiver = parcel.node();
    if (receiver >= node_count_ || receiver == node) {
        return bad_exchange("a node writes to a node that is not of the step");
    }
    if (parcel.data().size() > kPiece) {
        return bad_exchange(fmt::format("the data of a task are larger than {} KiB", kPiece >> 10));
    }
    parcel.set_node(node);
    wire::StepInput input;
    *input.mutable_parcel() = std::move(parcel);
    std::string frame;
    append_frame(frame, input);
    send_(receiver, frame);
    return {};
}

}  // namespace sluice
