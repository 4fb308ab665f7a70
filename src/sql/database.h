// sql/database.h
//
// One connection to an SQL database, whichever engine it has. Statements are always prepared, and
// values are always bound: no value is ever part of a statement's text. A connection is used by one
// thread at a time.
//
// A statement is written once for all engines: placeholders are `?`, and the few words that differ
// between engines are asked of dialect().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sluice::sql {

enum class Engine : std::uint8_t { Sqlite, Postgresql, Mariadb };
std::string_view engine_name(Engine engine);  // "SQLite", "PostgreSQL", "MariaDB"

// What is different between engines.
struct Dialect {
    Engine engine = Engine::Sqlite;
    std::string_view bytes_type;     // BLOB, BYTEA, LONGBLOB
    std::string_view key_text_type;  // text in a primary key or index: TEXT, VARBINARY(1024)
    std::string_view auto_id;        // an integer primary key that the engine numbers
};

struct Bytes {  // not text: may have any bytes
    std::string value;
    bool operator==(const Bytes&) const = default;
};
using Null = std::monostate;
// A text is UTF-8 without zero bytes.
using Value = std::variant<Null, std::int64_t, double, std::string, Bytes>;
using Row = std::vector<Value>;

// The current row of a query. Columns are numbered from 0.
class RowView {
public:
    virtual ~RowView() = default;
    virtual bool is_null(int column) const = 0;
    virtual std::int64_t number(int column) const = 0;
    virtual double real(int column) const = 0;
    virtual std::string_view text(int column) const = 0;  // also of bytes; valid until the next row
};

class Database {
public:
    virtual ~Database() = default;
    virtual const Dialect& dialect() const = 0;

    // Runs a statement without rows; returns how many rows it changed. Prepared statements are kept
    // by their text.
    virtual Result<std::uint64_t> run(std::string_view statement, const Row& values = {}) = 0;
    // Calls each(row) for each row, until it fails. each() must not use this connection.
    virtual Result<void> query(std::string_view statement, const Row& values,
                               const std::function<Result<void>(const RowView&)>& each) = 0;

    // A transaction; nested ones do not exist. After a failed statement only rollback() helps.
    virtual Result<void> begin() = 0;
    virtual Result<void> commit() = 0;
    virtual void rollback() = 0;

    // Whether the last failure was one of the connection: reconnect() and begin the transaction
    // again. SQLite has none.
    virtual bool is_lost() const = 0;
    virtual Result<void> reconnect() = 0;
    // Whether the last failure was that no space is left.
    virtual bool is_full() const { return false; }
};

// A name of a schema or table as a part of a statement of PostgreSQL.
std::string quoted_name(std::string_view name);

// begin, work(), commit; rollback if one fails. A lost connection is made again once and the work
// repeated, so work() must have no effects outside of the database.
Result<void> transact(Database& database, const std::function<Result<void>()>& work);

struct Target {
    Engine engine = Engine::Sqlite;
    std::string path;  // SQLite: the file
    // PostgreSQL: "postgresql://...", a connection string of libpq, in place of hosts and others.
    // Of its hosts, the first that takes changes is used.
    std::string connection;
    std::string schema;  // PostgreSQL: of all tables; made if it is missing. Empty: the usual one
    std::vector<std::string> hosts;    // StorageHost, StorageBackupHost; "/path": a Unix socket
    std::uint16_t port = 0;            // 0: the engine's usual one
    std::string user, password, name;  // StorageUser, StoragePass, StorageLoc
    std::string ssl_ca, ssl_ca_path, ssl_cert, ssl_key, ssl_cipher;  // StorageParameters
    std::chrono::seconds timeout{10};  // of connecting and of each statement's answer
};
Result<std::unique_ptr<Database>> open(const Target& target);

// Whether libpq is there and understands Target::connection.
Result<void> check_connection_string(const std::string& connection);

}  // namespace sluice::sql
