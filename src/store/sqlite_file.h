// store/sqlite_file.h
//
// The file sluice.db: created completely or not at all, and checked before it is used. A damaged
// file, or one of a newer version, is an error that says what to do; it is never treated as an
// empty one. A file of an older version is migrated (schema.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace sluice {

std::string database_path(const std::string& directory);

// Of the file system of the directory; nothing if it is unknown.
struct DiskSpace {
    std::int64_t free = 0;
    std::int64_t total = 0;
};
std::optional<DiskSpace> disk_space(const std::string& directory);
// The space that new jobs must leave free, on a disk of this size.
std::int64_t reserve_of(std::int64_t total);

// Opens for writing: created if missing, else checked and migrated.
Result<Database> open_database_file(const std::string& directory,
                                    const SchemaPlan& plan = current_plan());

// ---- for schema.cc

Error unusable_file(const std::string& path, std::string_view why);
// Empty, replaces an older one. Environments contain secrets: only the owner may read it.
Result<void> make_private_file(const std::string& path);
// Renames a complete file to its name, and has both on disk.
Result<void> put_in_place(const std::string& fresh, const std::string& path);

}  // namespace sluice
