// accounting/schema.h
//
// The tables of the accounting database, for all engines, and how a database of an older version is
// brought to the current one. docs/accounting.md says what the tables mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sql/database.h"

namespace sluice::accounting {

// A new member of a record needs no new version: rows are read without it. Another table or column
// does, with a step in schema.cc.
constexpr std::int64_t kSchema = 2;

// From one version to the next, inside of a transaction where the engine allows it (MariaDB ends a
// transaction with each CREATE or ALTER). A step that was interrupted is run again.
struct AccountingMigration {
    std::int64_t from;
    Result<void> (*run)(sql::Database& database);
};
struct AccountingSchemaPlan {
    std::int64_t version = kSchema;
    std::span<const AccountingMigration> steps = {};
};
AccountingSchemaPlan current_plan();

// Makes the tables if there are none, runs the steps of an older version, refuses a newer one.
Result<void> prepare_schema(sql::Database& database,
                            const AccountingSchemaPlan& plan = current_plan());

// The end of what has not ended, and the start of what has not started. Stored instead of NULL, so
// that a range of an index has them.
constexpr std::int64_t kNever = std::int64_t{1} << 62;
std::int64_t column_time(std::optional<Time> time);

// The part of a text that every engine can keep in a column: valid UTF-8 without zero bytes, of
// limited length. The complete text is in the bytes of the row.
std::string column_text(std::string_view text);

// INSERT that replaces the row with the same key.
std::string upsert(const sql::Dialect& dialect, std::string_view table,
                   const std::vector<std::string_view>& key,
                   const std::vector<std::string_view>& others);

// "column IN (?, ?)". The number of placeholders is rounded up, so that few statements are
// prepared; the last value is repeated.
std::string in_list(std::string_view column, const std::vector<sql::Value>& values, sql::Row& row);

}  // namespace sluice::accounting
