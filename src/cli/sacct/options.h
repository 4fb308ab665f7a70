// cli/sacct/options.h
//
// What sacct was asked for: its command line over its environment variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "model/accounted.h"
#include "surface/json.h"
#include "surface/option_help.h"
#include "surface/report.h"
#include "surface/usage_fields.h"

namespace sluice {

// What a tool prints instead of a list.
enum class SacctEnding : unsigned char {
    None,
    Help,
    Usage,
    Version,
    Fields,
    States,
    Reasons,
    DataParsers
};

struct SacctOptions {
    JobSelection selection;
    std::vector<std::uint32_t> associations;  // -x: only jobs of these
    std::uint32_t flags = 0;                  // -F: only jobs with one of these
    std::optional<std::string> format;
    Bars bars = Bars::None;
    std::string delimiter = "|";
    UnitStyle units;
    std::optional<JsonStyle> json;
    SacctEnding ending = SacctEnding::None;
    int verbosity = 0;
    bool header = true;
    bool all_users = false;
    bool truncate = false;   // -T
    bool each_task = false;  // --array
    bool expand_patterns = false;
};

// Nothing: an error has been printed; exit with 1.
std::optional<SacctOptions> parse_sacct_options(Time now, const Invocation& invocation,
                                                Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sacct_option_help();

}  // namespace sluice
