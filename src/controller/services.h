// controller/services.h
//
// Shared services of all connections. Made by the controller before the first connection, destroyed
// after the last.
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
#include "controller/io_pulse.h"
#include "controller/known_users.h"
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
    // What may take long or hang runs here, never on an I/O thread.
    asio::thread_pool identify_pool{4};  // a TCP connection asks munged twice
    asio::thread_pool slow_pool{1};
    asio::thread_pool blob_pool{1};  // for the fleet: reads blobs in the order of the orders
    // Listings of everything, one after the other: requests that arrive meanwhile share the next
    // one, and the I/O threads continue to take submissions.
    asio::thread_pool reader_pool{1};
    asio::thread_pool question_pool{1};                                  // swhy, sbatch --test-only
    Listings listings;                                                   // used by the reader only
    Turns turns{std::max(std::thread::hardware_concurrency(), 2u) - 1};  // one core stays free
    GroupNames groups;                                                   // used by slow_pool only
    KnownUsers known_users;
    IoPulse io_pulse;
    PeerHosts peer_hosts;  // used by slow_pool only
    RateLimiter rate_limiter;
    InFlight in_flight{kInFlightMost};
    Fleet* fleet = nullptr;

    RequestId next_request() { return RequestId{++requests}; }
    // The role of this user, for requests about a job with regard to its owner.
    Role role(UserId user, std::optional<UserId> owner = {}) const {
        return role_of(user, published.config.get()->slurm_user, owner);
    }
};

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

// Waits for room in the inbox; false once the controller is stopping.
asio::awaitable<bool> push(Services& services, Incoming incoming);

}  // namespace sluice
