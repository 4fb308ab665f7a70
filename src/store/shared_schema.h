// store/shared_schema.h
//
// The tables of a shared state in PostgreSQL, their version, and how a connection to them is made.
// Rows have the same bytes and the same version as those of SQLite (schema.h).
#pragma once

#include <memory>
#include <string>

#include "sql/database.h"
#include "store/schema.h"
#include "store/store.h"

namespace sluice {

// Where the tables are: a schema of the cluster.
sql::Target target_of(const SharedState& where);
// Where the cluster's own accounting has its tables, beside those of the state.
sql::Target accounting_target_of(const SharedState& where);

// A step from one version to the next, inside of a transaction.
struct SharedMigration {
    std::int64_t from;
    Result<void> (*run)(sql::Database& database);
};
struct SharedPlan {
    std::int64_t version = kSchema;
    std::span<const SharedMigration> steps;
};
SharedPlan current_shared_plan();  // current_plan.cc

// The error, of ErrorCode::ProtocolVersion, about a state that a newer program has migrated.
Result<void> check_not_newer(std::int64_t version, const SharedPlan& plan);

// The version that the rows and tables have now.
Result<void> check_is_current(sql::Database& database, const SharedPlan& plan);

// Makes the tables if there are none. Tables of a newer version are refused.
Result<void> check_shared_schema(sql::Database& database, const SharedPlan& plan);
// Brings tables of an older version to that of the plan, in one transaction. Only the active
// controller may: another one may still use the older version.
Result<void> bring_up_to_date(sql::Database& database, const SharedPlan& plan);

// A connection to the state, with tables of the version of the plan or of an older one.
Result<std::unique_ptr<sql::Database>> open_shared(const SharedState& where,
                                                   std::chrono::seconds timeout,
                                                   const SharedPlan& plan = current_shared_plan());

// As in store.h, for a program with another plan.
std::unique_ptr<Store> open_postgresql(const SharedState& where, const SharedPlan& plan);

// Renames the schema, so that the next controller starts with an empty state. Returns its new name.
Result<std::string> put_shared_state_aside(const SharedState& where, Time now);

}  // namespace sluice
