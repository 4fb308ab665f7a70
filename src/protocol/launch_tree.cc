#include "protocol/launch_tree.h"

#include <algorithm>

#include "protocol/frame.h"

namespace sluice {

namespace {

constexpr int kRankField = wire::StepInput::kNodeRankFieldNumber;
constexpr char kRankTag = kRankField << 3;  // a varint
static_assert(kRankField == int{wire::StepOutput::kNodeRankFieldNumber} && kRankField < 16);

void append_length(std::string& out, std::size_t length) {
    for (std::size_t i = 0; i < kFrameHeaderSize; ++i)
        out += static_cast<char>(length >> (8 * i) & 0xff);
}

std::size_t length_at(std::string_view frames) {
    std::size_t length = 0;
    for (std::size_t i = kFrameHeaderSize; i-- > 0;)
        length = length << 8 | static_cast<unsigned char>(frames[i]);
    return length;
}

std::string rank_field(std::uint32_t rank) {
    std::string field(1, kRankTag);
    for (; rank >= 0x80; rank >>= 7) field += static_cast<char>(rank | 0x80);
    return field + static_cast<char>(rank);
}

}  // namespace

std::vector<Branch> branches(std::size_t nodes, std::size_t width) {
    std::vector<Branch> result;
    const std::size_t count = std::min(nodes, std::max<std::size_t>(width, 1));
    for (std::size_t i = 0, start = 0; i < count; ++i) {
        const std::size_t size = nodes / count + (i < nodes % count ? 1 : 0);
        result.push_back({start, size});
        start += size;
    }
    return result;
}

std::string with_node_rank(std::string_view frames, std::uint32_t rank) {
    const std::string field = rank_field(rank);
    std::string result;
    result.reserve(frames.size() + field.size());
    while (frames.size() >= kFrameHeaderSize) {
        const std::size_t length = length_at(frames);
        append_length(result, length + field.size());
        result += field;
        result += frames.substr(kFrameHeaderSize, length);
        frames.remove_prefix(std::min(frames.size(), kFrameHeaderSize + length));
    }
    return result;
}

std::optional<std::uint32_t> leading_node_rank(std::string_view message) {
    if (message.empty() || message.front() != kRankTag) return {};
    std::uint64_t rank = 0;
    for (std::size_t i = 1; i < message.size() && i <= 5; ++i) {
        const auto byte = static_cast<unsigned char>(message[i]);
        rank |= std::uint64_t{byte & 0x7fu} << (7 * (i - 1));
        if (byte < 0x80) return static_cast<std::uint32_t>(rank);
    }
    return {};
}

bool is_step_done(std::string_view message) {
    constexpr char kDoneTag = wire::StepOutput::kDoneFieldNumber << 3 | 2;
    return message.size() >= 2 && message[0] == kDoneTag;
}

wire::LaunchTasks launch_of(const wire::LaunchTasks& common, const wire::LaunchTasks& own) {
    wire::LaunchTasks launch = common;
    launch.MergeFrom(own);
    return launch;
}

wire::LaunchTree subtree(const wire::LaunchTree& tree, const Branch& branch) {
    wire::LaunchTree part;
    part.set_width(tree.width());
    *part.mutable_common() = tree.common();
    const auto first = tree.nodes().begin() + static_cast<std::ptrdiff_t>(branch.start);
    part.mutable_nodes()->Add(first, first + static_cast<std::ptrdiff_t>(branch.count));
    return part;
}

}  // namespace sluice
