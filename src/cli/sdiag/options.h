// cli/sdiag/options.h
//
// What sdiag was asked for.
#pragma once

#include <optional>
#include <vector>

#include "cli/common/tool.h"
#include "surface/json.h"
#include "surface/option_help.h"
#include "surface/statistics.h"

namespace sluice {

struct SdiagOptions {
    bool reset = false;
    RequestOrder order = RequestOrder::Count;
    std::optional<JsonStyle> json;
};

// Nothing: help, a list, the version or an error has been printed; exit with `exit_code`.
std::optional<SdiagOptions> parse_sdiag_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sdiag_option_help();

}  // namespace sluice
