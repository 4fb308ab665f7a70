// cli/sstat/options.h
//
// What sstat was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "model/job_id.h"
#include "surface/option_help.h"
#include "surface/report.h"

namespace sluice {

struct SstatOptions {
    std::vector<JobRef> jobs;
    bool all_steps = false;
    bool pids = false;  // -i: a line for each node
    bool no_header = false;
    bool no_convert = false;
    bool verbose = false;
    Bars bars = Bars::None;
    std::optional<std::string> format;
};

// Nothing: help, the version or an error has been printed; exit with `exit_code`.
std::optional<SstatOptions> parse_sstat_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sstat_option_help();

}  // namespace sluice
