// core/job/finish_test.cc: the final state of interactive jobs that their owner gives back; and
// waiting for an end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr std::string_view kInteractive =
    "nodes n1 cpus=4\nsubmit a cpus=4 time=60 interactive\npass\nexpect a running n1";

const Job& give_back(Scenario& scenario, ExitStatus exit) {
    Effects effects;
    CompleteJob event{RequestId{1000}, kRoot, scenario.job("a"), exit};
    apply(scenario.cluster(), scenario.now(), event, effects);
    return scenario.cluster().job(scenario.job("a"));
}

TEST(GivenBack, TheExitStatusDecidesTheState) {
    struct Case {
        ExitStatus exit;
        JobState state;
        Reason reason;
    };
    for (const Case& each : {Case{{}, JobState::Completed, Reason::None},
                             Case{{7, 0, false}, JobState::Failed, Reason::NonZeroExitCode},
                             Case{{0, 9, false}, JobState::Failed, Reason::RaisedSignal},
                             Case{{0, 9, true}, JobState::OutOfMemory, Reason::OutOfMemory}}) {
        Scenario scenario;
        ASSERT_EQ(scenario.run(kInteractive), "");
        const Job& job = give_back(scenario, each.exit);
        EXPECT_EQ(job.state, each.state);
        EXPECT_EQ(job.reason, each.reason);
        EXPECT_EQ(job.run.exit, each.exit);
    }
}

TEST(JobEnded, TheRunKeepsWhatItsScriptUsed) {
    const Usage used{Microseconds{1500}, Microseconds{20}, 2048, {}};
    for (const char* line : {"", "cancel a", "requeue a"}) {
        Scenario scenario;
        ASSERT_EQ(
            scenario.run("nodes n[1-2]\nsubmit a nodes=2 tasks=2\npass\nexpect a running n[1-2]"),
            "");
        ASSERT_EQ(scenario.run(line), "");
        Effects effects;
        const JobEnded event{NodeIndex{0}, {scenario.job("a"), 0, kBatchStep}, {}, {}, false, used};
        apply(scenario.cluster(), scenario.now(), event, effects);
        Usage expected = used;
        expected.rss_max_node = "n1";
        EXPECT_EQ(scenario.cluster().job(scenario.job("a")).run.usage, expected) << line;
    }
}

TEST(GivenBack, AgainChangesNothing) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(kInteractive), "");
    give_back(scenario, {7, 0, false});
    const Job& job = give_back(scenario, {});
    EXPECT_EQ(job.state, JobState::Failed);
    EXPECT_EQ(job.run.exit, (ExitStatus{7, 0, false}));
    EXPECT_EQ(scenario.run("clean a n1\nexpect a failed NonZeroExitCode"), "");
    EXPECT_EQ(give_back(scenario, {}).state, JobState::Failed);
}

TEST(GivenBack, WhatEndedItBeforeStays) {
    for (const auto& [line, state] :
         {std::pair("cancel a", JobState::Cancelled), std::pair("at 61", JobState::Timeout)}) {
        Scenario scenario;
        ASSERT_EQ(scenario.run(kInteractive), "");
        ASSERT_EQ(scenario.run(line), "");
        EXPECT_EQ(give_back(scenario, {0, 15, false}).state, state) << line;
    }
}

TEST(AwaitedEnds, OnlyThoseThatMayLetSomebodyGoOn) {
    const std::string_view kRunning =
        "settings licenses=matlab:1\nnodes n1 cpus=4\nsubmit a licenses=matlab name=x\npass\n";
    for (std::string_view line : {"", "submit b hold", "submit b\npass"}) {
        Scenario scenario;
        ASSERT_EQ(scenario.run(fmt::format("{}{}", kRunning, line)), "");
        EXPECT_FALSE(scenario.cluster().is_end_awaited()) << line;
    }
    for (std::string_view line :
         {"submit b cpus=4\npass", "submit b depend=afterok:a", "submit b licenses=matlab\npass",
          "submit b array=1-3%1\npass", "submit b name=x depend=singleton"}) {
        Scenario scenario;
        ASSERT_EQ(scenario.run(fmt::format("{}{}", kRunning, line)), "");
        EXPECT_TRUE(scenario.cluster().is_end_awaited()) << line;
    }
}

}  // namespace
}  // namespace sluice
