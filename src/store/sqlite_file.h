// store/sqlite_file.h
//
// The file sluice.db: made whole or not at all, checked before it is believed. A damaged file, or
// one of a newer version, is an error that says what to do; it is never taken for an empty one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace sluice {

constexpr int kDatabaseSchema = 3;  // of the first release

std::string database_path(const std::string& directory);

// Of the file system that the directory is in; nothing when it does not say.
struct DiskSpace {
    std::int64_t free = 0;
    std::int64_t total = 0;
};
std::optional<DiskSpace> disk_space(const std::string& directory);
// What new jobs leave to the others, of a disk of this size.
std::int64_t reserve_of(std::int64_t total);

// Open for writing: made when missing, else checked.
Result<Database> open_database_file(const std::string& directory);

}  // namespace sluice
