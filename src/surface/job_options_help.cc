// --help and --usage of sbatch, srun and salloc, from the table of job options.
#include <fmt/format.h>

#include "surface/job_options.h"
#include "surface/job_options_manual.h"

namespace sluice {

namespace {

struct GroupTitle {
    OptionGroup group;
    const char* title;
};
constexpr GroupTitle kGroups[] = {
    {OptionGroup::Run, "Parallel run options"},
    {OptionGroup::Constraint, "Constraint options"},
    {OptionGroup::Consumable, "Consumable resources related options"},
    {OptionGroup::Affinity, "Affinity/Multi-core options"},
    {OptionGroup::Gpu, "GPU scheduling options"},
    {OptionGroup::Help, "Help options"},
    {OptionGroup::Other, "Other options"},
};

std::string_view operands_of(Tool tool) {
    switch (tool) {
        case kSbatch:
            return "script [args...]";
        case kSalloc:
            return "[command [args...]]";
        default:
            return "executable [args...]";
    }
}

}  // namespace

std::vector<OptionHelp> job_option_help(Tool tool) {
    std::vector<OptionHelp> all;
    for (const GroupTitle& group : kGroups) {
        for (const JobOption& option : job_options()) {
            if (option.group != group.group || !(option.tools & tool)) continue;
            all.push_back({.name = option.name,
                           .letter = option.letter,
                           .value = option.value ? option.value : "",
                           .text = option.help ? option.help : "",
                           .manual = job_option_manual(option.name, tool),
                           .variables = variables_of(option, tool),
                           .group = group.title,
                           .is_supported = option.set != nullptr});
        }
    }
    return all;
}

std::string print_help(Tool tool) {
    constexpr std::size_t kColumn = 30;
    return fmt::format("Usage: {} [OPTIONS...] {}\n{}\n", tool_name(tool), operands_of(tool),
                       help_lines(job_option_help(tool), kColumn));
}

std::string print_usage(Tool tool) {
    return usage_lines(tool_name(tool), job_option_help(tool), operands_of(tool));
}

}  // namespace sluice
