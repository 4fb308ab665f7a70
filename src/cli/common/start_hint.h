// cli/common/start_hint.h
//
// Why a job waits, as the controller explains it; and what a user who waits for it can be told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "model/explanation.h"

namespace sluice {

// Of one job, or of the waiting tasks of an array.
Result<std::vector<Explanation>> fetch_explanations(Client& client, const std::string& job);

// When it is expected to start, and which smaller request would start now. None if it starts soon,
// or if nothing smaller helps.
std::optional<std::string> start_hint(const std::string& job, Client& client);

}  // namespace sluice
