// accounting/schema.cc
//
// See schema.h.
#include "accounting/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"

namespace sluice::accounting {

namespace {

// {text}, {bytes}, {auto_id} and {options} are those of the engine.
constexpr std::string_view kTables[] = {
    R"(CREATE TABLE IF NOT EXISTS meta (name {text} NOT NULL PRIMARY KEY,
        value BIGINT NOT NULL){options})",
    R"(CREATE TABLE IF NOT EXISTS sequences (cluster {text} NOT NULL PRIMARY KEY,
        applied BIGINT NOT NULL){options})",
    R"(CREATE TABLE IF NOT EXISTS jobs (cluster {text} NOT NULL, job BIGINT NOT NULL,
        restarts BIGINT NOT NULL, array_job BIGINT NOT NULL, uid BIGINT NOT NULL,
        gid BIGINT NOT NULL, account {text} NOT NULL, association BIGINT NOT NULL,
        qos {text} NOT NULL, partition_name {text} NOT NULL, wckey {text} NOT NULL,
        state BIGINT NOT NULL, submit BIGINT NOT NULL, eligible BIGINT NOT NULL,
        start_time BIGINT NOT NULL, end_time BIGINT NOT NULL, script {text} NOT NULL,
        environment {text} NOT NULL, data {bytes} NOT NULL,
        PRIMARY KEY (cluster, job, restarts)){options})",
    "CREATE INDEX IF NOT EXISTS jobs_user ON jobs (cluster, uid, end_time, eligible, job)",
    "CREATE INDEX IF NOT EXISTS jobs_account ON jobs (cluster, account, end_time, eligible, job)",
    "CREATE INDEX IF NOT EXISTS jobs_end ON jobs (cluster, end_time, eligible, job)",
    "CREATE INDEX IF NOT EXISTS jobs_array ON jobs (cluster, array_job, job)",
    R"(CREATE TABLE IF NOT EXISTS steps (cluster {text} NOT NULL, job BIGINT NOT NULL,
        restarts BIGINT NOT NULL, step BIGINT NOT NULL, end_time BIGINT NOT NULL,
        data {bytes} NOT NULL, PRIMARY KEY (cluster, job, restarts, step)){options})",
    "CREATE INDEX IF NOT EXISTS steps_end ON steps (cluster, end_time)",
    R"(CREATE TABLE IF NOT EXISTS suspends (cluster {text} NOT NULL, job BIGINT NOT NULL,
        restarts BIGINT NOT NULL, start_time BIGINT NOT NULL, end_time BIGINT NOT NULL,
        PRIMARY KEY (cluster, job, restarts, start_time)){options})",
    "CREATE INDEX IF NOT EXISTS suspends_end ON suspends (cluster, end_time)",
    R"(CREATE TABLE IF NOT EXISTS events (cluster {text} NOT NULL, node {text} NOT NULL,
        start_time BIGINT NOT NULL, end_time BIGINT NOT NULL, data {bytes} NOT NULL,
        PRIMARY KEY (cluster, node, start_time)){options})",
    "CREATE INDEX IF NOT EXISTS events_end ON events (cluster, end_time)",
    R"(CREATE TABLE IF NOT EXISTS reservations (cluster {text} NOT NULL, id BIGINT NOT NULL,
        start_time BIGINT NOT NULL, end_time BIGINT NOT NULL, data {bytes} NOT NULL,
        PRIMARY KEY (cluster, id, start_time)){options})",
    "CREATE INDEX IF NOT EXISTS reservations_end ON reservations (cluster, end_time)",
    R"(CREATE TABLE IF NOT EXISTS scripts (hash {text} NOT NULL PRIMARY KEY,
        added BIGINT NOT NULL, data {bytes} NOT NULL){options})",
    R"(CREATE TABLE IF NOT EXISTS policy (kind {text} NOT NULL, name {text} NOT NULL,
        data {bytes} NOT NULL, PRIMARY KEY (kind, name)){options})",
    R"(CREATE TABLE IF NOT EXISTS transactions (id {auto_id}, happened BIGINT NOT NULL,
        data {bytes} NOT NULL){engine})",
    "CREATE INDEX IF NOT EXISTS transactions_time ON transactions (happened)",
    // The end of the last hour that was rolled up, the first change before it, and the time before
    // which rows were purged: it cannot be rolled up again.
    R"(CREATE TABLE IF NOT EXISTS rollups (cluster {text} NOT NULL PRIMARY KEY,
        done BIGINT NOT NULL, dirty BIGINT NOT NULL, purged BIGINT NOT NULL){options})",
    R"(CREATE TABLE IF NOT EXISTS association_usage (cluster {text} NOT NULL, period BIGINT NOT NULL,
        start_time BIGINT NOT NULL, id BIGINT NOT NULL, tres {text} NOT NULL,
        seconds BIGINT NOT NULL, PRIMARY KEY (cluster, period, start_time, id, tres)){options})",
    R"(CREATE TABLE IF NOT EXISTS wckey_usage (cluster {text} NOT NULL, period BIGINT NOT NULL,
        start_time BIGINT NOT NULL, id BIGINT NOT NULL, tres {text} NOT NULL,
        seconds BIGINT NOT NULL, PRIMARY KEY (cluster, period, start_time, id, tres)){options})",
    R"(CREATE TABLE IF NOT EXISTS cluster_usage (cluster {text} NOT NULL, period BIGINT NOT NULL,
        start_time BIGINT NOT NULL, tres {text} NOT NULL, amount BIGINT NOT NULL,
        allocated BIGINT NOT NULL, down BIGINT NOT NULL, planned_down BIGINT NOT NULL,
        idle BIGINT NOT NULL, planned BIGINT NOT NULL, overcommitted BIGINT NOT NULL,
        PRIMARY KEY (cluster, period, start_time, tres)){options})",
    // What imported runs used, in numbered parts.
    R"(CREATE TABLE IF NOT EXISTS imports (cluster {text} NOT NULL, id BIGINT NOT NULL,
        data {bytes} NOT NULL, PRIMARY KEY (cluster, id)){options})",
};

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

std::string for_engine(std::string_view statement, const sql::Dialect& dialect) {
    std::string text(statement);
    const bool is_mariadb = dialect.engine == sql::Engine::Mariadb;
    const bool is_sqlite = dialect.engine == sql::Engine::Sqlite;
    const std::string_view engine = is_mariadb ? " ENGINE=InnoDB" : "";
    replace_all(text, "{text}", dialect.key_text_type);
    replace_all(text, "{bytes}", dialect.bytes_type);
    replace_all(text, "{auto_id}", dialect.auto_id);
    replace_all(text, "{options}", is_sqlite ? " WITHOUT ROWID" : engine);
    replace_all(text, "{engine}", engine);
    return text;
}

// Version 2 has the table of imports.
Result<void> add_imports(sql::Database& database) {
    TRY(database.run(for_engine(std::end(kTables)[-1], database.dialect())));
    return {};
}

constexpr AccountingMigration kSteps[] = {{1, add_imports}};

Result<std::int64_t> stored_schema(sql::Database& database) {
    std::int64_t schema = 0;
    TRY(database.query("SELECT value FROM meta WHERE name = 'schema'", {},
                       [&](const sql::RowView& row) -> Result<void> {
                           schema = row.number(0);
                           return {};
                       }));
    return schema;
}

Result<void> make_tables(sql::Database& database, const AccountingSchemaPlan& plan) {
    for (const std::string_view table : kTables) {
        TRY(database.run(for_engine(table, database.dialect())));
    }
    const std::string put = upsert(database.dialect(), "meta", {"name"}, {"value"});
    TRY(database.run(put, {std::string("policy_version"), std::int64_t{0}}));
    TRY(database.run(put, {std::string("policy_next_id"), std::int64_t{1}}));
    TRY(database.run(put, {std::string("schema"), plan.version}));
    return {};
}

Result<void> migrate(sql::Database& database, std::int64_t from, const AccountingSchemaPlan& plan) {
    for (std::int64_t version = from; version < plan.version; ++version) {
        const auto step =
            std::find_if(plan.steps.begin(), plan.steps.end(),
                         [&](const AccountingMigration& s) { return s.from == version; });
        if (step == plan.steps.end()) {
            return Error{ErrorCode::StoreFailed,
                         fmt::format("the accounting database has schema {}, which cannot be "
                                     "brought to {}",
                                     from, plan.version)};
        }
        TRY(sql::transact(database, [&]() -> Result<void> {
            TRY(step->run(database));
            TRY(database.run("UPDATE meta SET value = ? WHERE name = 'schema'", {version + 1}));
            return {};
        }));
        log_info("the accounting database was brought from schema {} to {}", version, version + 1);
    }
    return {};
}

}  // namespace

AccountingSchemaPlan current_plan() {
    return {.version = kSchema, .steps = kSteps};
}

Result<void> prepare_schema(sql::Database& database, const AccountingSchemaPlan& plan) {
    TRY(database.run(for_engine(kTables[0], database.dialect())));
    const std::int64_t schema = TRY(stored_schema(database));
    if (schema == plan.version) return {};
    if (schema > plan.version) {
        return Error{ErrorCode::StoreFailed,
                     fmt::format("the accounting database was written by a newer version (schema "
                                 "{}, this one knows {}): upgrade this program",
                                 schema, plan.version)};
    }
    if (schema > 0) return migrate(database, schema, plan);
    return sql::transact(database, [&] { return make_tables(database, plan); });
}

std::int64_t column_time(std::optional<Time> time) {
    return time ? to_unix(*time) : kNever;
}

namespace {

// The length of the UTF-8 character at the beginning; 0: there is none.
std::size_t character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
    const unsigned first = byte(0);
    if (first == 0) return 0;
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first < 0xf0) {
        const bool is_wrong =
            (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f);
        return follows(1) && follows(2) && !is_wrong ? 3 : 0;
    }
    if (first >= 0xf0 && first < 0xf5) {
        const bool is_wrong =
            (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
        return follows(1) && follows(2) && follows(3) && !is_wrong ? 4 : 0;
    }
    return 0;
}

}  // namespace

std::string column_text(std::string_view text) {
    constexpr std::size_t kMost = 1024;  // of VARBINARY
    std::string out;
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        if (out.size() + std::max<std::size_t>(size, 1) > kMost) break;
        if (size == 0) {
            out += '?';
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

std::string upsert(const sql::Dialect& dialect, std::string_view table,
                   const std::vector<std::string_view>& key,
                   const std::vector<std::string_view>& others) {
    std::vector<std::string> names, marks, changes;
    const bool is_mariadb = dialect.engine == sql::Engine::Mariadb;
    for (const auto* list : {&key, &others}) {
        for (const std::string_view name : *list) {
            names.emplace_back(name);
            marks.emplace_back("?");
        }
    }
    for (const std::string_view name : others) {
        changes.push_back(is_mariadb ? fmt::format("{0} = VALUES({0})", name)
                                     : fmt::format("{0} = excluded.{0}", name));
    }
    const std::vector<std::string> keys(key.begin(), key.end());
    const std::string conflict =
        is_mariadb ? std::string("ON DUPLICATE KEY UPDATE")
                   : fmt::format("ON CONFLICT ({}) DO UPDATE SET", join(keys, ", "));
    return fmt::format("INSERT INTO {} ({}) VALUES ({}) {} {}", table, join(names, ", "),
                       join(marks, ", "), conflict, join(changes, ", "));
}

std::string in_list(std::string_view column, const std::vector<sql::Value>& values, sql::Row& row) {
    const std::size_t count = std::bit_ceil(values.size());
    std::string out = fmt::format("{} IN (", column);
    for (std::size_t i = 0; i < count; ++i) {
        out += i == 0 ? "?" : ", ?";
        row.push_back(values[std::min(i, values.size() - 1)]);
    }
    return out + ")";
}

}  // namespace sluice::accounting
