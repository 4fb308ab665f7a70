// backup/destination.h
//
// Where a backup is restored: a directory, or a PostgreSQL database. The new state is made beside
// the one that exists, and takes its place at the end.
#pragma once

#include <memory>
#include <string>

#include "backup/copy.h"

namespace sluice::backup {

struct FreshState {
    std::int64_t epoch = 0, last_fact = 0, next_job_id = 0;
    std::string launch_key;
};

class Destination {
public:
    virtual ~Destination() = default;

    // Empty tables. Refuses if a controller uses the state.
    virtual Result<void> prepare() = 0;
    virtual bool exists() const = 0;  // there is a state already
    virtual sql::Database& state() = 0;
    virtual sql::Database& accounting() = 0;
    // After all rows: what is not in tables, then the change of places. Returns where the state is
    // that was there before.
    virtual Result<std::string> finish(const FreshState& fresh) = 0;
};

}  // namespace sluice::backup
