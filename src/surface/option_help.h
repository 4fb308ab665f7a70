// surface/option_help.h
//
// The options of a tool as --help, --usage and the manual pages list them. Each tool makes the list
// from its own table of options, so that an option has one help text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct OptionHelp {
    std::string_view name;
    char letter = 0;
    std::string_view value = {};   // "names"; "[names]": may be left out; empty: takes none
    std::string_view text;         // one line; empty: a second spelling, which is not listed
    std::string_view manual = {};  // for the manual page; empty: the text above is enough
    std::vector<std::string> variables = {};
    std::string_view group = {};  // heading; options of one group follow each other
    bool is_supported = true;     // false: known and refused
};

// "-a, --array=indexes", "--nice[=value]"
std::string option_spelling(const OptionHelp& option);

// One line for each option that is supported and has a text, under the headings of the groups. The
// texts begin at `column`.
std::string help_lines(std::span<const OptionHelp> options, std::size_t column);

// "Usage: squeue [--account=names] [--all] ..." in lines of 80 characters; the operands follow on a
// line of their own.
std::string usage_lines(std::string_view tool, std::span<const OptionHelp> options,
                        std::string_view operands);

}  // namespace sluice
