// cli/seff/seff.h
//
// How well a job used what it had asked for: CPUs, memory, GPUs and time.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"

namespace sluice {

int run_seff(const Invocation& invocation, Client& client, Streams& streams);
int run_seff_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

std::vector<OptionHelp> seff_option_help();

}  // namespace sluice
