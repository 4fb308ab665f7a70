// backup/tables.cc
#include "backup/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/errors.h"

namespace sluice::backup {

namespace {

using Type = Column::Type;

bool is_postgresql(sql::Database& database) {
    return database.dialect().engine == sql::Engine::Postgresql;
}

Type type_of(std::string_view declared) {
    std::string type(declared);
    std::transform(type.begin(), type.end(), type.begin(), ::toupper);
    if (type.find("INT") != std::string::npos) return Type::Number;
    if (type.find("DOUBLE") != std::string::npos || type.find("REAL") != std::string::npos)
        return Type::Real;
    return type == "BLOB" || type == "BYTEA" ? Type::Bytes : Type::Text;
}

std::string column_list(const TableColumns& table) {
    std::vector<std::string> names;
    for (const Column& column : table.columns) names.push_back(sql::quoted_name(column.name));
    return fmt::format("{}", fmt::join(names, ", "));
}

sql::Value value_of(const sql::RowView& row, int place, Type type) {
    if (row.is_null(place)) return sql::Null();
    switch (type) {
        case Type::Number:
            return row.number(place);
        case Type::Real:
            return row.real(place);
        case Type::Text:
            return std::string(row.text(place));
        case Type::Bytes:
            break;
    }
    return sql::Bytes{std::string(row.text(place))};
}

// Names are text in one engine, and bytes in the other.
void convert(sql::Value& value, Type type) {
    if (auto* text = std::get_if<std::string>(&value); text && type == Type::Bytes) {
        value = sql::Bytes{std::move(*text)};
    } else if (auto* bytes = std::get_if<sql::Bytes>(&value); bytes && type == Type::Text) {
        value = std::string(std::move(bytes->value));
    }
}

}  // namespace

Result<std::vector<std::string>> table_names(sql::Database& database) {
    std::vector<std::string> names;
    TRY(database.query(
        is_postgresql(database)
            ? "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() "
              "ORDER BY tablename"
            : "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
              "'sqlite_%' ORDER BY name",
        {}, [&](const sql::RowView& row) -> Result<void> {
            names.emplace_back(row.text(0));
            return {};
        }));
    return names;
}

Result<TableColumns> describe(sql::Database& database, const std::string& name) {
    TableColumns table{name, {}};
    TRY(database.query(is_postgresql(database)
                           ? "SELECT column_name, data_type, (is_identity = 'YES')::int FROM "
                             "information_schema.columns WHERE table_schema = current_schema() AND "
                             "table_name = ? ORDER BY ordinal_position"
                           : "SELECT name, type, 0 FROM pragma_table_info(?) ORDER BY cid",
                       {name}, [&](const sql::RowView& row) -> Result<void> {
                           table.columns.push_back({std::string(row.text(0)), type_of(row.text(1)),
                                                    row.number(2) != 0});
                           return {};
                       }));
    return table;
}

Result<std::optional<std::int64_t>> one_number(sql::Database& database, std::string_view statement,
                                               const sql::Row& values) {
    std::optional<std::int64_t> found;
    TRY(database.query(statement, values, [&](const sql::RowView& row) -> Result<void> {
        if (!row.is_null(0)) found = row.number(0);
        return {};
    }));
    return found;
}

Result<void> read_rows(sql::Database& database, const TableColumns& table,
                       const std::function<Result<void>(const sql::Row&)>& each) {
    bool is_empty = true;
    const auto take = [&](const sql::RowView& view) -> Result<void> {
        is_empty = false;
        sql::Row row;
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            row.push_back(value_of(view, static_cast<int>(i), table.columns[i].type));
        return each(row);
    };
    const std::string all =
        fmt::format("SELECT {} FROM {}", column_list(table), sql::quoted_name(table.name));
    if (!is_postgresql(database)) return database.query(all, {}, take);
    // An answer of PostgreSQL is in memory as a whole.
    const std::string cursor = fmt::format("{}_{}", table.name, table.columns.size());
    TRY(database.run(fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", cursor, all)));
    do {
        is_empty = true;
        TRY(database.query("FETCH 500 FROM " + cursor, {}, take));
    } while (!is_empty);
    TRY(database.run("CLOSE " + cursor));
    return {};
}

Result<RowWriter> RowWriter::create(sql::Database& database, const TableStart& start) {
    const TableColumns known = TRY(describe(database, start.name));
    TableColumns table{start.name, {}};
    for (const std::string& name : start.columns) {
        const auto found = std::find_if(known.columns.begin(), known.columns.end(),
                                        [&](const Column& column) { return column.name == name; });
        if (found == known.columns.end()) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("the backup has {}.{}, which this version does not know",
                                     start.name, name)};
        }
        table.columns.push_back(*found);
    }
    RowWriter writer(database, std::move(table));
    const bool is_numbered = std::any_of(writer.table_.columns.begin(), writer.table_.columns.end(),
                                         [](const Column& column) { return column.numbered; });
    writer.statement_ =
        fmt::format("INSERT INTO {} ({}) {} VALUES ({})", sql::quoted_name(writer.table_.name),
                    column_list(writer.table_), is_numbered ? "OVERRIDING SYSTEM VALUE" : "",
                    fmt::join(std::vector<std::string>(writer.table_.columns.size(), "?"), ", "));
    // New tables have rows of their own.
    TRY(database.run(fmt::format("DELETE FROM {}", sql::quoted_name(start.name))));
    return writer;
}

Result<void> RowWriter::add(sql::Row row) {
    if (row.size() != table_.columns.size())
        return Error{
            ErrorCode::BadArgument,
            fmt::format("a row of {} in the backup has too many or too few values", table_.name)};
    for (std::size_t i = 0; i < row.size(); ++i) convert(row[i], table_.columns[i].type);
    TRY(database_->run(statement_, row));
    return {};
}

Result<void> RowWriter::finish() {
    for (const Column& column : table_.columns) {
        if (!column.numbered) continue;
        TRY(database_->run(
            fmt::format("SELECT setval(pg_get_serial_sequence(?, ?), greatest(max({0}), 1)) FROM "
                        "{1} HAVING max({0}) IS NOT NULL",
                        sql::quoted_name(column.name), sql::quoted_name(table_.name)),
            {sql::quoted_name(table_.name), column.name}));
    }
    return {};
}

}  // namespace sluice::backup
