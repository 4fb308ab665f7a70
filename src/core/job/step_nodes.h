// core/job/step_nodes.h
//
// Which nodes of its job a step may use: by name, by number, or one for each task.
#pragma once

#include <string>
#include <vector>

#include "core/cluster.h"

namespace sluice {

struct StepNodes {
    std::vector<const NodeShare*> nodes;  // named ones first; else in the order of the job
    bool are_named = false;
    // --distribution=arbitrary: how many tasks each of `nodes` has.
    std::vector<std::uint32_t> tasks;
};

Result<StepNodes> step_nodes(const Cluster& cluster, const Job& job, const StepDemand& demand);

}  // namespace sluice
