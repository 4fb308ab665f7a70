// policy/tree.h
//
// The associations in the order in which tools show them.
#pragma once

#include <vector>

#include "model/policy.h"

namespace sluice {

// By cluster, then depth first: below an account come its users, then its sub-accounts, each by
// name.
std::vector<const Association*> tree_order(const Policy& policy, bool with_deleted);

}  // namespace sluice
