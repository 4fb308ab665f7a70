// store/schema.cc
#include "store/schema.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "model/errors.h"
#include "store/records.h"
#include "store/sqlite_file.h"

namespace sluice {

namespace {

// From 4: what associations and QOS have used has a table. QOS become a part of the policy of
// accounting, which is one row. A row of a QOS that cannot be read is set aside, as the store does
// with other rows.
Result<void> add_policy_and_usage(Database& database) {
    TRY(database.execute(kTablesSince5));
    TRY(database.execute("CREATE TABLE policy (id INTEGER PRIMARY KEY, data BLOB NOT NULL)"));
    Policy policy;
    {
        Statement query = TRY(database.prepare("SELECT id, data FROM qos ORDER BY id"));
        Statement set_aside = TRY(database.prepare(
            "INSERT OR REPLACE INTO damaged (kind, key, why, data) VALUES ('qos', ?, ?, ?)"));
        while (TRY(query.step())) {
            const auto id = static_cast<std::uint32_t>(query.number(0));
            Result<Qos> qos = read_qos(id, query.bytes(1));
            if (qos) {
                policy.qos.push_back(*std::move(qos));
                policy.next_id = std::max(policy.next_id, id + 1);
            } else {
                TRY(set_aside.bind(1, std::int64_t{id})
                        .bind(2, qos.error().detail)
                        .bind_blob(3, query.bytes(1))
                        .run());
            }
        }
        if (!policy.qos.empty()) {
            const std::string row = to_record(policy);
            Statement put = TRY(database.prepare("INSERT INTO policy (id, data) VALUES (1, ?)"));
            TRY(put.bind_blob(1, row).run());
        }
    }
    return database.execute("DROP TABLE qos");
}

// 5: facts for accounting replace the rows of ended runs and steps, which nothing has read.
Result<void> to_5(Database& database) {
    TRY(add_policy_and_usage(database));
    return database.execute(R"(
        DROP TABLE ended_runs;
        DROP TABLE ended_steps;
        CREATE TABLE facts (number INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL,
            data BLOB NOT NULL);
    )");
}

Result<void> to_6(Database& database) {
    return database.execute(kTablesSince6);
}

// One entry for each version that follows the first release, which has 4.
constexpr MigrationStep kSteps[] = {{.from = 4, .run = to_5}, {.from = 5, .run = to_6}};

const MigrationStep* find_step(const SchemaPlan& plan, std::int64_t from) {
    const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                    [&](const MigrationStep& step) { return step.from == from; });
    return found == plan.steps.end() ? nullptr : &*found;
}

Result<std::int64_t> schema_of(Database& database, const std::string& path) {
    Result<Statement> query = database.prepare("SELECT value FROM meta WHERE key = 'schema'");
    if (!query || !TRY(query->step())) {
        return unusable_file(path, "this is no database of this program");
    }
    return query->number(0);
}

// Complete or not at all, and as private as the file itself.
Result<void> keep_copy(Database& database, const std::string& copy) {
    const std::string fresh = copy + ".new";
    TRY(make_private_file(fresh));
    {
        Statement vacuum = TRY(database.prepare("VACUUM INTO ?"));
        TRY(vacuum.bind(1, std::string_view(fresh)).run());
    }
    return put_in_place(fresh, copy);
}

Result<void> run_steps(Database& database, std::int64_t from, const SchemaPlan& plan) {
    TRY(database.execute("BEGIN IMMEDIATE"));
    for (std::int64_t version = from; version < plan.version; ++version) {
        TRY(find_step(plan, version)->run(database));
    }
    Statement put = TRY(database.prepare("UPDATE meta SET value = ? WHERE key = 'schema'"));
    TRY(put.bind(1, plan.version).run());
    return database.execute("COMMIT");
}

Result<void> migrate(Database& database, const std::string& path, std::int64_t from,
                     const SchemaPlan& plan) {
    const std::string copy = fmt::format("{}.v{}", path, from);
    TRY(keep_copy(database, copy));
    Result<void> done = run_steps(database, from, plan);
    if (!done) {
        if (database.in_transaction()) TRY(database.execute("ROLLBACK"));
        return Error{ErrorCode::StoreFailed,
                     fmt::format("{}: cannot be brought from schema {} to {}; it is unchanged: {}",
                                 path, from, plan.version, done.error().detail)};
    }
    log_info("{} was brought from schema {} to {}; {} is a copy of it as it was", path, from,
             plan.version, copy);
    return {};
}

}  // namespace

SchemaPlan released_plan() {
    return {.version = kSchema, .steps = kSteps};
}

Result<void> bring_up_to_date(Database& database, const std::string& path, const SchemaPlan& plan) {
    const std::int64_t schema = TRY(schema_of(database, path));
    if (schema > plan.version) {
        return Error{ErrorCode::StoreFailed,
                     fmt::format("{}: written by a newer version (schema {}, this one knows {}): "
                                 "upgrade this program",
                                 path, schema, plan.version)};
    }
    for (std::int64_t version = schema; version < plan.version; ++version) {
        if (find_step(plan, version)) continue;
        return unusable_file(path,
                             fmt::format("written before the first release (schema {})", schema));
    }
    if (schema == plan.version) return {};
    return migrate(database, path, schema, plan);
}

}  // namespace sluice
