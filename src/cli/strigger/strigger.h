// cli/strigger/strigger.h
//
// Sets, shows and clears triggers: programs that slurmctld runs when something happens.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_strigger(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
