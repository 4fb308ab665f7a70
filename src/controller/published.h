// controller/published.h
//
// What one thread publishes and all others read: the last committed state of the cluster, the
// configuration in force, and whether the store accepts changes. Readers wait at most for the copy
// of a pointer.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "config/config.h"
#include "core/cluster.h"

namespace sluice {

// Not std::atomic<std::shared_ptr>: that of GCC 12 releases its internal lock without a release
// barrier after its reads, which some processors may reorder.
template <typename T>
class Published {
public:
    std::shared_ptr<const T> get() const {
        const std::lock_guard guard(mutex_);
        return value_;
    }
    void set(std::shared_ptr<const T> value) {
        const std::lock_guard guard(mutex_);
        value_.swap(value);  // destroying the old one may take long: parameters outlive the guard
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const T> value_;
};

// The configuration with values that are looked up once for it.
struct LiveConfig {
    Config config;
    UserId slurm_user;
    std::string hash;  // of what slurm.conf says: config/canonical.h
};

struct PublishedState {
    Published<Snapshot> snapshot;  // by the store's thread, after the commit
    Published<LiveConfig> config;
    Published<Error> store_trouble;  // null: none; otherwise changes are refused with this error
};

}  // namespace sluice
