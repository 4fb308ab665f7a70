// cli/swait/swait.h
//
// Waits until no step of a job runs, and no step of srun --async waits for resources.
#pragma once

#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_swait(const Invocation& invocation, Client& client, Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> swait_option_help();

}  // namespace sluice
