// core/job/step_plan.h
//
// Placement of a step: which nodes, how many tasks on each, which of the job's CPUs and GPUs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/cluster.h"

namespace sluice {

using StepList = std::vector<std::shared_ptr<const Step>>;

struct StepPlan {
    std::optional<Step> step;  // absent: busy, wait
};

// Plans around the steps `others`, which keep what they hold.
Result<StepPlan> plan_step(const Cluster& cluster, const Job& job, const StepList& others,
                           const StepDemand& demand);

}  // namespace sluice
