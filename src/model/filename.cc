// model/filename.cc: expansion of file name patterns.
#include "model/filename.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

namespace {

constexpr std::size_t kWidthMax = 10;
constexpr std::uint32_t kNoArrayTask = 0xfffffffe;  // Compat: what %a is outside an array

struct Pattern {
    char letter;        // 0: plain text, as written
    std::size_t width;  // of zero padding
    std::string_view text;
};

// The next piece of the pattern: up to the next '%', or a '%' with its width and letter.
Pattern next_piece(std::string_view pattern) {
    if (pattern[0] != '%') return {0, 0, pattern.substr(0, pattern.find('%'))};
    std::size_t end = 1;
    std::size_t width = 0;
    while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9') {
        width = std::min(width * 10 + static_cast<std::size_t>(pattern[end++] - '0'), kWidthMax);
    }
    if (end == pattern.size()) return {0, 0, pattern};
    return {pattern[end], width, pattern.substr(0, end + 1)};
}

std::string step_text(const FilenameContext& context, std::size_t width) {
    std::string name = print_step(context.step.value_or(kBatchStep));
    bool numbered = name[0] >= '0' && name[0] <= '9';
    return numbered ? fmt::format("{:0>{}}", name, width) : name;
}

std::string whole_id(const FilenameContext& context, std::size_t width) {
    std::string id = fmt::format("{:0{}}", context.job.value, width);
    if (!context.step || *context.step == kBatchStep) return id;
    return fmt::format("{}.{}", id, print_step(*context.step));
}

std::string expand_piece(const Pattern& piece, const FilenameContext& context) {
    auto number = [&](std::uint32_t value) { return fmt::format("{:0{}}", value, piece.width); };
    switch (piece.letter) {
        case '%':
            return "%";
        case 'A':
            return number(context.array_job.value_or(context.job).value);
        case 'a':
            return number(context.array_task.value_or(kNoArrayTask));
        case 'b':
            return number(context.array_task.value_or(kNoArrayTask) % 10);
        case 'J':
            return whole_id(context, piece.width);
        case 'j':
            return number(context.job.value);
        case 'N':
            return context.node_name.substr(0, context.node_name.find('.'));
        case 'n':
            return number(context.node_index);
        case 'r':
            return number(context.restarts);
        case 'S':
            return context.sluid;
        case 's':
            return step_text(context, piece.width);
        case 't':
            return number(context.task);
        case 'u':
            return context.user;
        case 'x':
            return context.job_name;
        default:
            return std::string(piece.text);
    }
}

bool is_literal(std::string_view pattern) {
    return pattern.find('\\') != std::string_view::npos;
}

// Compat: a backslash turns all replacement off, and protects the character after it.
std::string without_backslashes(std::string_view pattern) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        name += pattern[i];
    }
    return name;
}

bool uses(std::string_view pattern, std::string_view letters) {
    if (is_literal(pattern)) return false;
    while (!pattern.empty()) {
        Pattern piece = next_piece(pattern);
        if (piece.letter != 0 && letters.find(piece.letter) != std::string_view::npos) return true;
        pattern.remove_prefix(piece.text.size());
    }
    return false;
}

}  // namespace

std::string expand_filename(std::string_view pattern, const FilenameContext& context) {
    if (is_literal(pattern)) return without_backslashes(pattern);
    std::string name;
    while (!pattern.empty()) {
        Pattern piece = next_piece(pattern);
        name += expand_piece(piece, context);
        pattern.remove_prefix(piece.text.size());
    }
    return name;
}

bool is_per_task(std::string_view pattern) {
    return uses(pattern, "t");
}

bool is_per_node(std::string_view pattern) {
    return uses(pattern, "nN");
}

}  // namespace sluice
