// base/loop_clock.h
//
// The time for a loop that decides by it. Readings follow the wall clock, but a wall clock that was
// set is reported once as a step, and a loop that stood still (a stopped process, a slow disk) is
// reported too: what should have been heard meanwhile is still waiting to be read. So it is where
// other threads read for the loop, and one of them does not run.
#pragma once

#include <chrono>

#include "base/time.h"

namespace sluice {

class LoopClock {
public:
    // `wait_most`: how long the loop waits at most between two turns.
    explicit LoopClock(Seconds wait_most) : wait_most_(wait_most) {}

    struct Turn {
        Time now;            // not earlier than in the last turn, unless the clock was set back
        Seconds step{0};     // the wall clock was set forward (or back, if negative) by so much
        Seconds blocked{0};  // the loop did not run, or nothing was read for it, for so long
    };
    // Both clocks, read at the same moment. `read_until`: what had arrived by then, by the steady
    // clock, has been read.
    Turn turn(Time wall, std::chrono::nanoseconds steady,
              std::chrono::nanoseconds read_until = std::chrono::nanoseconds::max());

private:
    Seconds blocked_since_last(std::chrono::nanoseconds steady,
                               std::chrono::nanoseconds read_until);

    Seconds wait_most_;
    bool has_begun_ = false;
    Seconds offset_{0};  // of the wall clock from the steady one
    std::chrono::nanoseconds last_turn_{0};
    std::chrono::nanoseconds counted_until_{0};  // blocked time before that was reported
    Time last_{};
};

}  // namespace sluice
