// cli/sattach/sattach.h
//
// Attaches to the standard streams of the tasks of a step that runs. slurmctld says where it runs;
// the slurmd of each node passes the connection on to the step's supervisor.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sattach(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
