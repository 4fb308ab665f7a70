// Somebody sets the controller's clock by hours, forward or back, rightly or wrongly.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

const std::vector<std::string> kSteps = {"clock +180", "clock -180",
                                         "clock +180\n clock -180",  // a mistake that is corrected
                                         "clock -180\n at 4\n clock +180"};

// `before`, then the clock is set (at minute 3 or 4), then `after`.
void expect_whatever_the_clock(const std::string& before, const std::string& after) {
    for (const std::string& step : kSteps) {
        Scenario world;
        EXPECT_EQ(world.run(before + "\n at 3\n" + step + "\n at 4\n" + after), "") << step;
    }
}

TEST(ClockStep, TimeLimitsGoOn) {
    expect_whatever_the_clock("nodes n[1-2]\n submit a time=10\n submit b\n pass", R"(
        expect  a running n1
        at      9
        expect  a running n1
        at      10
        expect  a completing
        clean   a n1
        expect  a timeout
        expect  b running n2
    )");
}

TEST(ClockStep, ASuspendedJobKeepsItsTime) {
    expect_whatever_the_clock("nodes n1\n submit a time=10\n pass\n at 1\n suspend a", R"(
        at      6
        resume  a
        at      14
        expect  a running n1
        at      15
        expect  a completing
    )");
}

TEST(ClockStep, NodesThatAnswerAreNotGivenUpAndOthersAre) {
    expect_whatever_the_clock(
        "nodes n[1-2]\n submit a norequeue\n submit b norequeue nodelist=n2\n pass\n lost n2", R"(
        expect  a running n1
        expect  b running n2
        at      5                   # SlurmdTimeout
        expect  a running n1
        expect  b node_fail
    )");
}

TEST(ClockStep, GraceTimesGoOn) {
    expect_whatever_the_clock(R"(
        settings  preempt=partition mode=CANCEL
        nodes     n1
        partition low  default tier=1 grace=420
        partition high tier=2
        submit    victim
        pass
        submit    boss partition=high
        pass
    )",
                              R"(
        at      6
        expect  victim running n1
        at      7
        expect  victim completing
    )");
}

TEST(ClockStep, DelaysOfDependenciesGoOn) {
    for (const std::string& step : kSteps) {
        Scenario world;
        EXPECT_EQ(
            world.run(
                "nodes n[1-2]\n submit a time=60\n submit b depend=after:a+10\n pass\n at 3\n" +
                step + R"(
            back    n2
            at      9
            expect  b pending Dependency
            at      10
            expect  b running n2
        )"),
            "")
            << step;
    }
}

TEST(ClockStep, WarningsComeInTime) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\n submit a time=60 warn=5\n pass\n clock +54\n at 54"), "");
    EXPECT_FALSE(world.cluster().job(world.job("a")).run.warned);
    ASSERT_EQ(world.run("at 55"), "");
    EXPECT_TRUE(world.cluster().job(world.job("a")).run.warned);
}

TEST(ClockStep, EndedJobsAreForgottenInTheirTime) {
    for (const std::string& step : kSteps) {
        Scenario world;
        ASSERT_EQ(world.run("nodes n1\n submit a\n pass\n end a\n expect a completed\n at 3\n" +
                            step + "\n at 4"),
                  "");
        EXPECT_TRUE(world.cluster().find_job(JobId{1})) << step;  // MinJobAge is five minutes
        ASSERT_EQ(world.run("at 5"), "");
        EXPECT_FALSE(world.cluster().find_job(JobId{1})) << step;
    }
}

TEST(ClockStep, BeginTimesAreByTheWallClock) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        submit  later begin=60 nodelist=n1
        pass
        expect  later pending BeginTime
        clock   +60
        back    n1                  # its clock was right all the time
        at      0
        expect  later running n1
    )");
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        submit  later begin=60 nodelist=n1
        pass
        clock   -60
        back    n1
        at      61
        expect  later pending BeginTime
        at      120
        expect  later running n1
    )");
}

// PURGE_COMP: it was used until minute 202.
TEST(ClockStep, AnUnusedReservationGoesWhenItsTimeIsUp) {
    for (const char* step : {"clock +180", "clock -180"}) {
        Scenario world;
        EXPECT_EQ(world.run(std::string(R"(
            nodes     n[1-2]
            reserve   r start=0 length=10000 nodes=n1 users=1000
            at        200
            submit    a reservation=r user=1000
            pass
            rereserve r purge=30
            at        202
            end       a
            at        230
        )") + step + R"(
            back      n1
            at        231
            reserved  r n1
            at        234
            reserved  r gone
        )"),
                  "")
            << step;
    }
}

TEST(ClockStep, WhatBeganStaysBegun) {
    EXPECT_SCENARIO(R"(
        nodes   n1
        submit  first time=30
        submit  second begin=1
        pass
        at      2
        expect  second pending Resources
        clock   -60
        back    n1
        at      5
        expect  second pending Resources
        end     first
        at      6
        expect  second running n1
    )");
}

// It is requeued and may start after a second; the clock is set back before the next pass.
TEST(ClockStep, AJobWhoseTimeHasJustComeStarts) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\n submit a\n pass\n requeue a\n clean a n1"), "");
    Effects effects;
    const Time now = world.now() + Seconds{5} - Minutes{60};
    apply(world.cluster(), now, ClockStepped{-Minutes{60}}, effects);
    apply(world.cluster(), now, NodeRegistered{"n1", {}, {}}, effects);
    apply(world.cluster(), now, Tick{}, effects);
    schedule(world.cluster(), now, effects);
    EXPECT_EQ(world.run("expect a running n1"), "");
}

TEST(ClockStep, ARestartKnowsTheNewTimes) {
    EXPECT_SCENARIO(R"(
        nodes   n1
        submit  a time=10
        pass
        at      3
        clock   +180
        restart
        back    n1
        at      9
        expect  a running n1
        at      10
        expect  a completing
    )");
}

}  // namespace
}  // namespace sluice
