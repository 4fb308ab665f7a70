// data/parallel.h
//
// The same work on several items by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace sluice::data {

// Calls work(i) for all i below `count`; after a failure no other item is begun. Returns the
// failure of the first item, in their order.
inline Result<void> for_all(std::size_t count, unsigned threads,
                            const std::function<Result<void>(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::optional<std::pair<std::size_t, Error>> failure;
    auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            Result<void> done = work(i);
            if (done) continue;
            next = count;
            const std::lock_guard guard(mutex);
            if (!failure || i < failure->first) failure.emplace(i, std::move(done).error());
        }
    };
    std::vector<std::thread> workers;
    const std::size_t most = std::min<std::size_t>(std::max(1U, threads), count);
    for (std::size_t i = 1; i < most; ++i) workers.emplace_back(run);
    run();
    for (std::thread& each : workers) each.join();
    if (failure) return failure->second;
    return {};
}

}  // namespace sluice::data
