#include "cli/common/option_table.h"

namespace sluice {

std::vector<OptionHelp> help_of(std::span<const ToolOption> options) {
    std::vector<OptionHelp> all;
    for (const ToolOption& option : options) {
        OptionHelp help{.name = option.spelling.name,
                        .letter = option.spelling.letter,
                        .value = option.value ? option.value : "",
                        .text = option.help};
        if (option.variable) help.variables.emplace_back(option.variable);
        all.push_back(std::move(help));
    }
    return all;
}

std::optional<Arguments> read_options(std::span<const ToolOption> options,
                                      const Invocation& invocation, Streams& streams) {
    std::vector<OptionSpelling> spellings;
    for (const ToolOption& option : options) spellings.push_back(option.spelling);
    Result<Arguments> given = parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    std::vector<GivenOption> all;
    for (const ToolOption& option : options) {
        if (!option.variable) continue;
        const std::optional<std::string_view> value = invocation.environment.find(option.variable);
        if (!value) continue;
        GivenOption from_variable{.id = option.spelling.id, .value = {}};
        if (option.spelling.argument != Argument::None && !value->empty())
            from_variable.value = std::string(*value);
        all.push_back(std::move(from_variable));
    }
    all.insert(all.end(), given->options.begin(), given->options.end());
    given->options = std::move(all);
    return *std::move(given);
}

bool print_help_option(const Arguments& given, std::span<const ToolOption> options,
                       std::string_view operands, const Invocation& invocation, Streams& streams) {
    constexpr std::size_t kTextColumn = 30;
    for (const GivenOption& option : given.options) {
        if (option.id == kHelpOption) {
            streams.out(fmt::format("Usage: {} [OPTIONS] {}\n{}", invocation.tool, operands,
                                    help_lines(help_of(options), kTextColumn)));
        } else if (option.id == kUsageOption) {
            streams.out(usage_lines(invocation.tool, help_of(options), operands));
        } else if (option.id == kVersionOption) {
            print_version(streams);
        } else {
            continue;
        }
        return true;
    }
    return false;
}

}  // namespace sluice
