// backup/tables.h
//
// The tables of a database and their rows, for either engine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backup/file.h"
#include "sql/database.h"

namespace sluice::backup {

struct Column {
    enum class Type : std::uint8_t { Number, Real, Text, Bytes };
    std::string name;
    Type type = Type::Text;
    bool numbered = false;  // by the engine, unless a row has a number
};

struct TableColumns {
    std::string name;
    std::vector<Column> columns;
};

// The tables of the connection's schema.
Result<std::vector<std::string>> table_names(sql::Database& database);
// Without columns: there is no such table.
Result<TableColumns> describe(sql::Database& database, const std::string& name);

// One value; nothing: no row.
Result<std::optional<std::int64_t>> one_number(sql::Database& database, std::string_view statement,
                                               const sql::Row& values = {});

// Each row, within a transaction. Not all rows are in memory at a time.
Result<void> read_rows(sql::Database& database, const TableColumns& table,
                       const std::function<Result<void>(const sql::Row&)>& each);

// Puts rows into a table whose columns may have other types and another order.
class RowWriter {
public:
    static Result<RowWriter> create(sql::Database& database, const TableStart& start);
    Result<void> add(sql::Row row);
    // After the last row: the engine goes on with its numbers.
    Result<void> finish();

private:
    RowWriter(sql::Database& database, TableColumns table)
        : database_(&database), table_(std::move(table)) {}
    sql::Database* database_;
    TableColumns table_;  // its columns in the order of the rows
    std::string statement_;
};

}  // namespace sluice::backup
