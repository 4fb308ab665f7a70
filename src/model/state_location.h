// model/state_location.h
//
// StateSaveLocation: a directory of one controller, or a PostgreSQL database that several
// controllers share.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// "postgresql://USER@HOST1,HOST2/DATABASE?OPTIONS", a connection string of libpq; "postgres://" is
// the same.
bool is_shared_state(std::string_view location);

// To be shown: a password in the location is replaced by "***".
std::string without_password(std::string_view location);

}  // namespace sluice
