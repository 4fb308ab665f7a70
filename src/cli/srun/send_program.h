// cli/srun/send_program.h
//
// srun --bcast: the program of a step is copied to the nodes of the step before it starts.
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "cli/srun/step_request.h"
#include "surface/job_options.h"
#include "wire.pb.h"

namespace sluice {

// Where the copy is. %N stands for the name of the node.
struct SentProgram {
    std::string path;
    std::string libraries;  // the directory of its shared objects; empty: they were not sent
};

struct ProgramToSend {
    std::string program;  // as the user named it
    const JobOptions& options;
    const wire::StepCreated& step;
};

// Errors are printed; the error that is returned is only the fact.
Result<SentProgram> send_program(const ProgramToSend& what, const Invocation& invocation,
                                 Client& client, Streams& streams);

// Puts the name of each node in.
void name_nodes(StepLaunch& launch, const SentProgram& sent);

}  // namespace sluice
