// sql/sqlite.cc
//
// See sqlite.h.
#include "sql/sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "model/errors.h"

namespace sluice::sqlite {

namespace {

// What an administrator can do about the error, if anything.
std::string_view advice(int code) {
    switch (code) {
        case SQLITE_FULL:
            return "the disk is full: make room";
        case SQLITE_IOERR:
            return "the disk or its file system failed, or a limit was reached";
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return "the file is damaged: restore it from a backup, or move it away to start empty";
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
            return "may this user write there?";
        default:
            return "";
    }
}

Error failed(sqlite3* database) {
    const int code = sqlite3_extended_errcode(database);
    const char* path = sqlite3_db_filename(database, "main");
    const std::string_view what_to_do = advice(code & 0xff);
    return {ErrorCode::StoreFailed,
            fmt::format("{}: {} (SQLite error {}){}{}", path ? path : "", sqlite3_errmsg(database),
                        code, what_to_do.empty() ? "" : ": ", what_to_do)};
}

}  // namespace

Statement& Statement::bound(int code) {
    if (bind_error_ == SQLITE_OK) bind_error_ = code;
    return *this;
}

Statement& Statement::bind(int index, std::int64_t value) {
    return bound(sqlite3_bind_int64(statement_.get(), index, value));
}

Statement& Statement::bind(int index, std::string_view text) {
    return bound(sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(),
                                     SQLITE_STATIC, SQLITE_UTF8));
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
    // A null pointer would be stored as NULL instead of as an empty blob.
    const char* data = bytes.data() ? bytes.data() : "";
    return bound(sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_STATIC));
}

Statement& Statement::bind(int index, double value) {
    return bound(sqlite3_bind_double(statement_.get(), index, value));
}

Statement& Statement::bind_null(int index) {
    return bound(sqlite3_bind_null(statement_.get(), index));
}

Result<bool> Statement::step() {
    sqlite3* database = sqlite3_db_handle(statement_.get());
    if (bind_error_ != SQLITE_OK) {
        const char* path = sqlite3_db_filename(database, "main");
        return Error{ErrorCode::StoreFailed,
                     fmt::format("{}: a value cannot be stored: {} (SQLite error {})",
                                 path ? path : "", sqlite3_errstr(bind_error_), bind_error_)};
    }
    switch (sqlite3_step(statement_.get())) {
        case SQLITE_ROW:
            return true;
        case SQLITE_DONE:
            return false;
        default:
            return failed(database);
    }
}

Result<void> Statement::run() {
    Result<bool> row = step();
    while (row && *row) row = step();
    reset();
    if (!row) return row.error();
    return {};
}

void Statement::reset() {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    bind_error_ = SQLITE_OK;
}

std::int64_t Statement::number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return data ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size))
                : std::string_view();
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<Database> Database::open(const std::string& path, int flags) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
    Database database;
    database.database_.reset(opened);
    if (code != SQLITE_OK) {
        return Error{ErrorCode::StoreFailed,
                     fmt::format("{}: {}: {}", path, sqlite3_errstr(code), advice(code & 0xff))};
    }
    sqlite3_extended_result_codes(opened, 1);
    return database;
}

Result<void> Database::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        return failed(database_.get());
    }
    return {};
}

Result<Statement> Database::prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) != SQLITE_OK) {
        return failed(database_.get());
    }
    return Statement(statement);
}

std::uint64_t Database::changes() const {
    return static_cast<std::uint64_t>(sqlite3_changes64(database_.get()));
}

void Database::wait_for_locks(std::chrono::milliseconds most) {
    sqlite3_busy_timeout(database_.get(), static_cast<int>(most.count()));
}

void Database::interrupt_when(const std::function<bool()>* is_late) {
    constexpr int kInstructions = 10'000;
    const auto ask = [](void* asked) {
        return (*static_cast<const std::function<bool()>*>(asked))() ? 1 : 0;
    };
    sqlite3_progress_handler(database_.get(), kInstructions, ask,
                             const_cast<std::function<bool()>*>(is_late));
}

bool Database::is_full() const {
    const int code = sqlite3_extended_errcode(database_.get()) & 0xff;
    if (code == SQLITE_FULL) return true;
    const int system_code = sqlite3_system_errno(database_.get());
    return code == SQLITE_IOERR &&
           (system_code == ENOSPC || system_code == EDQUOT || system_code == EFBIG);
}

void Database::prepare_log(std::int64_t size) {
    sqlite3_file* log = nullptr;
    sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (!log || !log->pMethods) return;
    sqlite3_int64 written = 0;
    if (log->pMethods->xFileSize(log, &written) != SQLITE_OK) return;
    static constexpr char kZeros[1 << 16] = {};  // not a valid frame: the log ends before it
    while (written < size) {
        int part = static_cast<int>(std::min<sqlite3_int64>(size - written, sizeof kZeros));
        if (log->pMethods->xWrite(log, kZeros, part, written) != SQLITE_OK) return;
        written += part;
    }
    log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
}

}  // namespace sluice::sqlite
