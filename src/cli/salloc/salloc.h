// cli/salloc/salloc.h
//
// Allocates nodes, runs a command (or a shell) on this host, and gives the nodes back.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_salloc(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
