// core/job/step_plan.h
//
// Where a step of a job goes: which nodes, how many tasks on each, which of the job's CPUs and
// GPUs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/cluster.h"

namespace sluice {

using Steps = std::vector<std::shared_ptr<const Step>>;

struct StepPlan {
    std::optional<Step> step;  // absent: busy, wait
};

// Beside the steps `others`, which hold theirs.
Result<StepPlan> plan_step(const Cluster& cluster, const Job& job, const Steps& others,
                           const StepWish& wish);

}  // namespace sluice
