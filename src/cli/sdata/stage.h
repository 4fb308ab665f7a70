// cli/sdata/stage.h
#pragma once

#include "base/result.h"
#include "cli/common/tool.h"

namespace sluice {

// sdata stage: slurmd of this node brings "SRC[:NAME]" to $SCRATCH of the job that we are in.
Result<void> stage_in_job(const Invocation& invocation, const std::string& source);

}  // namespace sluice
