// store/shared_load.h
//
// Reads the rows of a shared state: all of them, or those that changed since a version.
#pragma once

#include <string>
#include <vector>

#include "sql/database.h"
#include "store/store.h"

namespace sluice {

struct BadRow {
    DamagedRow what;
    std::string bytes;
};

// Inside of a transaction, so that all rows are of one moment. An invalid row is recorded in `bad`:
// one damaged row must not keep the cluster from starting.
Result<StoredState> read_all(sql::Database& database, std::vector<BadRow>& bad);
Result<StateChanges> read_changes(sql::Database& database, StateVersion since);

Result<void> begin_reading(sql::Database& database);

}  // namespace sluice
