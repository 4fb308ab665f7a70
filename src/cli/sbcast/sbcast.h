// cli/sbcast/sbcast.h
//
// Copies a file to all nodes of a job.
#pragma once

#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_sbcast(const Invocation& invocation, Client& client, Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sbcast_option_help();

}  // namespace sluice
