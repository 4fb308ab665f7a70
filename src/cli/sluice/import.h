// cli/sluice/import.h
//
// sluice import: what a site that comes from Slurm has: its slurm.conf and its accounting.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

// The words after "import".
int run_import(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
               Streams& streams);

}  // namespace sluice
