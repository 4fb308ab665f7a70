// cli/squeue/squeue.h
//
// Lists jobs or, with -s, steps.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_squeue(const Invocation& invocation, Client& client, Streams& streams);
int run_squeue_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
