#include "base/loop_clock.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr Seconds kStepLeast{5};  // smaller ones are followed; the clocks are read to the second
constexpr Seconds kLateMost{1};   // a later reading means that the loop did not run

}  // namespace

LoopClock::Turn LoopClock::turn(Time wall, std::chrono::nanoseconds steady) {
    const Seconds offset = wall.time_since_epoch() - std::chrono::floor<Seconds>(steady);
    Turn turn{.now = wall};
    if (has_begun_) {
        const Seconds change = offset - offset_;
        if (change >= kStepLeast || change <= -kStepLeast) turn.step = change;
        turn.now = std::max(wall, last_ + turn.step);
        const auto gap = steady - last_turn_;
        if (gap > wait_most_ + kLateMost) turn.deaf = std::chrono::ceil<Seconds>(gap - wait_most_);
    }
    has_begun_ = true;
    offset_ = offset;
    last_turn_ = steady;
    last_ = turn.now;
    return turn;
}

}  // namespace sluice
