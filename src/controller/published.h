// controller/published.h
//
// What one thread publishes and all others read without waiting: the last committed state of the
// cluster, the configuration in force, and whether the store takes changes.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "config/config.h"
#include "core/cluster.h"

namespace sluice {

template <typename T>
class Published {
public:
    std::shared_ptr<const T> get() const { return value_.load(std::memory_order_acquire); }
    void set(std::shared_ptr<const T> value) {
        value_.store(std::move(value), std::memory_order_release);
    }

private:
    std::atomic<std::shared_ptr<const T>> value_;
};

// The configuration with what was looked up once for it.
struct LiveConfig {
    Config config;
    UserId slurm_user;
    std::string text;  // `scontrol show config`
};

struct PublishedState {
    Published<Snapshot> snapshot;  // by the store's thread, after the commit
    Published<LiveConfig> config;
    Published<Error> store_trouble;  // null: all is well. Set: changes are refused with this
};

}  // namespace sluice
