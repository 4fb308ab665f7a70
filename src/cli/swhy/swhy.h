// cli/swhy/swhy.h
//
// Explains why jobs wait: which jobs hold the resources, and which changes would start them now.
#pragma once

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "model/explanation.h"

namespace sluice {

int run_swhy(const Invocation& invocation, Client& client, Streams& streams);
int run_swhy_at(Time now, const Invocation& invocation, Client& client, Streams& streams);

// Of one job, or of the waiting tasks of an array.
Result<std::vector<Explanation>> fetch_explanations(Client& client, const std::string& job);

}  // namespace sluice
