// net/run_on.h
//
// For coroutines of an I/O thread: work that may take long runs on another thread.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <optional>

#include "base/time.h"

namespace sluice {

inline Time wall_clock() {
    return std::chrono::floor<Seconds>(std::chrono::system_clock::now());
}

// Runs `work` on a pool's thread; the awaiting coroutine continues on its own. By reference: g++ 12
// destroys a closure twice when it is a temporary of a co_await expression, so name yours first.
template <typename Work>
auto run_on(asio::thread_pool& pool, const Work& work) -> asio::awaitable<decltype(work())> {
    using Outcome = std::optional<decltype(work())>;  // Asio wants something it can default
    Outcome outcome = co_await asio::co_spawn(
        pool, [&work]() -> asio::awaitable<Outcome> { co_return work(); }, asio::use_awaitable);
    co_return std::move(*outcome);
}

}  // namespace sluice
