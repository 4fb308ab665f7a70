// controller/barred_users.h
//
// AllowGroups of a partition, changed by scontrol, counts for jobs that wait already. In which
// groups their owners are is known here only, and may change.
#pragma once

#include <vector>

#include "controller/services.h"
#include "core/event.h"

namespace sluice {

// All who have jobs, with the groups they are in now. Blocking: for slow_pool.
std::vector<Caller> job_owners(Services& services);

bool has_barred_users(const Snapshot& snapshot);

// Asks again for those whom partitions keep out, and tells the core. Blocking, as above.
void refresh_barred_users(Services& services);

}  // namespace sluice
