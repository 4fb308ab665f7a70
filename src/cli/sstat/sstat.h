// cli/sstat/sstat.h
//
// Shows what running steps use. slurmctld says which steps run, and where; the slurmd of each of
// their nodes says what they use there.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sstat(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
