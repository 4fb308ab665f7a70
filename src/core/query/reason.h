// core/query/reason.h: why a job waits, in Slurm's words.
#pragma once

#include "core/cluster.h"

namespace sluice {

// A job in the queue has no reason of its own: its class may have one, else the first job that
// cannot start shows Resources, and the jobs behind it Priority.
Reason shown_reason(const Job& job, const std::vector<Partition>& partitions, const PlanView* plan);
// The detail that is shown after the reason.
std::string_view shown_detail(const Job& job, const PlanView* plan);

}  // namespace sluice
