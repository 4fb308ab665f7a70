// surface/explain.h
//
// Why a job waits, in words: one fact a line, its topic first. swhy and `scontrol show job -d`
// print the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/explanation.h"
#include "surface/json.h"

namespace sluice {

// "Job 57 (train, alice) waits in partition gpu: Resources"
std::string explanation_title(const Explanation& explanation);
// "needs     4 GPUs (h100) on 1 node for 1-00:00:00", ...
std::vector<std::string> explanation_lines(const Explanation& explanation, Time now);

// "job 57 starts about 14:05; now if --gres=gpu:1 or --time=01:00:00 (swhy 57)". None if it starts
// within a minute, or no other request would start now.
std::optional<std::string> smaller_request(const Explanation& explanation, Time now);

// An object with all that is known, into a list that is open.
void write_explanation(const Explanation& explanation, Json& json);

}  // namespace sluice
