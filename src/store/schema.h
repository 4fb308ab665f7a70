// store/schema.h
//
// The version of rows and of the database file, and how a file of an older version is brought to
// it. A new member of a record needs no new version: rows are read without it. Anything else does,
// with a step in the table of schema.cc and a file of the version before it in tests/data/store.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace sluice {

// The version of this release. A row keeps the version that it was written with.
constexpr std::uint32_t kSchema = 6;

// Tables that version 5 added.
constexpr const char* kTablesSince5 = R"(
    -- What associations and QOS have used (model/used.h).
    CREATE TABLE usage (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
)";

constexpr const char* kTablesSince6 = R"(
    -- What strigger has set (model/trigger.h).
    CREATE TABLE triggers (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
)";

// From one version to the next, inside of a transaction.
struct MigrationStep {
    std::int64_t from;
    Result<void> (*run)(Database& database);
};

struct SchemaPlan {
    std::int64_t version = kSchema;  // of this program
    std::span<const MigrationStep> steps;
};
SchemaPlan released_plan();
SchemaPlan current_plan();       // current_plan.cc
std::uint32_t schema_of_rows();  // that this program writes

// A file of the program's version is left as it is. An older one for which there are steps is
// migrated in one transaction, after a copy of it was made: sluice.db.v4. Others are refused, with
// an error that says what to do.
Result<void> bring_up_to_date(Database& database, const std::string& path, const SchemaPlan& plan);

}  // namespace sluice
