// backup/back_up.cc
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "accounting/schema.h"
#include "backup/copy.h"
#include "backup/tables.h"
#include "model/errors.h"
#include "model/state_location.h"
#include "os/files.h"
#include "store/shared_schema.h"
#include "store/sqlite_file.h"

namespace sluice::backup {

namespace {

constexpr std::chrono::seconds kAnswerMost{600};

// Tables of a state that both engines have; the others are in Facts.
constexpr const char* kStateTables[] = {"jobs",  "nodes", "reservations", "policy", "usage",
                                        "blobs", "facts", "triggers",     "damaged"};

Result<void> copy_table(sql::Database& database, const std::string& group, const std::string& name,
                        BackupWriter& writer) {
    const TableColumns table = TRY(describe(database, name));
    TableStart start{group, name, {}};
    for (const Column& column : table.columns) start.columns.push_back(column.name);
    TRY(writer.table(start));
    return read_rows(database, table, [&](const sql::Row& row) { return writer.row(row); });
}

Result<void> copy_accounting(sql::Database& database, BackupWriter& writer) {
    for (const std::string& name : TRY(table_names(database)))
        TRY(copy_table(database, "accounting", name, writer));
    return {};
}

Result<void> check_schema(std::optional<std::int64_t> found, std::int64_t expected,
                          std::string_view what) {
    if (found == expected) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format("{} has schema {}, this version copies {}: use the sluice of the "
                             "controller that runs on it",
                             what, found.value_or(0), expected)};
}

Facts first_facts(const Place& place) {
    return {{"cluster", place.cluster},
            {"schema", std::to_string(current_plan().version)},
            {"accounting", place.has_accounting ? std::to_string(accounting::kSchema) : ""}};
}

std::string printed(std::optional<std::int64_t> number) {
    return std::to_string(number.value_or(0));
}

Result<void> copy_state(sql::Database& database, const Facts& facts, BackupWriter& writer) {
    TRY(writer.facts(facts));
    for (const char* name : kStateTables) TRY(copy_table(database, "state", name, writer));
    return {};
}

// A connection that reads; it does not keep the controller from writing.
Result<std::unique_ptr<sql::Database>> open_file(const std::string& path) {
    if (!std::filesystem::exists(path)) {
        return Error{
            ErrorCode::NotFound,
            fmt::format("{}: there is no such file: is this the host of the controller?", path)};
    }
    auto database = TRY(sql::open({.path = path, .timeout = kAnswerMost}));
    TRY(database->run("BEGIN"));
    return database;
}

// The state first: facts that are in the accounting database already are not added again, but a
// fact that is in neither would be lost.
Result<void> copy_directory(const Place& place, BackupWriter& writer) {
    {
        const auto state = TRY(open_file(database_path(place.location)));
        const auto meta = [&](const char* key) {
            return one_number(*state, "SELECT value FROM meta WHERE key = ?", {std::string(key)});
        };
        TRY(check_schema(TRY(meta("schema")), current_plan().version, "the state"));
        Facts facts = first_facts(place);
        facts["next_job_id"] = printed(TRY(meta("next_job_id")));
        facts["epoch"] = printed(TRY(meta("epoch")));
        facts["last_fact"] = printed(
            TRY(one_number(*state, "SELECT seq FROM sqlite_sequence WHERE name = 'facts'")));
        facts["launch_key"] = TRY(read_file(place.location + "/launch.key"));
        TRY(copy_state(*state, facts, writer));
    }
    if (!place.has_accounting) return {};
    const auto accounting = TRY(open_file(place.location + "/accounting.db"));
    TRY(check_schema(TRY(one_number(*accounting, "SELECT value FROM meta WHERE name = 'schema'")),
                     accounting::kSchema, "the accounting database"));
    return copy_accounting(*accounting, writer);
}

// Both schemas in one view.
Result<void> copy_shared(const Place& place, BackupWriter& writer) {
    sql::Target target = target_of(place.shared());
    target.timeout = kAnswerMost;
    const auto database = TRY(sql::open(target));
    TRY(database->run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    if (TRY(table_names(*database)).empty())
        return Error{ErrorCode::NotFound, "the database has no state of this cluster"};
    TRY(check_schema(TRY(one_number(*database, "SELECT value FROM meta WHERE key = 'schema'")),
                     current_plan().version, "the state"));
    Facts facts = first_facts(place);
    TRY(database->query("SELECT next_job_id, epoch, last_fact FROM writer", {},
                        [&](const sql::RowView& row) -> Result<void> {
                            facts["next_job_id"] = row.text(0);
                            facts["epoch"] = row.text(1);
                            facts["last_fact"] = row.text(2);
                            return {};
                        }));
    TRY(database->query("SELECT data FROM secrets WHERE name = 'launch key'", {},
                        [&](const sql::RowView& row) -> Result<void> {
                            facts["launch_key"] = row.text(0);
                            return {};
                        }));
    TRY(copy_state(*database, facts, writer));
    if (!place.has_accounting) return {};
    TRY(database->run(fmt::format("SET LOCAL search_path = {}",
                                  sql::quoted_name(accounting_target_of(place.shared()).schema))));
    return copy_accounting(*database, writer);
}

}  // namespace

bool Place::is_shared() const {
    return is_shared_state(location);
}

Result<std::uint64_t> back_up(const Place& place, const std::string& file) {
    BackupWriter writer = TRY(BackupWriter::create(file));
    TRY(place.is_shared() ? copy_shared(place, writer) : copy_directory(place, writer));
    TRY(writer.finish());
    return writer.rows();
}

}  // namespace sluice::backup
