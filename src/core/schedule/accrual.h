// core/schedule/accrual.h
//
// Which waiting jobs gain priority by age, and since when, where QOS or associations limit how many
// do (GrpJobsAccrue, MaxJobsAccrue). A job that comes within the limits later gains from then on.
// Computed with the priorities, from what it was before; not stored: after a restart the jobs that
// have waited longest are within the limits, with their whole age.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/cluster.h"

namespace sluice {

using AccrueTimes = std::map<std::uint32_t, Time>;  // by job id

// Null: all jobs gain. `before`: of the last calculation; null: there was none with limits.
std::shared_ptr<const AccrueTimes> accrue_times(const Cluster& cluster, Time now,
                                                const AccrueTimes* before);

}  // namespace sluice
