// cli/common/verbose.h
//
// --verbose: which options the tool has understood.
#pragma once

#include "cli/common/tool.h"
#include "surface/job_options.h"

namespace sluice {

// Prints nothing unless --verbose was given.
void print_defined_options(const JobOptions& options, const Invocation& invocation,
                           Streams& streams);

}  // namespace sluice
