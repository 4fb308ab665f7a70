// node/apply.h
//
// What happens next on a node: an event changes the state and asks for effects. No files, no
// processes, no clock: the shell (agent/) has them, and the simulator has others.
#pragma once

#include "node/effect.h"
#include "node/event.h"
#include "node/state.h"

namespace sluice {

// Whether an order to launch the job's batch script would start it: false for one that is known.
bool wants_batch(const NodeState& state, const JobKey& job);

// The same of an order to prepare the job.
bool wants_preparation(const NodeState& state, const JobKey& job);

// Whether a step may start here. `issued`: the time of its credential.
Result<void> may_launch(const NodeState& state, const RunKey& run, Time issued);

// What is wrong with the state, if anything: for tests and simulations.
std::optional<std::string> broken_invariant(const NodeState& state);

void apply(NodeState& state, const NodeTime& now, const NodeEvent& event, NodeEffects& effects);

}  // namespace sluice
