// data/sync_state.h
//
// What a synchronisation has written to its target, kept there in the file .sluice-sync: only these
// entries are ever removed again, and only complete ones are restored.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace sluice::data {

struct SyncedEntry {
    enum class Kind : char { Complete = 'C', Partial = 'P', Link = 'L' } kind = Kind::Partial;
    std::int64_t changed_ns = 0;  // of the newest file in it

    bool operator==(const SyncedEntry&) const = default;
};

// By the names of the entries, which are directly in the target.
using SyncState = std::map<std::string, SyncedEntry>;

std::string print_sync_state(const SyncState& state);
// Lines that make no sense are left out: others may write to the directory, too.
SyncState parse_sync_state(std::string_view text);

SyncState read_sync_state(const std::string& directory);  // empty: there is none
Result<void> write_sync_state(const std::string& directory, const SyncState& state);

}  // namespace sluice::data
