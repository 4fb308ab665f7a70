// store/lease.h
//
// Which controller of a shared state is the active one. The database has one lease with a holder,
// and the epoch of its tenure. A controller that takes the lease takes
// the next epoch of the store in the same transaction, so every commit of the holder before it is
// Fenced from then on.
//
// Time is measured by steady clocks of hosts only, and no clock is compared with another one:
// - Each renewal changes the lease. A controller that waits may take it when it has not changed for
//   kLeaseLength, counted from when it first saw it so, on one server that was not started again:
//   a replica that was promoted may have an older lease than the holder has. It is taken on
//   condition that it is still the same.
// - The holder may act for kLeaseLength - kLeaseMargin from before it sent its last renewal that
//   succeeded, so it stops before anyone may take the lease.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace sluice {

using LeaseClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLeaseLength{4000};   // from each renewal
constexpr std::chrono::milliseconds kLeaseRenewal{1000};  // the holder renews it this often
constexpr std::chrono::milliseconds kLeaseMargin{500};    // the holder stops so long before its end
constexpr std::chrono::milliseconds kLeasePoll{100};      // how often it is worth to observe it
// The holder survives two failed renewals.
static_assert(kLeaseLength - kLeaseMargin >= 3 * kLeaseRenewal);

// The lease as the database has it.
struct LeaseState {
    std::string holder;  // the name of a controller; empty: none since the last release
    Epoch epoch = 0;     // of its tenure; 0: nobody has ever held it
    std::chrono::milliseconds left{0};  // until the caller may take it, unless it is renewed
    std::string requested_by;           // a controller that asks the holder to release it
    StateVersion version = 0;           // of the state, to see whether there are changes
    // How much the wall clock of the caller is ahead of that of the holder at its last renewal.
    // Both are compared with that of one server: after another one was promoted it is what was
    // measured before, or 0.
    std::chrono::seconds clock_step{0};
    bool operator==(const LeaseState&) const = default;
};

// The right to act as the active controller.
struct Tenure {
    Epoch epoch = 0;
    LeaseClock::time_point act_until;  // unless it is renewed: stop to answer, write and launch
};

// One controller's view of the lease, on a connection of its own. Used by one thread. An Error
// means that the database did not answer: the call may have had its effect or not.
class Lease {
public:
    virtual ~Lease() = default;

    // ErrorCode::ProtocolVersion: a newer program has migrated the state, this one must not use it.
    virtual Result<LeaseState> observe() = 0;

    // Takes the lease if observe() has last shown that nothing is left of it, or if it is released.
    // Nothing: another controller holds it. A holder that has lost its connection may take its own
    // lease again, with the next epoch.
    virtual Result<std::optional<Tenure>> try_acquire() = 0;

    // Nothing: the lease was lost, and another controller has or had it. After an Error the holder
    // may act until act_until of its last tenure, and tries again.
    virtual Result<std::optional<Tenure>> renew(Epoch epoch) = 0;

    // After the last commit: another controller may take it at once. No effect if it was lost.
    virtual Result<void> release(Epoch epoch) = 0;

    // Asks the holder to release it: observe().requested_by, until the lease is taken the next
    // time. The holder decides; the caller goes on with try_acquire().
    virtual Result<void> request_takeover() = 0;
};

// `controller`: the name of the caller, as in SlurmctldHost.
Result<std::unique_ptr<Lease>> postgresql_lease(
    const SharedState& where, const std::string& controller,
    std::function<LeaseClock::time_point()> clock = LeaseClock::now);

}  // namespace sluice
