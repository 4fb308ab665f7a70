#include "controller/lease_keeper.h"

#include <algorithm>

#include "base/log.h"
#include "model/errors.h"

namespace sluice {
namespace {

// A free lease is left to the controllers before this one in slurm.conf for so long each.
constexpr std::chrono::milliseconds kPrecedence{300};
constexpr std::chrono::milliseconds kPrecedenceOfAsker{2000};
constexpr std::chrono::milliseconds kRetry{250};  // after a renewal that was not answered

}  // namespace

LeaseKeeper::LeaseKeeper(std::unique_ptr<Lease> lease, std::string own,
                         std::vector<std::string> controllers, std::function<void()> on_change)
    : lease_(std::move(lease)),
      own_(std::move(own)),
      controllers_(std::move(controllers)),
      on_change_(std::move(on_change)),
      thread_([this] { run(); }) {}

LeaseKeeper::~LeaseKeeper() {
    stop(false);
}

void LeaseKeeper::stop(bool release) {
    release_ = release;
    {
        const std::lock_guard guard(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool LeaseKeeper::may_act() const {
    LeaseClock::time_point until = act_until_;
    while (LeaseClock::now() >= until) {
        if (act_until_.compare_exchange_strong(until, LeaseClock::time_point::min())) return false;
    }
    return true;
}

LeaseKeeper::View LeaseKeeper::view() const {
    const std::lock_guard guard(mutex_);
    return view_;
}

std::string LeaseKeeper::active() const {
    const View seen = view();
    const bool is_held = seen.lease.left > std::chrono::milliseconds{0} && seen.trouble.empty();
    return is_held ? seen.lease.holder : "";
}

std::string LeaseKeeper::successor() const {
    const std::string asker = view().lease.requested_by;
    return asker == own_ ? "" : asker;
}

void LeaseKeeper::ask_for_lease() {
    asks_ = true;
    wake_.notify_all();
}

// Returns false if the thread is to end.
bool LeaseKeeper::sleep() {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kLeasePoll, [this] { return stopping_ || (asks_ && epoch_ == 0); });
    return !stopping_;
}

void LeaseKeeper::run() {
    while (sleep()) {
        if (epoch_ == 0)
            watch();
        else if (!is_over_)
            hold();
    }
    if (!release_ || epoch_ == 0 || is_lost()) return;
    if (const auto released = lease_->release(epoch_); !released)
        log_error("the lease was not released: {}", to_string(released.error()));
}

void LeaseKeeper::note(const Result<LeaseState>& observed) {
    const std::string trouble = observed ? "" : reason_of(observed.error());
    bool is_news = false;
    {
        const std::lock_guard guard(mutex_);
        is_news = trouble != view_.trouble ||
                  (observed && observed->requested_by != view_.lease.requested_by);
        if (trouble != view_.trouble) {
            if (observed)
                log_info("the state in the database can be used again");
            else
                log_error("the state in the database cannot be used: {}", trouble);
        }
        view_.trouble = trouble;
        view_.is_newer = !observed && observed.error().code == ErrorCode::ProtocolVersion;
        if (observed) view_.lease = *observed;
        view_.was_usable |= observed.has_value();
    }
    if (is_news) on_change_();
}

void LeaseKeeper::watch() {
    if (asks_) {
        const auto asked = lease_->request_takeover();
        if (asked) asks_ = false;
    }
    const auto state = lease_->observe();
    note(state);
    if (!state || !is_our_turn(*state)) return;
    clock_step_ = state->clock_step;
    take();
}

// Of several controllers that wait, the first one of slurm.conf takes the lease. One that has
// failed just now is not waited for.
bool LeaseKeeper::is_our_turn(const LeaseState& state) {
    const auto now = LeaseClock::now();
    if (state.holder == own_) return true;  // a process before this one, which acts no more
    if (state.left > std::chrono::milliseconds{0}) {
        free_since_ = LeaseClock::time_point::max();
        return false;
    }
    free_since_ = std::min(free_since_, now);
    if (state.requested_by == own_) return true;
    auto patience = std::chrono::milliseconds{0};
    if (!state.requested_by.empty()) patience += kPrecedenceOfAsker;
    for (const std::string& each : controllers_) {
        if (each == own_) break;
        if (each != state.holder) patience += kPrecedence;
    }
    return now - free_since_ >= patience;
}

void LeaseKeeper::take() {
    const auto tenure = lease_->try_acquire();
    if (!tenure) return note(tenure.error());
    if (!*tenure) return;
    act_until_ = (*tenure)->act_until;
    epoch_ = (*tenure)->epoch;
    next_renewal_ = LeaseClock::now() + kLeaseRenewal;
    log_info("this controller ({}) has taken the lease, epoch {}", own_, epoch_.load());
    on_change_();
}

void LeaseKeeper::hold() {
    if (is_lost()) return lose();
    if (LeaseClock::now() >= next_renewal_) return renew();
    const auto state = lease_->observe();
    if (state && state->epoch != epoch_) return lose();
    note(state);
}

void LeaseKeeper::lose() {
    is_over_ = true;
    act_until_ = LeaseClock::time_point::min();
    on_change_();
}

void LeaseKeeper::renew() {
    const auto tenure = lease_->renew(epoch_);
    if (!tenure) {
        next_renewal_ = LeaseClock::now() + kRetry;
        return note(tenure.error());
    }
    LeaseClock::time_point until = act_until_;
    const bool is_longer = *tenure && until != LeaseClock::time_point::min() &&
                           act_until_.compare_exchange_strong(until, (*tenure)->act_until);
    if (!is_longer) return lose();
    next_renewal_ = LeaseClock::now() + kLeaseRenewal;
}

}  // namespace sluice
