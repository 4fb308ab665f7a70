// cli/scontrol/scontrol.h
//
// Shows and changes the state of the cluster: one command from its arguments, or many from a
// prompt.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_scontrol(const Invocation& invocation, Client& client, Streams& streams);
int run_scontrol_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
