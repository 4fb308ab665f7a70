// scontrol update NodeName=: what it does to jobs, and that it lasts.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(NodeUpdate, DrainingAndFailingNodesKeepTheirJobsAndTakeNoOthers) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=2
        submit  a nodelist=n1
        submit  b nodelist=n2
        pass
        node    n1 State=DRAIN Reason=disk
        node    n2 State=FAIL Reason=fan
        submit  c
        pass
        expect  a running n1
        expect  b running n2
        expect  c pending
        node    n2 is mixed+fail
        node    n1 is mixed+drain
        restart
        node    n1 is mixed+drain
        node    n1 State=UNDRAIN
        node    n1 is mixed
        pass
        expect  c running n1
        node    n2 State=RESUME
        node    n2 is mixed
    )");
}

TEST(NodeUpdate, WhatCannotBeDoneIsRefusedByName) {
    EXPECT_SCENARIO(R"(
        nodes   n1
        node    n1 State=DOWN refused
        node    n1 State=POWER_DOWN refused
        node    n1 State=ASLEEP refused
        node    n1 Weight=heavy refused
        node    n1 Gres=gpu:1 refused
        node    n1 State=DOWN Reason=test
        node    n1 is down
        node    n1 State=RESUME
        node    n1 is idle
    )");
}

TEST(NodeUpdate, WeightsAndFeaturesReachPlacementAndSurviveARestart) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        node    n1 Weight=5
        node    n2 AvailableFeatures=fast
        submit  a
        submit  b feature=fast
        pass
        expect  a running n2
        expect  b running n2
        restart
        submit  c
        submit  d feature=fast
        pass
        expect  c running n2
        expect  d running n2
    )");
}

// A job started there after the controller had checked: no report of its end would come.
TEST(Reconfigure, JobsOfANodeThatIsTakenAwayEnd) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a\nsubmit b norequeue exclusive\npass\n"
                           "expect a running n1\nexpect b running n2"),
              "");
    auto fewer = std::make_shared<Settings>(scenario.cluster().settings());
    fewer->nodes.clear();
    for (PartitionConfig& partition : fewer->partitions) partition.nodes.clear();
    Effects effects;
    apply(scenario.cluster(), scenario.now(), Reconfigure{RequestId{1}, {}, fewer}, effects);
    EXPECT_EQ(scenario.run("expect a pending\nexpect b node_fail"), "");
    EXPECT_FALSE(broken_invariant(scenario.cluster()));
}

}  // namespace
}  // namespace sluice
