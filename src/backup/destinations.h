// backup/destinations.h: the kinds of destinations.
#pragma once

#include "backup/destination.h"

namespace sluice::backup {

std::unique_ptr<Destination> directory_destination(const Place& place);
std::unique_ptr<Destination> shared_destination(const Place& place);

}  // namespace sluice::backup
