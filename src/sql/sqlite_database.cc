// sql/sqlite_database.cc
//
// The SQLite engine of database.h: one file. Several connections may have it open; one of them
// writes at a time, and readers do not wait for it (write-ahead log). A committed transaction is on
// the disk: the sender of facts deletes them once they are committed here.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "sql/drivers.h"
#include "sql/sqlite.h"

namespace sluice::sql {

namespace {

constexpr Dialect kSqliteDialect{.engine = Engine::Sqlite,
                                 .bytes_type = "BLOB",
                                 .key_text_type = "TEXT",
                                 .auto_id = "INTEGER PRIMARY KEY"};

using Clock = std::chrono::steady_clock;

class SqliteRow : public RowView {
public:
    explicit SqliteRow(const sqlite::Statement& statement) : statement_(statement) {}
    bool is_null(int column) const override { return statement_.is_null(column); }
    std::int64_t number(int column) const override { return statement_.number(column); }
    double real(int column) const override { return statement_.real(column); }
    std::string_view text(int column) const override { return statement_.bytes(column); }

private:
    const sqlite::Statement& statement_;
};

void bind(sqlite::Statement& statement, const Row& values) {
    for (int index = 1; const Value& value : values) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) {
            statement.bind(index, *number);
        } else if (const auto* real = std::get_if<double>(&value)) {
            statement.bind(index, *real);
        } else if (const auto* text = std::get_if<std::string>(&value)) {
            statement.bind(index, std::string_view(*text));
        } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
            statement.bind_blob(index, bytes->value);
        } else {
            statement.bind_null(index);
        }
        ++index;
    }
}

class SqliteDatabase : public Database {
public:
    explicit SqliteDatabase(std::chrono::seconds timeout) : timeout_(timeout) {}

    Result<void> open(const std::string& path) {
        database_ = TRY(sqlite::Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
        database_.wait_for_locks(timeout_);
        database_.interrupt_when(&is_late_);
        TRY(database_.execute("PRAGMA journal_mode=WAL"));
        TRY(database_.execute("PRAGMA synchronous=FULL"));
        return database_.execute("PRAGMA cache_size=-16000");
    }

    const Dialect& dialect() const override { return kSqliteDialect; }

    Result<std::uint64_t> run(std::string_view statement, const Row& values) override {
        sqlite::Statement* prepared = TRY(prepare(statement));
        bind(*prepared, values);
        TRY(prepared->run());
        return database_.changes();
    }

    Result<void> query(std::string_view statement, const Row& values,
                       const std::function<Result<void>(const RowView&)>& each) override {
        sqlite::Statement* prepared = TRY(prepare(statement));
        bind(*prepared, values);
        Result<void> done;
        const SqliteRow row(*prepared);
        while (done) {
            const Result<bool> has_row = prepared->step();
            if (!has_row) done = has_row.error();
            if (!has_row || !*has_row) break;
            done = each(row);
            deadline_ = Clock::now() + timeout_;  // what each() took does not count
        }
        prepared->reset();
        return done;
    }

    Result<void> begin() override { return database_.execute("BEGIN IMMEDIATE"); }
    Result<void> commit() override {
        deadline_ = Clock::now() + timeout_;
        return database_.execute("COMMIT");
    }
    void rollback() override {
        deadline_ = Clock::now() + timeout_;
        if (database_.in_transaction()) (void)database_.execute("ROLLBACK");
    }
    bool is_lost() const override { return false; }
    Result<void> reconnect() override { return {}; }

private:
    Result<sqlite::Statement*> prepare(std::string_view text) {
        deadline_ = Clock::now() + timeout_;
        const auto found = prepared_.find(std::string(text));
        if (found != prepared_.end()) return &found->second;
        if (prepared_.size() >= kPreparedMost) prepared_.clear();
        const std::string key(text);
        sqlite::Statement made = TRY(database_.prepare(key.c_str()));
        return &prepared_.emplace(key, std::move(made)).first->second;
    }

    std::chrono::seconds timeout_;
    Clock::time_point deadline_ = Clock::now() + timeout_;
    const std::function<bool()> is_late_ = [this] { return Clock::now() > deadline_; };
    sqlite::Database database_;
    std::unordered_map<std::string, sqlite::Statement> prepared_;
};

// Scripts and environments can contain secrets: only the owner may read the file. SQLite gives its
// other files the same mode.
Result<void> make_private(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        return Error{ErrorCode::StoreFailed, fmt::format("{}: {}", path, strerror(errno))};
    }
    close(file);
    return {};
}

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite_database(const Target& target) {
    if (target.path.empty()) {
        return Error{ErrorCode::BadArgument, "the SQLite database has no file name (StorageLoc)"};
    }
    if (target.path != ":memory:") TRY(make_private(target.path));
    auto database = std::make_unique<SqliteDatabase>(target.timeout);
    TRY(database->open(target.path));
    return std::unique_ptr<Database>(std::move(database));
}

}  // namespace sluice::sql
