// base/log_copy.h
//
// Lines of the log go to a reader too, besides where the log is written: slurmstepd shows them to
// the user of a step (srun --slurmd-debug).
#pragma once

#include <functional>
#include <string>

#include "base/log.h"

namespace sluice {

// Called with "debug:  text" for each line up to this level, after it was written. Lines that are
// logged by `read` itself are not passed to it. An empty `read` ends it.
void copy_log(LogLevel level, std::function<void(const std::string& line)> read);

}  // namespace sluice
