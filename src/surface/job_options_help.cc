// --help and --usage of sbatch, srun and salloc, from the table of job options.
#include <fmt/format.h>

#include <iterator>

#include "surface/job_options.h"

namespace sluice {

namespace {

constexpr std::size_t kHelpColumn = 30;

struct GroupTitle {
    OptionGroup group;
    const char* title;
};
constexpr GroupTitle kGroups[] = {
    {OptionGroup::Run, "Parallel run options:"},
    {OptionGroup::Constraint, "Constraint options:"},
    {OptionGroup::Consumable, "Consumable resources related options:"},
    {OptionGroup::Affinity, "Affinity/Multi-core options:"},
    {OptionGroup::Gpu, "GPU scheduling options:"},
    {OptionGroup::Help, "Help options:"},
    {OptionGroup::Other, "Other options:"},
};

std::string_view synopsis(Tool tool) {
    switch (tool) {
        case kSbatch:
            return "sbatch [OPTIONS...] script [args...]";
        case kSalloc:
            return "salloc [OPTIONS...] [command [args...]]";
        default:
            return "srun [OPTIONS...] executable [args...]";
    }
}

std::string spelling(const JobOption& option) {
    std::string_view value = option.value ? option.value : "";
    bool is_optional = value.starts_with('[') && !value.starts_with("[[");
    std::string text = option.letter ? fmt::format("  -{}, ", option.letter) : "      ";
    text += fmt::format("--{}", option.name);
    if (is_optional) return text + fmt::format("[={}", value.substr(1));
    return value.empty() ? text : text + fmt::format("={}", value);
}

bool is_listed(const JobOption& option, Tool tool) {
    return (option.tools & tool) && option.help && option.set;
}

}  // namespace

std::string print_help(Tool tool) {
    std::string text = fmt::format("Usage: {}\n", synopsis(tool));
    for (const GroupTitle& group : kGroups) {
        text += fmt::format("\n{}\n", group.title);
        for (const JobOption& option : job_options()) {
            if (option.group != group.group || !is_listed(option, tool)) continue;
            fmt::format_to(std::back_inserter(text), "{:<{}}{}{}\n", spelling(option), kHelpColumn,
                           spelling(option).size() < kHelpColumn ? "" : " ", option.help);
        }
    }
    return text + "\n";
}

std::string print_usage(Tool tool) {
    constexpr std::size_t kWidth = 80;
    std::string indent(tool_name(tool).size() + 8, ' ');
    std::string text, line = fmt::format("Usage: {}", tool_name(tool));
    for (const JobOption& option : job_options()) {
        if (!is_listed(option, tool)) continue;
        std::string word = fmt::format("[--{}{}{}]", option.name, option.value ? "=" : "",
                                       option.value ? option.value : "");
        if (line.size() + 1 + word.size() > kWidth) {
            text += line + "\n";
            line = indent.substr(1);
        }
        line += " " + word;
    }
    std::string_view operands = synopsis(tool).substr(synopsis(tool).find("...] ") + 5);
    return text + fmt::format("{}\n{}{}\n", line, indent, operands);
}

}  // namespace sluice
