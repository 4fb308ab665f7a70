// cli/sgpu/sgpu.h
//
// What the GPUs of the cluster do: a table of now, and the course of a job.
#pragma once

#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_sgpu(const Invocation& invocation, Client& client, Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> sgpu_option_help();

}  // namespace sluice
