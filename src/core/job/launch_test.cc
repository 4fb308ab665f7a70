// Launches that fail: because of the node, or because of the job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

void refuse(Scenario& world, const std::string& name, const std::string& node, ErrorCode code,
            std::string detail = "no space left") {
    const Job& job = world.cluster().job(world.job(name));
    Effects effects;
    apply(world.cluster(), world.now(),
          JobEnded{*world.cluster().find_node(node), RunId{job.id, job.run.restarts, kBatchStep},
                   ExitStatus{0, 53, false}, Error{code, std::move(detail)}},
          effects);
}

TEST(Refusal, ANodeThatCannotLaunchIsDrainedAndTheJobRunsElsewhere) {
    for (ErrorCode code : {ErrorCode::NodeUnable, ErrorCode::UserUnknown, ErrorCode::ClockSkew,
                           ErrorCode::CredentialExpired, ErrorCode::CredentialInvalid}) {
        Scenario world;
        ASSERT_EQ(world.run("nodes n[1-2]\n submit a\n pass\n expect a running n1"), "");
        refuse(world, "a", "n1", code);
        EXPECT_EQ(world.run(R"(
            shows   n1 state=IDLE+DRAIN reason=batch_job_launch_failure:_no_space_left
            at      1
            expect  a running n2
            end     a
            expect  a completed
            shows   n2 state=IDLE reason=
        )"),
                  "");
        EXPECT_EQ(world.cluster().job(world.job("a")).run.restarts, 1u);
    }
}

TEST(Refusal, WhatIsTheJobsOwnFaultFailsItAndLeavesTheNodeAlone) {
    for (ErrorCode code : {ErrorCode::LaunchFailed, ErrorCode::InvalidDirectory}) {
        Scenario world;
        ASSERT_EQ(world.run("nodes n[1-2]\n submit a\n pass\n expect a running n1"), "");
        refuse(world, "a", "n1", code, "could not open stdout");
        EXPECT_EQ(world.run("expect a failed\n shows n1 state=IDLE reason="), "");
        EXPECT_EQ(world.cluster().job(world.job("a")).reason_detail, "could not open stdout");
    }
}

TEST(Reports, OfANodeThatTheJobDoesNotHaveEndNothing) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=4\nsubmit a srun nodelist=n1 mem=1 time=60\n"
                        "submit b nodelist=n1 mem=1 time=60\npass\n"
                        "expect a running n1\nexpect b running n1"),
              "");
    Cluster& cluster = world.cluster();
    const NodeIndex other = *cluster.find_node("n2");
    const RunId script{world.job("b"), 0, kBatchStep};
    Effects effects;
    apply(cluster, world.now(), JobEnded{other, script, ExitStatus{1, 0, false}, {}}, effects);
    apply(cluster, world.now(), JobEnded{other, script, {}, Error{ErrorCode::NodeUnable, "disk"}},
          effects);
    const ExitStatus killed{.code = 0, .signal = 9, .oom_killed = true};
    apply(cluster, world.now(), StepEnded{other, {world.job("a"), 0, StepId{0}}, killed, true},
          effects);
    EXPECT_EQ(world.run("expect a running n1\nexpect b running n1\nshows n2 state=IDLE reason="),
              "");
    EXPECT_EQ(cluster.job(world.job("a")).run.derived_exit, ExitStatus{});
}

TEST(Refusal, ANodeThatCannotLaunchAStepIsDrained) {
    for (bool is_node : {true, false}) {
        Scenario world;
        ASSERT_EQ(world.run("nodes n[1-2] cpus=1\n submit a nodes=2 tasks=2\n pass\n"
                            " expect a running n[1-2]"),
                  "");
        Effects effects;
        StepDemand demand;
        demand.job = world.job("a");
        apply(world.cluster(), world.now(),
              CreateStep{RequestId{1}, {UserId{0}, GroupId{0}}, demand}, effects);
        const ErrorCode code = is_node ? ErrorCode::NodeUnable : ErrorCode::LaunchFailed;
        apply(world.cluster(), world.now(),
              LaunchReported{NodeIndex{1}, RunId{demand.job, 0, StepId{0}},
                             Error{code, "no space left"}},
              effects);
        EXPECT_EQ(world.run(is_node ? "shows n2 state=ALLOCATED+DRAIN"
                                      " reason=step_launch_failure:_no_space_left"
                                    : "shows n2 state=ALLOCATED reason="),
                  "");
        EXPECT_EQ(world.run("shows n1 state=ALLOCATED reason=\n expect a running n[1-2]"), "");
    }
}

TEST(Refusal, AJobThatMayNotBeRequeuedFails) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\n submit a norequeue\n pass\n expect a running n1"), "");
    refuse(world, "a", "n1", ErrorCode::NodeUnable);
    EXPECT_EQ(world.run("expect a failed\n shows n1 state=IDLE+DRAIN"), "");
}

TEST(Refusal, AJobThatThreeNodesRefuseIsHeld) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-4]\n submit a\n pass\n expect a running n1"), "");
    refuse(world, "a", "n1", ErrorCode::NodeUnable);
    ASSERT_EQ(world.run("at 1\n expect a running n2"), "");
    refuse(world, "a", "n2", ErrorCode::NodeUnable);
    ASSERT_EQ(world.run("at 2\n expect a running n3"), "");
    refuse(world, "a", "n3", ErrorCode::NodeUnable);
    ASSERT_EQ(world.run("expect a pending JobHeldUser\n at 3\n expect a pending"), "");
    const Job& job = world.cluster().job(world.job("a"));
    EXPECT_EQ(job.reason_detail, "launch failed requeued held: no space left");
    // Released, it has as many tries as before.
    ASSERT_EQ(world.run("node n1 State=RESUME\n release a\n at 4\n expect a running n1"), "");
    refuse(world, "a", "n1", ErrorCode::NodeUnable);
    EXPECT_EQ(world.run("at 5\n expect a running n4"), "");
}

TEST(Refusal, OneNodeThatRefusesAgainAndAgainCountsOnce) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\n submit a\n pass"), "");
    for (int i = 0; i < 4; ++i) {
        refuse(world, "a", "n1", ErrorCode::NodeUnable);
        ASSERT_EQ(
            world.run(fmt::format("node n1 State=RESUME\n at {}\n expect a running n1", i + 1)),
            "");
    }
}

TEST(Refusal, OnlyANodeOfTheJobIsBelieved) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\n submit a\n pass\n expect a running n1"), "");
    const RunId run{world.job("a"), 0, kBatchStep};
    Effects effects;
    apply(world.cluster(), world.now(), JobEnded{NodeIndex{1}, run, {}, {}}, effects);
    EXPECT_EQ(world.run("expect a running n1"), "");
    refuse(world, "a", "n2", ErrorCode::NodeUnable);
    EXPECT_EQ(world.run("expect a running n1\n shows n2 state=IDLE"), "");
    ASSERT_EQ(world.run("cancel a\n clean a n1\n expect a cancelled"), "");
    apply(world.cluster(), world.now(), JobEnded{NodeIndex{1}, run, {7, 0, false}, {}}, effects);
    EXPECT_EQ(world.cluster().job(world.job("a")).run.exit.code, 0);
}

TEST(BatchStart, AScriptThatDoesNotStartInTimeRunsElsewhere) {
    EXPECT_SCENARIO(R"(
        settings batchstart=2
        nodes   n[1-2]
        submit  a
        pass
        expect  a running n1
        at      1
        expect  a running n1
        at      2
        expect  a completing
        shows   n1 reason=batch_job_launch_failure:_the_script_did_not_start_within_BatchStartTimeout
        clean   a n1
        at      3
        expect  a running n2
    )");
}

TEST(BatchStart, AScriptThatHasStartedGoesOn) {
    Scenario world;
    ASSERT_EQ(world.run("settings batchstart=2\n nodes n[1-2]\n submit a\n pass\n at 1"), "");
    Effects effects;
    apply(world.cluster(), world.now(),
          LaunchReported{NodeIndex{0}, RunId{world.job("a"), 0, kBatchStep}, {}}, effects);
    EXPECT_EQ(world.run("at 2\n at 30\n expect a running n1\n shows n1 state=ALLOCATED"), "");
}

// Its report may be among what has not been read yet.
TEST(BatchStart, ANodeThatWasNotHeardSinceIsWaitedFor) {
    Scenario world;
    ASSERT_EQ(world.run("settings batchstart=2\n nodes n[1-2]\n submit a\n pass"), "");
    Effects effects;
    const Time late = world.now() + Minutes{4};
    apply(world.cluster(), late, StoodStill{Minutes{4}}, effects);
    apply(world.cluster(), late, Tick{}, effects);
    EXPECT_EQ(world.run("expect a running n1"), "");
    EXPECT_EQ(world.run("at 5\n expect a completing"), "");
}

}  // namespace
}  // namespace sluice
