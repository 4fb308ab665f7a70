// cli/sprio/sprio.h
//
// Shows what the priorities of waiting jobs are made of.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sprio(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
