// agent/agent.h
//
// slurmd put together: the parts, the signals, the order in which things start.
#pragma once

#include <string>

#include "agent/options.h"
#include "agent/site.h"
#include "base/result.h"

namespace sluice {

// Runs until it gets a signal to stop. Jobs continue without it.
Result<void> run_agent(const SlurmdOptions& options);

// `slurmd -C`: the node's line for slurm.conf, and how long the machine has been up.
std::string hardware_lines(const Hardware& hardware);

}  // namespace sluice
