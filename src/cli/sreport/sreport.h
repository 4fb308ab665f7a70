// cli/sreport/sreport.h
//
// Reports on what clusters, accounts and users have used. Commands are given as arguments, or line
// by line on standard input.
#pragma once

#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_sreport(const Invocation& invocation, Client& client, Streams& streams);
int run_sreport_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sreport_option_help();

}  // namespace sluice
