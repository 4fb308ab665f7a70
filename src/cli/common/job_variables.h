// cli/common/job_variables.h
//
// The variables by which programs outside the nodes know the job: what salloc's command and the
// programs around a step of srun see.
#pragma once

#include "cli/common/environment.h"
#include "wire.pb.h"

namespace sluice {

void set_job_variables(Environment& environment, const wire::JobAllocation& allocation);

}  // namespace sluice
