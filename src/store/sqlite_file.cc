// store/sqlite_file.cc
//
// See sqlite_file.h.
#include "store/sqlite_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr const char* kTables = R"(
    BEGIN;
    CREATE TABLE jobs (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE nodes (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE reservations (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
    -- One row: what accounting decided last.
    CREATE TABLE policy (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE blobs (hash TEXT PRIMARY KEY, data BLOB NOT NULL);
    -- Rows that could not be read, with their bytes. Only an administrator deletes them.
    CREATE TABLE damaged (kind TEXT NOT NULL, key TEXT NOT NULL, why TEXT NOT NULL,
        data BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
    -- Facts for accounting, until they are delivered. Numbers are not used twice.
    CREATE TABLE facts (number INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL,
        data BLOB NOT NULL);
    COMMIT;
)";

bool exists(const std::string& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0;
}

bool has_room(const std::string& directory, std::int64_t bytes) {
    const auto space = disk_space(directory);
    return space && space->free > bytes;
}

Error failed(const std::string& path) {
    return {ErrorCode::StoreFailed, fmt::format("{}: {}", path, strerror(errno))};
}

Result<void> sync_file(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return failed(path);
    const int outcome = fsync(descriptor);
    close(descriptor);
    if (outcome != 0) return failed(path);
    return {};
}

// Created under another name first: sluice.db exists with its tables, or not at all. SQLite gives
// its other files the mode of this one.
Result<void> make_database(const std::string& directory) {
    const std::string path = database_path(directory);
    const std::string fresh = path + ".new";
    TRY(make_private_file(fresh));
    {
        Database database = TRY(Database::open(fresh, SQLITE_OPEN_READWRITE));
        TRY(database.execute("PRAGMA synchronous=FULL"));
        TRY(database.execute(kTables));
        TRY(database.execute(kTablesSince5));
        TRY(database.execute(kTablesSince6));
        Statement put = TRY(database.prepare("INSERT INTO meta VALUES ('schema', ?)"));
        TRY(put.bind(1, std::int64_t{kSchema}).run());
    }
    return put_in_place(fresh, path);
}

Result<void> check_content(Database& database, const std::string& path) {
    Statement check = TRY(database.prepare("PRAGMA quick_check(1)"));
    if (!TRY(check.step()) || check.bytes(0) != "ok") {
        return unusable_file(path, fmt::format("the file is damaged ({})", check.bytes(0)));
    }
    return {};
}

}  // namespace

Error unusable_file(const std::string& path, std::string_view why) {
    return {ErrorCode::StoreFailed,
            fmt::format("{}: {}: restore it from a backup, or move it away (with the files {}-wal "
                        "and {}-shm) to start without any jobs",
                        path, why, path, path)};
}

Result<void> make_private_file(const std::string& path) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return failed(path);
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) return failed(path);
    close(descriptor);
    return {};
}

Result<void> put_in_place(const std::string& fresh, const std::string& path) {
    TRY(sync_file(fresh));
    if (rename(fresh.c_str(), path.c_str()) != 0) return failed(path);
    return sync_file(path.substr(0, path.rfind('/')));
}

std::string database_path(const std::string& directory) {
    return directory + "/sluice.db";
}

std::optional<DiskSpace> disk_space(const std::string& directory) {
    struct statvfs facts {};
    if (statvfs(directory.c_str(), &facts) != 0) return std::nullopt;
    return DiskSpace{static_cast<std::int64_t>(facts.f_bavail * facts.f_frsize),
                     static_cast<std::int64_t>(facts.f_blocks * facts.f_frsize)};
}

std::int64_t reserve_of(std::int64_t total) {
    constexpr std::int64_t kReserveMost = 16 << 20;
    return std::min(total / 16, kReserveMost);
}

Result<Database> open_database_file(const std::string& directory, const SchemaPlan& plan) {
    const std::string path = database_path(directory);
    if (!exists(path)) {
        if (exists(path + "-wal")) {
            return unusable_file(path, "the file is missing, but the last changes to it are there");
        }
        TRY(make_database(directory));
    }
    Database database = TRY(Database::open(path, SQLITE_OPEN_READWRITE));
    const auto set_up = [&]() -> Result<void> {
        TRY(database.execute("PRAGMA locking_mode=NORMAL"));
        TRY(database.execute("PRAGMA journal_mode=WAL"));
        TRY(database.execute("PRAGMA synchronous=FULL"));
        // Rows are read once, at the start, and new ones are written next to the last ones: a small
        // cache is enough.
        TRY(database.execute("PRAGMA cache_size=-500"));
        TRY(database.execute("PRAGMA wal_autocheckpoint=1000"));
        TRY(database.execute("PRAGMA journal_size_limit=67108864"));
        TRY(check_content(database, path));
        return bring_up_to_date(database, path, plan);
    };
    TRY(set_up());
    constexpr std::int64_t kLogSize =
        1200 * 4096;  // a little more than is written between checkpoints
    if (has_room(directory, 16 * kLogSize)) database.prepare_log(kLogSize);
    return database;
}

}  // namespace sluice
