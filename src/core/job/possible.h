// core/job/possible.h
//
// Whether a job can ever run. One that cannot is refused at submission, with Slurm's message and
// what it could ask for instead.
#pragma once

#include "core/cluster.h"

namespace sluice {

// Whether such nodes, features and resources exist at all.
Result<void> check_names(const Cluster& cluster, const Shape& shape);

// Checks with all nodes up and idle, in each of its partitions. Limits of partitions count where
// EnforcePartLimits says so; else jobs beyond them wait with a reason.
Result<void> check_possible(const Cluster& cluster, const Job& job);

}  // namespace sluice
