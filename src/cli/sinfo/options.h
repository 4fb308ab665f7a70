// cli/sinfo/options.h
//
// What sinfo was asked for: its command line over its environment variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "surface/json.h"
#include "surface/node_states.h"
#include "surface/option_help.h"

namespace sluice {

struct SinfoOptions {
    std::vector<std::string> partitions;
    std::optional<std::vector<std::string>> nodes;
    NodeStateFilter states;
    std::optional<std::string> format, long_format, sort;
    std::uint32_t repeat_seconds = 0;
    bool all = false;
    bool dead = false;
    bool responding = false;
    bool exact = false;
    bool by_node = false;
    bool long_list = false;
    bool no_header = false;
    bool summarize = false;
    bool reasons = false;
    bool reservations = false;
    std::optional<JsonStyle> json;  // --json, --yaml
};

// Nothing: help, the version or an error has been printed; exit with `exit_code`.
std::optional<SinfoOptions> parse_sinfo_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sinfo_option_help();

}  // namespace sluice
