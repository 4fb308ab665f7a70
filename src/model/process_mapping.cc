#include "model/process_mapping.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sluice {

namespace {

constexpr std::string_view kStart = "(vector";

struct Block {
    std::uint64_t first_node = 0, nodes = 0, tasks = 0;  // so many tasks on each of its nodes
};

// `begin` is the first task behind the block, afterwards.
Block next_block(const std::vector<std::uint32_t>& nodes, std::size_t& begin) {
    auto run_length = [&](std::size_t start) {
        std::size_t end = start;
        while (end < nodes.size() && nodes[end] == nodes[start]) ++end;
        return end - start;
    };
    Block block{nodes[begin], 1, run_length(begin)};
    begin += block.tasks;
    while (begin < nodes.size() && nodes[begin] == block.first_node + block.nodes &&
           run_length(begin) == block.tasks) {
        ++block.nodes;
        begin += block.tasks;
    }
    return block;
}

// "(0,2,4)", which is removed from the text.
std::optional<Block> take_block(std::string_view& text) {
    const std::size_t end = text.find(')');
    if (!text.starts_with(",(") || end == text.npos) return {};
    const std::vector<std::string_view> numbers = split(text.substr(2, end - 2), ',');
    text.remove_prefix(end + 1);
    if (numbers.size() != 3) return {};
    const auto first = to_number(numbers[0]), nodes = to_number(numbers[1]),
               tasks = to_number(numbers[2]);
    if (!first || !nodes || !tasks) return {};
    return Block{*first, *nodes, *tasks};
}

}  // namespace

std::string print_process_mapping(const std::vector<std::uint32_t>& node_of_task) {
    std::string text(kStart);
    for (std::size_t begin = 0; begin < node_of_task.size();) {
        const Block block = next_block(node_of_task, begin);
        text += fmt::format(",({},{},{})", block.first_node, block.nodes, block.tasks);
    }
    return text + ')';
}

std::optional<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text,
                                                                std::size_t tasks) {
    if (!text.starts_with(kStart)) return {};
    text.remove_prefix(kStart.size());
    std::vector<std::uint32_t> nodes;
    while (text.starts_with(',')) {
        const std::optional<Block> block = take_block(text);
        // A number that is too large by itself must not overflow the product.
        if (!block || block->nodes > tasks || block->tasks > tasks || block->first_node > tasks ||
            nodes.size() + block->nodes * block->tasks > tasks) {
            return {};
        }
        for (std::uint64_t i = 0; i < block->nodes * block->tasks; ++i) {
            nodes.push_back(static_cast<std::uint32_t>(block->first_node + i / block->tasks));
        }
    }
    if (text != ")" || nodes.size() != tasks) return {};
    return nodes;
}

}  // namespace sluice
