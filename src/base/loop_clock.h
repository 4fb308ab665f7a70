// base/loop_clock.h
//
// The time of an event loop. Readings follow the wall clock. A wall clock that was set is reported
// once as a step. A loop that did not run for a while (a stopped process, a slow disk) is reported
// too: messages that have arrived in this time are not read yet.
#pragma once

#include <chrono>

#include "base/time.h"

namespace sluice {

class LoopClock {
public:
    // `wait_most`: how long the loop waits at most between two turns.
    explicit LoopClock(Seconds wait_most) : wait_most_(wait_most) {}

    struct Turn {
        Time now;         // not earlier than in the last turn, unless the clock was set back
        Seconds step{0};  // the wall clock was set forward (or back, if negative) by so much
        Seconds deaf{0};  // the loop did not run for so long
    };
    // Both clocks, read at the same moment.
    Turn turn(Time wall, std::chrono::nanoseconds steady);

private:
    Seconds wait_most_;
    bool has_begun_ = false;
    Seconds offset_{0};  // of the wall clock from the steady one
    std::chrono::nanoseconds last_turn_{0};
    Time last_{};
};

}  // namespace sluice
