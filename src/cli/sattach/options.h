// cli/sattach/options.h
//
// What sattach was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/common/tool.h"
#include "model/job_id.h"
#include "surface/option_help.h"

namespace sluice {

struct AttachOptions {
    JobRef step;
    std::optional<std::uint32_t> input_task, output_task, error_task;  // only this one
    bool label = false, layout = false, pty = false, quiet = false, verbose = false;
};

// Nothing: help, the version or an error has been printed; exit with `exit_code`.
std::optional<AttachOptions> parse_attach_options(const Invocation& invocation, Streams& streams,
                                                  int& exit_code);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sattach_option_help();

}  // namespace sluice
