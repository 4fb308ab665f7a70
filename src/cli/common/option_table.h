// cli/common/option_table.h
//
// A tool's table of options: how they are spelled, what --help says of them, and the variables that
// set them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/tool.h"
#include "surface/arguments.h"
#include "surface/option_help.h"

namespace sluice {

struct ToolOption {
    OptionSpelling spelling;
    const char* value;     // what --help calls it; nullptr: takes none
    const char* variable;  // nullptr: none
    const char* help;
};

std::vector<OptionHelp> help_of(std::span<const ToolOption> options);

// The options that variables set, then those of the command line. Nothing: an error was printed.
std::optional<Arguments> read_options(std::span<const ToolOption> options,
                                      const Invocation& invocation, Streams& streams);

// --help, --usage and --version, which tables of this kind have as the ids below.
constexpr std::size_t kHelpOption = 1000, kUsageOption = 1001, kVersionOption = 1002;
// True: one of them was given, and its text is printed.
bool print_help_option(const Arguments& given, std::span<const ToolOption> options,
                       std::string_view operands, const Invocation& invocation, Streams& streams);

}  // namespace sluice
