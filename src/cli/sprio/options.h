// cli/sprio/options.h
//
// What sprio was asked for: its command line over its environment variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "model/filter.h"
#include "surface/option_help.h"

namespace sluice {

struct SprioOptions {
    Filter filter;
    std::vector<std::string> partitions;  // -p: of a job that waits in several, these lines
    bool users_given = false;             // -u: their names are shown
    bool matches_nothing = false;         // only users that do not exist were named
    std::optional<std::string> format;
    std::optional<std::string> sort;
    bool long_list = false;
    bool no_header = false;
    bool normalized = false;
    bool weights = false;
};

// Nothing: help, the version or an error has been printed; exit with `exit_code`.
std::optional<SprioOptions> parse_sprio_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sprio_option_help();

}  // namespace sluice
