// controller/lease_keeper.h
//
// The thread that talks to the lease of a state that several controllers share. First it waits
// until this controller may be the active one, then it keeps the lease. Other threads ask it
// whether the controller may act: before anything is written, answered or launched.
//
// No thread relies on the database to learn that the lease is lost: it has a time at which it ends,
// by the steady clock of this host, unless it was renewed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "model/errors.h"
#include "store/lease.h"

namespace sluice {

// Why the database cannot be used: without the text for users, which is about something else.
inline std::string reason_of(const Error& error) {
    return error.detail.empty() ? to_string(error) : error.detail;
}

class LeaseKeeper {
public:
    // `controllers`: the names of all, in their order. `on_change` is called by the keeper's thread
    // when one of the states below has changed.
    LeaseKeeper(std::unique_ptr<Lease> lease, std::string own, std::vector<std::string> controllers,
                std::function<void()> on_change);
    ~LeaseKeeper();

    // From any thread. Once it was false for an active controller it stays false, whatever is
    // renewed: what was committed by then may have been dropped by the caller.
    bool may_act() const;
    Epoch epoch() const { return epoch_; }  // 0: this controller was not active yet
    bool is_lost() const { return epoch_ != 0 && !may_act(); }
    const std::string& own_name() const { return own_; }

    struct View {
        LeaseState lease;
        std::string trouble;      // why the state in the database cannot be used now
        bool is_newer = false;    // because it is one of a newer program
        bool was_usable = false;  // at least once
    };
    View view() const;
    std::string active() const;  // a controller, or empty: none that is known of
    // How much the wall clock of this host is ahead of that of the last holder. Constant once this
    // controller is active.
    std::chrono::seconds clock_step() const { return clock_step_; }
    std::string successor() const;  // another controller that asks for the lease; empty: none

    // In standby: asks the active controller for the lease.
    void ask_for_lease();
    // Ends the thread. With `release` another controller may take the lease at once.
    void stop(bool release);

private:
    void run();
    void watch();
    void hold();
    bool is_our_turn(const LeaseState& state);
    void take();
    void renew();
    void lose();
    void note(const Result<LeaseState>& observed);
    bool sleep();

    const std::unique_ptr<Lease> lease_;
    const std::string own_;
    const std::vector<std::string> controllers_;
    const std::function<void()> on_change_;
    // The earliest time: not active, or no more. may_act() sets it.
    mutable std::atomic<LeaseClock::time_point> act_until_{LeaseClock::time_point::min()};
    std::atomic<Epoch> epoch_{0};
    std::atomic<std::chrono::seconds> clock_step_{std::chrono::seconds{0}};
    std::atomic<bool> asks_{false}, release_{false};
    bool is_over_ = false;  // on_change_ was told that the lease is lost
    LeaseClock::time_point free_since_ = LeaseClock::time_point::max();
    LeaseClock::time_point next_renewal_{};

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    View view_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace sluice
