// cli/gpu_usage/gpu_usage.h
//
// Shows which users use the GPUs of the cluster: by type, by user, or by lab (account).
#pragma once

#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_gpu_usage(const Invocation& invocation, Client& client, Streams& streams);

// The options as --help and the manual page list them.
std::vector<OptionHelp> gpu_usage_option_help();

}  // namespace sluice
