// controller/services.h
//
// What every connection may use. Made by the controller before the first connection, gone after
// the last.
#pragma once

#include <algorithm>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "auth/launch_credential.h"
#include "controller/groups.h"
#include "controller/inbox.h"
#include "controller/listings.h"
#include "controller/peer_hosts.h"
#include "controller/published.h"
#include "controller/rate_limit.h"
#include "controller/turns.h"
#include "core/permission.h"
#include "protocol/frame.h"
#include "store/store.h"

namespace sluice {

class Fleet;

constexpr std::size_t kInFlightMost = 4 * kFrameSizeMax;  // bytes of a user's undecided requests

struct Services {
    Inbox& inbox;
    PublishedState& published;
    Store& store;
    const CredentialSigner& signer;
    std::string config_path;
    std::string hostname;
    Time boot_time;

    std::atomic<std::uint64_t> requests{0};
    std::atomic<bool> stopping{false};
    Undecided undecided;
    // What may take long or hang happens here, never on an I/O thread.
    asio::thread_pool identify_pool{4};  // a TCP connection asks munged twice
    asio::thread_pool slow_pool{1};
    asio::thread_pool blob_pool{
        1};  // the fleet's: reads what is launched, in the order of the orders
    // Listings of everything, one after the other: those who ask while one is being made share the
    // next, and the I/O threads go on taking submissions meanwhile.
    asio::thread_pool reader_pool{1};
    Listings listings;                                                   // the reader's own
    Turns turns{std::max(std::thread::hardware_concurrency(), 2u) - 1};  // a core stays free
    GroupNames groups;                                                   // slow_pool's own
    PeerHosts peer_hosts;                                                // slow_pool's own
    RateLimiter rate_limiter;
    InFlight in_flight{kInFlightMost};
    Fleet* fleet = nullptr;

    RequestId next_request() { return RequestId{++requests}; }
    // What the table of permissions says of this user and, of requests for a job, its owner.
    Role role(UserId user, std::optional<UserId> owner = {}) const {
        return role_of(user, published.config.get()->slurm_user, owner);
    }
};

inline Time wall_clock() {
    return std::chrono::floor<Seconds>(std::chrono::system_clock::now());
}

// Runs `work` on a pool's thread; the awaiting coroutine goes on where it was. By reference: g++ 12
// destroys a closure twice when it is a temporary of a co_await expression, so name yours first.
template <typename Work>
auto run_on(asio::thread_pool& pool, const Work& work) -> asio::awaitable<decltype(work())> {
    using Outcome = std::optional<decltype(work())>;  // Asio wants something it can default
    Outcome outcome = co_await asio::co_spawn(
        pool, [&work]() -> asio::awaitable<Outcome> { co_return work(); }, asio::use_awaitable);
    co_return std::move(*outcome);
}

// Waits for room in the inbox; false once the controller is stopping.
asio::awaitable<bool> push(Services& services, Incoming incoming);

}  // namespace sluice
