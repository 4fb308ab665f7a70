// controller/services.h
//
// Shared services of all connections. Made by the controller before the first connection, destroyed
// after the last.
#pragma once

#include <algorithm>
#include <array>
#include <asio/awaitable.hpp>
#include <asio/thread_pool.hpp>
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
#include "controller/statistics.h"
#include "controller/turns.h"
#include "core/permission.h"
#include "net/run_on.h"
#include "protocol/frame.h"
#include "store/store.h"

namespace sluice {

class Accountant;
class AccountingService;
class Fleet;
class LeaseKeeper;

constexpr std::size_t kInFlightMost = 4 * kFrameSizeMax;  // bytes of a user's undecided requests
constexpr std::size_t kUnreadMost = 256u << 20;           // bytes of a user's long unread replies

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
    asio::thread_pool slow_pool{1};
    asio::thread_pool blob_pool{1};  // for the fleet: reads blobs in the order of the orders
    // Listings of everything, one after the other: requests that arrive meanwhile share the next
    // one, and the I/O threads continue to take submissions.
    asio::thread_pool reader_pool{1};
    asio::thread_pool accounting_pool{1};             // sacct, sacctmgr and others
    asio::thread_pool question_pool{1};               // swhy, sbatch --test-only
    Listings listings;                                // used by the reader only
    std::array<Listings, kIoThreads> quick_listings;  // each used by one I/O thread
    Turns turns{std::max(std::thread::hardware_concurrency(), 2u) - 1};  // one core stays free
    GroupNames groups;                                                   // used by slow_pool only
    KnownUsers known_users;
    IoPulse io_pulse;
    PeerHosts peer_hosts;  // used by slow_pool only
    RateLimiter rate_limiter;
    InFlight in_flight{kInFlightMost};
    UnreadReplies unread{kUnreadMost};
    StatisticsBook statistics{wall_clock()};
    Fleet* fleet = nullptr;
    const LeaseKeeper* lease = nullptr;       // null: there is one controller
    AccountingService* accounting = nullptr;  // null: slurmdbd answers
    Accountant* accountant = nullptr;

    RequestId next_request() { return RequestId{++requests}; }
    // The role of this user, for requests about a job with regard to its owner.
    Role role(UserId user, std::optional<UserId> owner = {}) const {
        const auto snapshot = published.snapshot.get();
        return with_level(role_of(user, published.config.get()->slurm_user, owner),
                          snapshot ? snapshot->associations->admin_level(user) : AdminLevel::None);
    }
};

// Waits for room in the inbox; false once the controller is stopping.
asio::awaitable<bool> push(Services& services, Incoming incoming);

}  // namespace sluice
