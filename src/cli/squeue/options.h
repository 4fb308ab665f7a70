// cli/squeue/options.h
//
// What squeue was asked for: its command line over its environment variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "model/filter.h"
#include "surface/json.h"
#include "surface/option_help.h"

namespace sluice {

struct SqueueOptions {
    Filter filter;
    bool matches_nothing = false;            // only users that do not exist were named
    std::optional<std::string> format;       // -o
    std::optional<std::string> long_format;  // -O
    std::optional<std::string> sort;
    std::vector<std::string> licenses;
    std::optional<std::uint32_t> not_user;                    // --notme
    std::optional<std::int64_t> running_over, running_under;  // seconds
    std::uint32_t repeat_seconds = 0;                         // -i
    bool steps = false;
    bool long_list = false;
    bool no_header = false;
    bool array_elements = false;
    bool start = false;
    bool only_job_state = false;
    std::optional<JsonStyle> json;  // --json, --yaml
    bool convert_units = true;
    bool expand_patterns = false;
};

// Nothing: help, the version or an error has been printed; exit with `exit_code`.
std::optional<SqueueOptions> parse_squeue_options(const Invocation& invocation, Streams& streams,
                                                  int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> squeue_option_help();

}  // namespace sluice
