// cli/sbash/sbash.h
//
// A shell with one GPU, and the part of its node's CPUs and memory that belongs to a GPU: an srun
// whose options are made from a short request (not in Slurm).
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

// The srun that is run.
Result<std::vector<std::string>> sbash_command(const Invocation& invocation, Client& client,
                                               bool at_terminal);

int run_sbash(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
