// controller/reserved_groups.h
//
// Reservations name groups; the members are known only here, and may change.
#pragma once

#include <asio/awaitable.hpp>

#include "controller/services.h"

namespace sluice {

// Looks up the members of the groups in reservations again and reports changes to the core.
// Blocking: for slow_pool.
void refresh_reserved_groups(Services& services);

// Does so every GroupUpdateTime, for ever; also for users barred from partitions (barred_users.h).
asio::awaitable<void> watch_reserved_groups(Services& services);

}  // namespace sluice
