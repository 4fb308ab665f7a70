// store/sqlite.h
//
// The wrapper of SQLite (sql/sqlite.h), under the names that this room uses.
#pragma once

#include "sql/sqlite.h"

namespace sluice {

using sqlite::Database;
using sqlite::Statement;

}  // namespace sluice
