#include "base/loop_clock.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr Seconds kStepLeast{5};   // smaller ones are followed; the clocks are read to the second
constexpr Seconds kLateMost{1};    // that a loop may come late without being called blocked
constexpr Seconds kUnreadMost{5};  // that reading may be behind: threads report every second

}  // namespace

Seconds LoopClock::blocked_since_last(std::chrono::nanoseconds steady,
                                      std::chrono::nanoseconds read_until) {
    const auto gap = steady - last_turn_;
    if (gap > wait_most_ + kLateMost) {
        counted_until_ = steady;
        return std::chrono::ceil<Seconds>(gap - wait_most_);
    }
    if (read_until >= steady || steady - read_until <= kUnreadMost) return Seconds{0};
    const auto from = std::max(read_until, counted_until_);
    const Seconds blocked = std::chrono::floor<Seconds>(steady - from);
    counted_until_ = from + blocked;
    return blocked;
}

LoopClock::Turn LoopClock::turn(Time wall, std::chrono::nanoseconds steady,
                                std::chrono::nanoseconds read_until) {
    const Seconds offset = wall.time_since_epoch() - std::chrono::floor<Seconds>(steady);
    Turn turn{.now = wall};
    if (has_begun_) {
        const Seconds change = offset - offset_;
        if (change >= kStepLeast || change <= -kStepLeast) turn.step = change;
        turn.now = std::max(wall, last_ + turn.step);
        turn.blocked = blocked_since_last(steady, read_until);
    }
    has_begun_ = true;
    offset_ = offset;
    last_turn_ = steady;
    last_ = turn.now;
    return turn;
}

}  // namespace sluice
