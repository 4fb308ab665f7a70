// store/shared_schema.cc
#include "store/shared_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kSharedTables[] = {
    "CREATE TABLE jobs (id BIGINT PRIMARY KEY, data BYTEA NOT NULL) WITH (fillfactor = 80)",
    "CREATE TABLE nodes (name BYTEA PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE reservations (name BYTEA PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE policy (id INTEGER PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE usage (name BYTEA PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE triggers (id BIGINT PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE blobs (hash TEXT PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE facts (number BIGINT PRIMARY KEY, kind INTEGER NOT NULL, data BYTEA NOT NULL)",
    // Rows that could not be read, with their bytes. Only an administrator deletes them.
    "CREATE TABLE damaged (kind TEXT NOT NULL, key BYTEA NOT NULL, why BYTEA NOT NULL, data BYTEA "
    "NOT NULL, PRIMARY KEY (kind, key))",
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    // One row. Each commit changes it, so it also orders commits and changes of the epoch.
    "CREATE TABLE writer (one BOOLEAN PRIMARY KEY CHECK (one), epoch BIGINT NOT NULL, version "
    "BIGINT NOT NULL, next_job_id BIGINT NOT NULL, last_fact BIGINT NOT NULL) WITH (fillfactor = "
    "20)",
    // One row: see lease.h. `server`: when the server was started that has the last renewal.
    "CREATE TABLE lease (one BOOLEAN PRIMARY KEY CHECK (one), holder TEXT NOT NULL, epoch BIGINT "
    "NOT NULL, expires TIMESTAMPTZ NOT NULL, holder_ahead BIGINT NOT NULL, server TIMESTAMPTZ NOT "
    "NULL, requested_by TEXT NOT "
    "NULL) WITH (fillfactor = 20)",
    // The keys of what each of the last commits changed, for standbys.
    "CREATE TABLE changes (version BIGINT PRIMARY KEY, jobs BIGINT[] NOT NULL, nodes BYTEA[] NOT "
    "NULL, reservations BYTEA[] NOT NULL, usage BYTEA[] NOT NULL, triggers BIGINT[] NOT NULL, "
    "policy BOOLEAN NOT NULL)",
    "INSERT INTO writer VALUES (TRUE, 0, 0, 0, 0)",
    "INSERT INTO lease VALUES (TRUE, '', 0, '-infinity', 0, '-infinity', '')",
};

// Two controllers may start at the same time.
constexpr std::string_view kLock = "SELECT pg_advisory_xact_lock(hashtext(current_schema()::text))";

Result<void> run_one(sql::Database& database, std::string_view statement,
                     const sql::Row& values = {}) {
    TRY(database.run(statement, values));
    return {};
}

Result<std::optional<std::int64_t>> number(sql::Database& database, std::string_view statement) {
    std::optional<std::int64_t> found;
    TRY(database.query(statement, {}, [&](const sql::RowView& row) -> Result<void> {
        if (!row.is_null(0)) found = row.number(0);
        return {};
    }));
    return found;
}

Result<std::optional<std::int64_t>> version_of(sql::Database& database) {
    const auto has_meta = TRY(number(
        database, "SELECT 1 WHERE to_regclass(format('%I.meta', current_schema())) IS NOT NULL"));
    if (!has_meta) return std::optional<std::int64_t>();
    return number(database, "SELECT value FROM meta WHERE key = 'schema'");
}

Result<void> make_tables(sql::Database& database, const SharedPlan& plan) {
    return sql::transact(database, [&]() -> Result<void> {
        TRY(run_one(database, kLock));
        if (TRY(version_of(database))) return {};  // another controller was faster
        for (const std::string_view table : kSharedTables) TRY(run_one(database, table));
        return run_one(database, "INSERT INTO meta VALUES ('schema', ?)", {plan.version});
    });
}

const SharedMigration* find_step(const SharedPlan& plan, std::int64_t from) {
    const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                    [&](const SharedMigration& step) { return step.from == from; });
    return found == plan.steps.end() ? nullptr : &*found;
}

// Cluster names are of letters, digits, '-' and '_'. At most 63 bytes are kept of a name.
std::string schema_name(const SharedState& where, std::string_view of) {
    return fmt::format("sluice_{}{}", where.cluster, of);
}

}  // namespace

sql::Target target_of(const SharedState& where) {
    return {.engine = sql::Engine::Postgresql,
            .connection = where.connection,
            .schema = schema_name(where, "_state")};
}

sql::Target accounting_target_of(const SharedState& where) {
    return {.engine = sql::Engine::Postgresql,
            .connection = where.connection,
            .schema = schema_name(where, "_accounting")};
}

Result<void> check_not_newer(std::int64_t version, const SharedPlan& plan) {
    if (version <= plan.version) return {};
    return Error{ErrorCode::ProtocolVersion,
                 fmt::format("the state in the database was written by a newer version (schema {}, "
                             "this one knows {}): upgrade this program",
                             version, plan.version)};
}

Result<void> check_is_current(sql::Database& database, const SharedPlan& plan) {
    const std::int64_t version = TRY(version_of(database)).value_or(0);
    if (version == plan.version) return {};
    TRY(check_not_newer(version, plan));
    return Error{ErrorCode::StoreFailed,
                 fmt::format("the state in the database has schema {}, this version uses {}: it is "
                             "brought to it when this controller becomes the active one",
                             version, plan.version)};
}

Result<void> check_shared_schema(sql::Database& database, const SharedPlan& plan) {
    std::optional<std::int64_t> version = TRY(version_of(database));
    if (!version) {
        TRY(make_tables(database, plan));
        version = TRY(version_of(database));
    }
    if (version == plan.version) return {};
    if (!version) return Error{ErrorCode::StoreFailed, "the state in the database has no version"};
    TRY(check_not_newer(*version, plan));
    for (std::int64_t from = *version; from < plan.version; ++from) {
        if (find_step(plan, from)) continue;
        return Error{ErrorCode::StoreFailed,
                     fmt::format("the state in the database has schema {}, which this version "
                                 "cannot read: start the version before it first",
                                 *version)};
    }
    return {};
}

Result<void> bring_up_to_date(sql::Database& database, const SharedPlan& plan) {
    TRY(check_shared_schema(database, plan));
    if (TRY(version_of(database)) == plan.version) return {};
    return sql::transact(database, [&]() -> Result<void> {
        TRY(run_one(database, kLock));
        const std::int64_t before = TRY(version_of(database)).value_or(plan.version);
        for (std::int64_t from = before; from < plan.version; ++from) {
            TRY(find_step(plan, from)->run(database));
        }
        TRY(run_one(database, "UPDATE meta SET value = ? WHERE key = 'schema'", {plan.version}));
        log_info("the state in the database was brought from schema {} to {}", before,
                 plan.version);
        return {};
    });
}

Result<std::unique_ptr<sql::Database>> open_shared(const SharedState& where,
                                                   std::chrono::seconds timeout,
                                                   const SharedPlan& plan) {
    sql::Target target = target_of(where);
    target.timeout = timeout;
    auto database = TRY(sql::open(target));
    TRY(check_shared_schema(*database, plan));
    return database;
}

Result<std::string> put_shared_state_aside(const SharedState& where, Time now) {
    const sql::Target target = target_of(where);
    const auto database = TRY(sql::open(target));
    const std::string aside = fmt::format("{}_{}", target.schema, to_unix(now));
    TRY(run_one(*database, fmt::format("ALTER SCHEMA {} RENAME TO {}",
                                       sql::quoted_name(target.schema), sql::quoted_name(aside))));
    return aside;
}

}  // namespace sluice
