// cli/sinfo/sinfo.h
//
// Lists partitions and their nodes.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sinfo(const Invocation& invocation, Client& client, Streams& streams);
int run_sinfo_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
