// sql/sqlite.h
//
// The part of SQLite that is used here, with errors as values. A Database and its Statements belong
// to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::sqlite {

class Statement {
public:
    Statement() = default;

    // Parameters from 1. Texts and blobs are borrowed until the next step(), which also reports a
    // value that could not be bound (one that is too large, for example).
    Statement& bind(int index, std::int64_t value);
    Statement& bind(int index, std::string_view text);
    Statement& bind_blob(int index, std::string_view bytes);
    Statement& bind(int index, double value);
    Statement& bind_null(int index);

    Result<bool> step();  // returns whether there is a row
    // Runs to the end and is ready for the next use.
    Result<void> run();
    void reset();

    // Columns of the current row, from 0; views are valid until the next step or reset.
    std::int64_t number(int column) const;
    std::string_view bytes(int column) const;
    double real(int column) const;
    bool is_null(int column) const;

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
    Statement& bound(int code);
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bind_error_ = SQLITE_OK;  // the first since the last reset()
};

class Database {
public:
    Database() = default;
    static Result<Database> open(const std::string& path, int flags);

    Result<void> execute(const char* sql);
    Result<Statement> prepare(const char* sql);
    std::uint64_t changes() const;  // rows that the last statement inserted, changed or deleted
    // Another connection may hold the lock for so long before a statement fails.
    void wait_for_locks(std::chrono::milliseconds most);
    // Statements fail once this returns true; it is asked every few thousand instructions. It must
    // live as long as the database.
    void interrupt_when(const std::function<bool()>* is_late);
    // Extends the write-ahead log in advance to this size. Overwriting existing blocks costs one
    // flush of the disk; if the file grows, the journal of the file system is written too. A
    // failure is harmless.
    void prepare_log(std::int64_t size);
    bool in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }
    // Whether the last call failed because no space is left.
    bool is_full() const;

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    };
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace sluice::sqlite
