// cli/sacct/sacct.h
//
// Shows jobs and steps that run or have run, from the accounting database.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sacct(const Invocation& invocation, Client& client, Streams& streams);
int run_sacct_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
