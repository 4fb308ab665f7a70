// store/sqlite_file.h
//
// The file sluice.db: created completely or not at all, and checked before it is used. A damaged
// file, or one of a newer version, is an error that says what to do; it is never treated as an
// empty one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace sluice {

constexpr int kDatabaseSchema = 4;  // of the first release

std::string database_path(const std::string& directory);

// Of the file system of the directory; nothing if it is unknown.
struct DiskSpace {
    std::int64_t free = 0;
    std::int64_t total = 0;
};
std::optional<DiskSpace> disk_space(const std::string& directory);
// The space that new jobs must leave free, on a disk of this size.
std::int64_t reserve_of(std::int64_t total);

// Opens for writing: created if missing, else checked.
Result<Database> open_database_file(const std::string& directory);

}  // namespace sluice
