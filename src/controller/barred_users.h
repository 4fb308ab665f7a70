// controller/barred_users.h
//
// AllowGroups of a partition, changed by scontrol, applies to waiting jobs too. The groups of their
// owners are known only here, and may change.
#pragma once

#include <vector>

#include "controller/services.h"
#include "core/event.h"

namespace sluice {

// All users with jobs, with their current groups. Blocking: for slow_pool.
std::vector<Caller> job_owners(Services& services);

bool has_barred_users(const Snapshot& snapshot);

// Looks up the groups of barred users again and reports changes to the core. Blocking, as above.
void refresh_barred_users(Services& services);

}  // namespace sluice
