// cli/sshare/sshare.h
//
// Shows the shares, the usage and the fair-share factors of associations.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_sshare(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
