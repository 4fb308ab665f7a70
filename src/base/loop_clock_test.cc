#include "base/loop_clock.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr Time kBegin = from_unix(1'800'000'000);

class LoopClocks : public testing::Test {
protected:
    // `at`: of the steady clock; `set_by`: what the wall clock was set by in all.
    LoopClock::Turn turn(double at, Seconds set_by = Seconds{0}) {
        const auto wall = kBegin + std::chrono::floor<Seconds>(steady(at)) + set_by;
        return clock_.turn(wall, steady(at));
    }
    // What arrived until `read` has been read for the loop.
    Seconds blocked(double at, double read) {
        const auto wall = kBegin + std::chrono::floor<Seconds>(steady(at));
        return clock_.turn(wall, steady(at), steady(read)).blocked;
    }
    static std::chrono::nanoseconds steady(double at) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(1000.25 + at));
    }

    LoopClock clock_{Seconds{1}};
};

TEST_F(LoopClocks, FollowTheWallClock) {
    const Time first = turn(0).now;
    EXPECT_EQ(turn(1).now, first + Seconds{1});
    EXPECT_EQ(turn(1).step, Seconds{0});
    EXPECT_EQ(turn(2, Seconds{4}).step, Seconds{0}) << "a small change is followed";
    EXPECT_EQ(turn(2, Seconds{4}).now, first + Seconds{6});
    EXPECT_EQ(turn(3, Seconds{1}).now, first + Seconds{6}) << "and does not go back";
    EXPECT_EQ(turn(8, Seconds{1}).now, first + Seconds{9});
}

TEST_F(LoopClocks, ReportAClockThatWasSetOnce) {
    const Time first = turn(0).now;
    EXPECT_EQ(turn(1).now, first + Seconds{1});
    const LoopClock::Turn forward = turn(2, Seconds{10'800});
    EXPECT_EQ(forward.step, Seconds{10'800});
    EXPECT_EQ(forward.now, first + Seconds{10'802});
    EXPECT_EQ(turn(3, Seconds{10'800}).step, Seconds{0});
    const LoopClock::Turn back = turn(4);
    EXPECT_EQ(back.step, Seconds{-10'800});
    EXPECT_EQ(back.now, first + Seconds{4});
    EXPECT_EQ(turn(5).now, first + Seconds{5}) << "the time goes on at once";
}

TEST_F(LoopClocks, ReportALoopThatStoodStill) {
    turn(0);
    EXPECT_EQ(turn(1).blocked, Seconds{0});
    EXPECT_EQ(turn(2.9).blocked, Seconds{0}) << "a little late";
    const LoopClock::Turn late = turn(302.9);
    EXPECT_EQ(late.blocked, Seconds{299});
    EXPECT_EQ(late.step, Seconds{0}) << "both clocks went on";
    EXPECT_EQ(turn(303).blocked, Seconds{0});
}

TEST_F(LoopClocks, ReportThatNothingIsReadForTheLoop) {
    EXPECT_EQ(blocked(0, -1), Seconds{0});
    Seconds sum{0};
    for (int second = 1; second <= 300; ++second) sum += blocked(second, 0);
    EXPECT_EQ(sum, Seconds{300}) << "every second once";
    EXPECT_EQ(blocked(300.1, 0), Seconds{0});
    EXPECT_EQ(blocked(301, 299.5), Seconds{0});
}

TEST_F(LoopClocks, CountALoopAndAReaderThatStoodStillTogetherOnce) {
    blocked(0, -1);
    EXPECT_EQ(blocked(300, 0), Seconds{299});
    EXPECT_EQ(blocked(301, 0), Seconds{1}) << "the reader has not caught up yet";
    EXPECT_EQ(blocked(302, 301), Seconds{0});
}

}  // namespace
}  // namespace sluice
