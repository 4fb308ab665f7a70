// core/query/reason.h: why a job waits, in Slurm's word.
#pragma once

#include "core/cluster.h"

namespace sluice {

// A job that waits its turn has no reason of its own: its class may have one, else the first one
// that found no place waits for resources, those behind it for their priority.
Reason shown_reason(const Job& job, const std::vector<Partition>& partitions, const PlanView* plan);
// What follows the word.
std::string_view shown_detail(const Job& job, const PlanView* plan);

}  // namespace sluice
