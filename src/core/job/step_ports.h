// core/job/step_ports.h
//
// Ports that are kept for a step on all its nodes: srun --resv-ports.
#pragma once

#include <optional>
#include <string>

#include "core/job/step_plan.h"

namespace sluice {

// "12000-12003": neighbouring ports that no other step has on a node of `step`. `count` 0: as many
// as the node with most tasks has. Nothing: steps of the same job have them, and the step can wait.
Result<std::optional<std::string>> reserve_ports(const Cluster& cluster, const Job& job,
                                                 const StepList& others, const Step& step,
                                                 std::uint32_t count);

}  // namespace sluice
