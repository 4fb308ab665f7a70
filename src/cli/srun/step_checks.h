// cli/srun/step_checks.h
//
// What srun refuses itself: a step that asks for other nodes than its job has.
#pragma once

#include <string>
#include <vector>

#include "surface/job_options.h"
#include "wire.pb.h"

namespace sluice {

// Whether the nodes of the job have to be known for the checks below.
bool names_nodes(const JobOptions& options);

// Nodes of a list that is longer than the step may be are taken out of it: a line for the user.
Result<std::vector<std::string>> check_step_nodes(JobOptions& options,
                                                  const wire::JobAllocation& job);

}  // namespace sluice
