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
#include "store/sqlite_file.h"

namespace sluice {

namespace {

// One entry for each version that follows the first release, which has 4.
constexpr std::span<const MigrationStep> kSteps;

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

SchemaPlan current_plan() {
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
