#include "surface/option_help.h"

#include <fmt/format.h>

#include <iterator>

namespace sluice {

namespace {

bool is_listed(const OptionHelp& option) {
    return option.is_supported && !option.text.empty();
}

// "=names", "[=names]" or nothing.
std::string value_suffix(std::string_view value) {
    if (value.empty()) return {};
    const bool is_optional = value.starts_with('[') && !value.starts_with("[[");
    return is_optional ? fmt::format("[={}", value.substr(1)) : fmt::format("={}", value);
}

}  // namespace

std::string option_spelling(const OptionHelp& option) {
    std::string text = option.letter ? fmt::format("-{}, ", option.letter) : "";
    return text + fmt::format("--{}{}", option.name, value_suffix(option.value));
}

std::string help_lines(std::span<const OptionHelp> options, std::size_t column) {
    std::string text;
    std::string_view group;
    for (const OptionHelp& option : options) {
        if (!is_listed(option)) continue;
        if (option.group != group) {
            group = option.group;
            fmt::format_to(std::back_inserter(text), "\n{}:\n", group);
        }
        std::string line = (option.letter ? "  " : "      ") + option_spelling(option);
        line.resize(std::max(line.size() + 1, column), ' ');
        fmt::format_to(std::back_inserter(text), "{}{}\n", line, option.text);
    }
    return text;
}

std::string usage_lines(std::string_view tool, std::span<const OptionHelp> options,
                        std::string_view operands) {
    constexpr std::size_t kWidth = 80;
    const std::string indent(tool.size() + 7, ' ');
    std::string text, line = fmt::format("Usage: {}", tool);
    for (const OptionHelp& option : options) {
        if (!is_listed(option)) continue;
        const std::string word = fmt::format("[--{}{}]", option.name, value_suffix(option.value));
        if (line.size() + 1 + word.size() > kWidth) {
            text += line + "\n";
            line = indent;
        }
        line += " " + word;
    }
    text += line + "\n";
    return operands.empty() ? text : text + fmt::format("{} {}\n", indent, operands);
}

}  // namespace sluice
