#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(NodeTimeout, ASilentNodeIsToldToRegisterAgain) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a\npass\nexpect a running n1\nlost n1\nat 6"), "");
    bool told = false;
    for (const Effect& effect : scenario.effects()) {
        const auto* answered = std::get_if<NodeAnswered>(&effect);
        told = told || (answered && answered->node == "n1" && answered->error);
    }
    EXPECT_TRUE(told);
    EXPECT_EQ(scenario.run("expect a running n2\nback n1"), "");
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{0}).connected);
}

// The job goes on to be ended on its other node; the one that was given up must not run it further.
TEST(NodeTimeout, WhatALostNodeStillRunsIsEndedWhenItComesBack) {
    Scenario scenario;
    ASSERT_EQ(
        scenario.run(
            "nodes n[1-2]\nsubmit a nodes=2 tasks=2\npass\nlost n1\nat 6\nexpect a completing"),
        "");
    Effects effects;
    RunId run{scenario.job("a"), 0, kBatchStep};
    apply(scenario.cluster(), scenario.now(), NodeRegistered{"n1", {}, {run}}, effects);
    ASSERT_TRUE(std::holds_alternative<TerminateJob>(effects.front()));
    EXPECT_EQ(std::get<TerminateJob>(effects.front()).run, run);
    EXPECT_EQ(scenario.cluster().node(NodeIndex{0}).orphans, std::vector<RunId>{run});
    apply(scenario.cluster(), scenario.now(), NodeCleaned{NodeIndex{0}, run}, effects);
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{0}).orphans.empty());
}

}  // namespace
}  // namespace sluice
