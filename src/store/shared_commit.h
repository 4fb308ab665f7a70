// store/shared_commit.h
//
// A batch as one statement of PostgreSQL, which is its own transaction: one round trip and one
// flush, and no transaction stays open when this program is stopped.
#pragma once

#include <string>

#include "sql/database.h"
#include "store/store.h"

namespace sluice {

struct SharedCommit {
    std::string statement;  // returns a row if it was applied, none if the state has moved on
    sql::Row values;
};

// `at`: the version before it. `gone`: blobs that no job names any more.
SharedCommit commit_of(const Batch& batch, StateVersion at, const std::vector<std::string>& gone);

}  // namespace sluice
