// cli/sgather/sgather.h
//
// Copies a file from all nodes of a job to this host: the inverse of sbcast.
#pragma once

#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_sgather(const Invocation& invocation, Client& client, Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sgather_option_help();

}  // namespace sluice
