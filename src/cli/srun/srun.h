// cli/srun/srun.h
//
// Runs a program as the tasks of a job step: in the job it is called in, in one named by --jobid,
// or in a job of its own.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

int run_srun(const Invocation& invocation, Client& client, Streams& streams);

}  // namespace sluice
