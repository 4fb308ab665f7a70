// cli/salloc/job_variables.h
//
// The variables by which programs outside the nodes know the job: what salloc's command sees.
#pragma once

#include "cli/common/environment.h"
#include "wire.pb.h"

namespace sluice {

void set_job_variables(Environment& environment, const wire::JobAllocation& allocation);

}  // namespace sluice
