// store/memory_lease.cc
//
// See lease.h.
#include <algorithm>

#include "store/lease.h"

namespace sluice {

class MemoryLease : public Lease {
public:
    MemoryLease(MemoryLeaseTable& table, std::string controller,
                std::function<LeaseClock::time_point()> own_clock)
        : table_(table), controller_(std::move(controller)), own_clock_(std::move(own_clock)) {}

    Result<LeaseState> observe() override {
        const StateVersion version = TRY(table_.store_.version());
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(table_.expires_ - table_.clock_());
        return LeaseState{.holder = table_.holder_,
                          .epoch = table_.epoch_,
                          .left = std::max(left, std::chrono::milliseconds(0)),
                          .requested_by = table_.requested_by_,
                          .version = version};
    }

    Result<std::optional<Tenure>> try_acquire() override {
        const bool is_free = table_.expires_ <= table_.clock_() || table_.holder_ == controller_;
        if (!is_free) return std::optional<Tenure>();
        table_.epoch_ = TRY(table_.store_.take_epoch());
        table_.holder_ = controller_;
        table_.requested_by_.clear();
        return std::optional(extend());
    }

    Result<std::optional<Tenure>> renew(Epoch epoch) override {
        if (epoch != table_.epoch_ || table_.holder_.empty()) {
            return std::optional<Tenure>();
        }
        return std::optional(extend());
    }

    Result<void> release(Epoch epoch) override {
        if (epoch != table_.epoch_) return {};
        table_.holder_.clear();
        table_.expires_ = table_.clock_();
        return {};
    }

    Result<void> request_takeover() override {
        table_.requested_by_ = controller_;
        return {};
    }

private:
    Tenure extend() {
        table_.expires_ = table_.clock_() + kLeaseLength;
        return {table_.epoch_, own_clock_() + kLeaseLength - kLeaseMargin};
    }

    MemoryLeaseTable& table_;
    const std::string controller_;
    const std::function<LeaseClock::time_point()> own_clock_;
};

std::unique_ptr<Lease> memory_lease(MemoryLeaseTable& table, const std::string& controller,
                                    std::function<LeaseClock::time_point()> own_clock) {
    return std::make_unique<MemoryLease>(table, controller, std::move(own_clock));
}

}  // namespace sluice
