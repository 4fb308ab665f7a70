// store/sqlite_file.h
//
// The file sluice.db: made whole or not at all, checked before it is believed. A damaged file, or
// one of a newer version, is an error that says what to do; it is never taken for an empty one.
#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace sluice {

constexpr int kDatabaseSchema = 1;

std::string database_path(const std::string& directory);
// Open for writing: made when missing, else checked.
Result<Database> open_database_file(const std::string& directory);

}  // namespace sluice
