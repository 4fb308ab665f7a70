// cli/srun/async_step.h
//
// srun --async: srun ends when the controller has given the step a number. A process in the
// background waits for the step's resources, launches it and writes its output to files.
#pragma once

#include <optional>

#include "cli/common/tool.h"
#include "surface/job_options.h"
#include "wire.pb.h"

namespace sluice {

// What the options say besides: where the output goes, and what is not possible.
Result<void> complete_async(JobOptions& options);

// In the process in the background: nothing, and it goes on with the step. In srun: its exit code.
// Messages of the process in the background are in the file with the errors of the step.
std::optional<int> go_to_background(const JobOptions& options, const wire::StepCreated& step,
                                    const Invocation& invocation, Streams& streams);

}  // namespace sluice
