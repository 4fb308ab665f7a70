// cli/srun/step_files.h
//
// Where the tasks' standard streams come from and go to: srun, files that srun opens for all
// tasks, or files that each node opens because their names differ by task or node.
#pragma once

#include "cli/srun/launcher.h"

namespace sluice {

// Opens what srun itself reads or writes, and says the rest in `spec`.
Result<StepFiles> open_step_files(const JobOptions& options, const wire::StepCreated& step,
                                  wire::TaskSpec& spec);

// srun --async: the file for messages about the step, which is that of its errors.
Result<Fd> open_message_file(const JobOptions& options, const wire::StepCreated& step);

}  // namespace sluice
