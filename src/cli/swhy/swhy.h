// cli/swhy/swhy.h
//
// Explains why jobs wait: which jobs hold the resources, and which changes would start them now.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_swhy(const Invocation& invocation, Client& client, Streams& streams);
int run_swhy_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
