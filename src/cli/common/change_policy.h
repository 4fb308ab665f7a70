// cli/common/change_policy.h
//
// Changes of accounting's policy: sacctmgr and sluice send the same typed steps.
#pragma once

#include "cli/client/client.h"
#include "policy/apply.h"

namespace sluice {

Result<void> send_change(Client& client, const PolicyChange& change);

}  // namespace sluice
