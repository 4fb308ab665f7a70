// backup/copy.h
//
// The tables of a state and of its accounting, between a database of either engine and a backup.
#pragma once

#include <string>

#include "backup/file.h"
#include "store/store.h"

namespace sluice::backup {

// Where slurm.conf says that the state is.
struct Place {
    std::string location;  // StateSaveLocation
    std::string cluster;
    bool has_accounting = true;  // of its own; otherwise slurmdbd has it
    bool is_shared() const;
    SharedState shared() const { return {location, cluster}; }
};

// All of one moment, while a controller runs. Returns how many rows it has.
Result<std::uint64_t> back_up(const Place& place, const std::string& file);

struct Restored {
    std::uint64_t rows = 0;
    std::string aside;  // where the state is that was there before; empty: there was none
};
// Reads the whole file before anything is changed. A state that exists is replaced only if `force`
// is set, and never while a controller uses it.
Result<Restored> restore(const Place& place, const std::string& file, bool force);

}  // namespace sluice::backup
