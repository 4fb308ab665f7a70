// controller/published.h
//
// What one thread publishes and all others read: the last committed state of the cluster, the
// configuration in force, and whether the store takes changes. Nobody waits for more than the copy
// of a pointer.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "config/config.h"
#include "core/cluster.h"

namespace sluice {

// Not std::atomic<std::shared_ptr>: the one of GCC 12 gives up its own lock without releasing what
// it has read, which some processors may reorder.
template <typename T>
class Published {
public:
    std::shared_ptr<const T> get() const {
        const std::lock_guard guard(mutex_);
        return value_;
    }
    void set(std::shared_ptr<const T> value) {
        const std::lock_guard guard(mutex_);
        value_.swap(value);  // the old one may take long to go: parameters outlive the guard
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const T> value_;
};

// The configuration with what was looked up once for it.
struct LiveConfig {
    Config config;
    UserId slurm_user;
};

struct PublishedState {
    Published<Snapshot> snapshot;  // by the store's thread, after the commit
    Published<LiveConfig> config;
    Published<Error> store_trouble;  // null: all is well. Set: changes are refused with this
};

}  // namespace sluice
