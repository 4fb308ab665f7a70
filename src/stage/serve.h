// stage/serve.h
#pragma once

#include <string>

#include "os/fd.h"

namespace sluice::stage {

// Answers the questions of peers on connections that slurmd has admitted and passes over `line`.
// Returns when slurmd has ended, or nobody has asked for some time.
void serve(const std::string& cache, const Fd& line);

}  // namespace sluice::stage
