// cli/sluice/sluice.h
//
// Our own commands, beyond what Slurm has.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sluice(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
