// core/tally_test.cc: what the core counts for sdiag.
#include "core/tally.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

JobTally tally_after(Scenario& scenario, std::string_view text) {
    EXPECT_EQ(scenario.run(text), "");
    return scenario.cluster().take_tally();
}

TEST(Tally, CountsEachTaskOfAnArray) {
    Scenario scenario;
    EXPECT_EQ(tally_after(scenario, R"(
        nodes   n1 cpus=2
        submit  many  array=0-4 time=10
        submit  held  array=0-2 hold
        submit  wrong nodes=9 refused
        pass
    )"),
              (JobTally{.submitted = 8, .started = 2}));
    EXPECT_EQ(tally_after(scenario, "cancel held"), JobTally{.cancelled = 3});
}

TEST(Tally, CountsAJobOnceHoweverItEnds) {
    Scenario scenario;
    EXPECT_EQ(
        tally_after(scenario, R"(
        nodes   n[1-2] cpus=8
        submit  good time=10
        submit  bad  time=10
        submit  long time=1
        submit  gone time=10
        submit  lost time=10 nodelist=n2 norequeue
        pass
        end     good
        end     bad code=3
        cancel  gone
        clean   gone n1
        at      1
        clean   long n1
        down    n2
        expect  long timeout
        expect  lost node_fail
    )"),
        (JobTally{.submitted = 5, .started = 5, .completed = 3, .cancelled = 1, .failed = 1}));
}

TEST(Tally, ARequeuedJobHasNotEnded) {
    Scenario scenario;
    EXPECT_EQ(tally_after(scenario, R"(
        nodes   n1 cpus=2
        submit  again time=10
        pass
        requeue again
        clean   again n1
        at      3
        expect  again running
    )"),
              (JobTally{.submitted = 1, .started = 2}));
}

TEST(Tally, OnlyAJobThatOvertakesAnotherIsBackfilled) {
    Scenario scenario;
    EXPECT_EQ(tally_after(scenario, R"(
        nodes   n[1-2] cpus=4
        submit  first  tasks=4 time=60
        submit  wide   nodes=2 tasks=8 time=10
        submit  short  tasks=4 time=30
        pass
        expect  short  running n2
    )"),
              (JobTally{.submitted = 3, .started = 2, .backfilled = 1}));
}

TEST(Tally, APassReportsWhatItLookedAt) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        nodes   n1 cpus=4
        submit  first  tasks=4 time=60
        submit  second tasks=4 time=30
        submit  third  tasks=2 time=10
    )"),
              "");
    Effects effects;
    const PassReport full = schedule(scenario.cluster(), scenario.now(), effects);
    EXPECT_EQ(full.kind, PassReport::Kind::Full);
    EXPECT_EQ(full.queue, 3u);
    EXPECT_EQ(full.depth, 3u);
    EXPECT_EQ(full.tried, 3u);
    EXPECT_EQ(full.bookings, 2u);
    EXPECT_FALSE(full.hit_max_job_test);
    EXPECT_EQ(schedule(scenario.cluster(), scenario.now(), effects).kind, PassReport::Kind::None);
    ASSERT_EQ(scenario.run("submit fourth tasks=1 time=5"), "");
    const PassReport quick = schedule(scenario.cluster(), scenario.now(), effects);
    EXPECT_EQ(quick.kind, PassReport::Kind::Quick) << "it comes after the booked jobs";
    EXPECT_EQ(quick.queue, 3u);
    EXPECT_GE(quick.depth, 1u);
}

}  // namespace
}  // namespace sluice
