// accounting/archive.h
//
// Old rows leave the database, after a copy of them was written to a file if the rule says so.
//
// An archive begins with the line "SLUICE ARCHIVE 1". Records follow, each as the length of its
// bytes (a varint), one byte for its kind, and the bytes. The last one is of the kind End, and has
// the number of the records before it: an archive without it is incomplete.
#pragma once

#include "accounting/accounting.h"
#include "accounting/schema.h"

namespace sluice::accounting {

Result<void> purge(sql::Database& database, const std::string& cluster, const PurgeRule& rule,
                   Time now, const std::string& archive_directory);

// Adds the records that the database does not have; returns how many there were.
Result<std::uint64_t> load_archive(sql::Database& database, const std::string& file);

}  // namespace sluice::accounting
