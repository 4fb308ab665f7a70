// controller/reserved_groups.h
//
// Reservations are for groups by name; who is in a group is known here only, and may change.
#pragma once

#include <asio/awaitable.hpp>

#include "controller/services.h"

namespace sluice {

// Asks again who is in the groups that reservations name, and tells the core where that has
// changed. Blocking: for slow_pool.
void refresh_reserved_groups(Services& services);

// Does so every GroupUpdateTime, for ever; and for those whom partitions bar (barred_users.h).
asio::awaitable<void> watch_reserved_groups(Services& services);

}  // namespace sluice
