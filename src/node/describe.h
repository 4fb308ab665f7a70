// node/describe.h
//
// Events and effects as text: for the log of slurmd, the event log of simulations, and tests.
#pragma once

#include <string>

#include "node/effect.h"
#include "node/event.h"

namespace sluice {

std::string describe(const NodeEvent& event);
std::string describe(const NodeEffect& effect);

}  // namespace sluice
