// cli/sacctmgr/link.h
//
// Changes of the policy, and what they would do.
#pragma once

#include "cli/client/client.h"
#include "model/policy.h"
#include "policy/apply.h"

namespace sluice {

Result<void> send_change(Client& client, const PolicyChange& change);

// What the change would do. The server checks permissions and running jobs, the preview does not.
Result<PolicyOutcome> preview(Policy& policy, const PolicyChange& change);

}  // namespace sluice
