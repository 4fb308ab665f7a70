// cli/sdiag/sdiag.h
//
// Shows what slurmctld counts of its own work: requests, jobs, scheduling passes, queues.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sdiag(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
