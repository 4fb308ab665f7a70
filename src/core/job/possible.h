// core/job/possible.h
//
// Can a job ever run? One that cannot is refused when it is submitted: with Slurm's words, and with
// what it could ask for instead.
#pragma once

#include "core/cluster.h"

namespace sluice {

// Are there such nodes, features and resources at all?
Result<void> check_names(const Cluster& cluster, const Shape& shape);

// With all nodes up and idle, in one of its partitions. Limits of partitions count where
// EnforcePartLimits says so; else jobs beyond them wait with a reason.
Result<void> check_possible(const Cluster& cluster, const Job& job);

}  // namespace sluice
