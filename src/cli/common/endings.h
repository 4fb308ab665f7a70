// cli/common/endings.h
//
// The options of the listing tools squeue, sinfo and sprio: a table per tool, and the options that
// all of them have, after which a tool prints something and ends. Those are numbered behind the
// tool's own options.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <vector>

#include "cli/common/tool.h"
#include "surface/arguments.h"
#include "surface/option_help.h"

namespace sluice {

template <typename Setter>
struct ListingOption {
    OptionSpelling spelling;
    const char* environment;  // variable that sets the same; nullptr: none
    Setter set;
    const char* value = nullptr;  // name of the value in --help
    const char* help = nullptr;   // nullptr: another spelling of an option, which is not listed
    bool is_supported = true;     // false: refused by its setter
};

enum Ending : std::size_t {
    kHelp = 1000,
    kUsage,
    kHelpFormat,
    kHelpLongFormat,
    kHelpState,
    kVersion
};

struct EndingOption {
    OptionSpelling spelling;
    const char* help;
};
inline constexpr EndingOption kEndings[] = {
    {{"version", 'V', Argument::None, kVersion}, "print the version and exit"},
    {{"help", 0, Argument::None, kHelp}, "show this text"},
    {{"helpformat", 0, Argument::None, kHelpFormat}, "list the fields of -o"},
    {{"helpFormat", 0, Argument::None, kHelpLongFormat}, "list the fields of -O"},
    {{"helpstate", 0, Argument::None, kHelpState}, "list the states"},
    {{"usage", 0, Argument::None, kUsage}, "show a brief usage text"},
};

// A tool's own options by their place in its table, then the endings.
template <typename Options>
std::vector<OptionSpelling> spellings_of(const Options& options) {
    std::vector<OptionSpelling> all;
    for (const auto& option : options) {
        all.push_back(option.spelling);
        all.back().id = all.size() - 1;
    }
    for (const EndingOption& ending : kEndings) all.push_back(ending.spelling);
    return all;
}

// The same for tools that have no lists of fields, letters and states.
template <typename Options>
std::vector<OptionSpelling> spellings_without_lists(const Options& options) {
    std::vector<OptionSpelling> all = spellings_of(options);
    std::erase_if(all, [](const OptionSpelling& each) {
        return each.id >= kHelpFormat && each.id <= kHelpState;
    });
    return all;
}

// The same as --help and the manual page list them.
template <typename Options>
std::vector<OptionHelp> help_of(const Options& options) {
    std::vector<OptionHelp> all;
    for (const auto& option : options) {
        OptionHelp help{.name = option.spelling.name,
                        .letter = option.spelling.letter,
                        .value = option.value ? option.value : "",
                        .text = option.help ? option.help : "",
                        .is_supported = option.is_supported};
        if (option.environment) help.variables.push_back(option.environment);
        all.push_back(std::move(help));
    }
    for (const EndingOption& ending : kEndings) {
        all.push_back(
            {.name = ending.spelling.name, .letter = ending.spelling.letter, .text = ending.help});
    }
    return all;
}

inline void print_listing_help(Streams& streams, std::string_view tool,
                               std::span<const OptionHelp> options) {
    constexpr std::size_t kColumn = 34;
    streams.out(fmt::format("Usage: {} [OPTIONS]\n{}", tool, help_lines(options, kColumn)));
}

}  // namespace sluice
