// cli/sbatch/sbatch.h
//
// Submits a batch script: a file, standard input, or a command given to --wrap.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sbatch(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
