// core/node/fail_test.cc: nodes that fall silent, and their jobs.
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

// "lost" stops the heartbeats of n1 at 0; five minutes later it would be given up.
TEST(NodeTimeout, AnyMessageShowsThatTheNodeIsThere) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n1\nsubmit a\npass\nexpect a running n1\nlost n1\nat 4"), "");
    Effects effects;
    const RunId run{scenario.job("a"), 0, kBatchStep};
    apply(scenario.cluster(), scenario.now(), LaunchReported{NodeIndex{0}, run, {}}, effects);
    EXPECT_EQ(scenario.run("at 6\nexpect a running n1"), "");
    EXPECT_EQ(scenario.run("at 10"), "");
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{0}).down);
}

std::shared_ptr<const Settings> without_last_node(const Settings& two_nodes) {
    auto one = std::make_shared<Settings>(two_nodes);
    one->nodes.pop_back();
    for (PartitionConfig& partition : one->partitions) partition.nodes = {"n1"};
    return one;
}

TEST(NodeTimeout, ANodeThatIsAddedAgainHasTimeToRegister) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\npass\nlost n2\nat 1"), "");
    const auto both = std::make_shared<const Settings>(scenario.cluster().settings());
    const auto one = without_last_node(*both);
    Effects effects;
    apply(scenario.cluster(), scenario.now(), Reconfigure{RequestId{0}, {}, one}, effects);
    ASSERT_EQ(scenario.run("at 4"), "");
    apply(scenario.cluster(), scenario.now(), Reconfigure{RequestId{0}, {}, both}, effects);
    ASSERT_EQ(scenario.run("at 6"), "");
    EXPECT_FALSE(scenario.cluster().node(NodeIndex{1}).down);
    ASSERT_EQ(scenario.run("at 10"), "");
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{1}).down);
}

TEST(KillFailed, DrainsTheNodeAndEndsNothingByItself) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a\npass\nexpect a running n1"), "");
    Effects effects;
    const RunId run{scenario.job("a"), 0, kBatchStep};
    apply(scenario.cluster(), scenario.now(), KillFailed{NodeIndex{0}, run}, effects);
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{0}).admin_flags & kNodeDrain);
    EXPECT_EQ(scenario.cluster().node(NodeIndex{0}).reason, "Kill task failed");
    EXPECT_FALSE(scenario.cluster().node(NodeIndex{1}).admin_flags & kNodeDrain);
    EXPECT_EQ(scenario.run("expect a running n1\nsubmit b\npass\nexpect b running n2"), "");
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

// An srun may launch a step while the node's list of runs is in transit: the node is told what has
// ended, so that it refuses or ends the step.
TEST(NodeTimeout, ANodeThatComesBackIsToldWhatWasGivenUpEvenIfItDoesNotListIt) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a nodes=2 tasks=2\npass\nlost n2\nat 6"), "");
    RunId run{scenario.job("a"), 0, kBatchStep};
    Effects effects;
    apply(scenario.cluster(), scenario.now(), NodeRegistered{"n2", {}, {}}, effects);
    const auto* order = std::get_if<TerminateJob>(&effects.front());
    ASSERT_TRUE(order);
    EXPECT_EQ(order->run, run);
    EXPECT_EQ(scenario.cluster().node(NodeIndex{1}).orphans, std::vector<RunId>{run});
    NodeFacts other_boot;
    other_boot.boot_id = "another";
    apply(scenario.cluster(), scenario.now(), NodeRegistered{"n2", other_boot, {}}, effects);
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{1}).orphans.empty());
}

void reconfigure_timeout(Scenario& scenario, Seconds timeout) {
    auto settings = std::make_shared<Settings>(scenario.cluster().settings());
    settings->slurmd_timeout = timeout;
    Effects effects;
    apply(scenario.cluster(), scenario.now(), Reconfigure{RequestId{0}, {}, settings}, effects);
}

TEST(NodeTimeout, AShorterOneCountsFromTheReconfigurationOn) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a\npass\nexpect a running n1\nlost n1\nat 2"), "");
    reconfigure_timeout(scenario, Minutes{1});
    // Longer ago than the new timeout, but the node had not been asked to report more often.
    EXPECT_EQ(scenario.run("expect a running n1\nat 3\npass\nexpect a running n2"), "");
    EXPECT_TRUE(scenario.cluster().node(NodeIndex{0}).down);
    EXPECT_FALSE(scenario.cluster().node(NodeIndex{1}).down);
}

TEST(NodeTimeout, ALongerOneIsWaitedFor) {
    Scenario scenario;
    ASSERT_EQ(
        scenario.run("nodes n1\nsubmit a norequeue\npass\nexpect a running n1\nlost n1\nat 1"), "");
    reconfigure_timeout(scenario, Minutes{20});
    EXPECT_EQ(scenario.run("at 20\nexpect a running n1\nat 21\nexpect a node_fail"), "");
}

TEST(NodeTimeout, ZeroIsNeverAndCanBeTakenBack) {
    Scenario scenario;
    ASSERT_EQ(
        scenario.run("nodes n1\nsubmit a norequeue\npass\nexpect a running n1\nlost n1\nat 1"), "");
    reconfigure_timeout(scenario, Seconds{0});
    ASSERT_EQ(scenario.run("at 30\nexpect a running n1"), "");
    EXPECT_FALSE(scenario.cluster().node(NodeIndex{0}).down);
    reconfigure_timeout(scenario, Minutes{5});
    EXPECT_EQ(scenario.run("at 34\nexpect a running n1\nat 35\nexpect a node_fail"), "");
}

// Otherwise a silent node would never be given up if slurm.conf is often read again.
TEST(NodeTimeout, TheSameOneGoesOnAsBefore) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n1\nsubmit a norequeue\npass\nlost n1\nat 4"), "");
    reconfigure_timeout(scenario, scenario.cluster().settings().slurmd_timeout);
    EXPECT_EQ(scenario.run("expect a running n1\nat 5\nexpect a node_fail"), "");
}

// The controller was stopped for longer than SlurmdTimeout: what nodes have said meanwhile is heard
// after the tick.
TEST(NodeTimeout, TimeInWhichTheControllerStoodStillIsNoSilence) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n1\nsubmit a norequeue\npass\nexpect a running n1"), "");
    Effects effects;
    const Time later = scenario.now() + Minutes{20};
    apply(scenario.cluster(), later, StoodStill{Minutes{20}}, effects);
    apply(scenario.cluster(), later, Tick{}, effects);
    EXPECT_EQ(scenario.run("expect a running n1"), "");
    apply(scenario.cluster(), later + Seconds{299}, Tick{}, effects);
    EXPECT_EQ(scenario.run("expect a running n1"), "");
    apply(scenario.cluster(), later + Seconds{300}, Tick{}, effects);
    EXPECT_EQ(scenario.run("expect a node_fail"), "");
}

// However often it stands still: what it has listened in between adds up.
TEST(NodeTimeout, SilenceAddsUpBetweenStandstills) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n1\nsubmit a norequeue\npass\nexpect a running n1"), "");
    Effects effects;
    Time now = scenario.now();
    for (int i = 0; i < 29; ++i) {  // of each minute, ten seconds are heard
        apply(scenario.cluster(), now += Minutes{1}, StoodStill{Seconds{50}}, effects);
        apply(scenario.cluster(), now, Tick{}, effects);
    }
    EXPECT_EQ(scenario.run("expect a running n1"), "");
    apply(scenario.cluster(), now += Minutes{1}, StoodStill{Seconds{50}}, effects);
    apply(scenario.cluster(), now, Tick{}, effects);
    EXPECT_EQ(scenario.run("expect a node_fail"), "");
}

// It was told to end the job, but has not reported the end yet.
TEST(NodeDown, TakesNothingNewBeforeItIsClean) {
    Scenario scenario;
    ASSERT_EQ(
        scenario.run(
            "nodes n1\nsubmit a norequeue\npass\nexpect a running n1\ndown n1\nexpect a node_fail\n"
            "node n1 State=RESUME\nsubmit b\npass\nexpect b pending"),
        "");
    Effects effects;
    apply(scenario.cluster(), scenario.now(),
          NodeCleaned{NodeIndex{0}, {scenario.job("a"), 0, kBatchStep}}, effects);
    EXPECT_EQ(scenario.run("pass\nexpect b running n1"), "");
}

// A pass finds the node registered but not clean, and parks jobs that name it.
TEST(NodeTimeout, JobsThatNameANodeStartThereOnceItsLeftoversAreGone) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("settings return=1\nnodes n[1-2]\nsubmit a nodelist=n2 "
                           "norequeue\npass\nexpect a running n2\n"
                           "lost n2\nsubmit b nodelist=n2\nat 6\nexpect a node_fail\nexpect b "
                           "pending ReqNodeNotAvail"),
              "");
    Effects effects;
    RunId run{scenario.job("a"), 0, kBatchStep};
    apply(scenario.cluster(), scenario.now(), NodeRegistered{"n2", {}, {run}}, effects);
    ASSERT_EQ(scenario.run("pass\nexpect b pending ReqNodeNotAvail"), "");
    apply(scenario.cluster(), scenario.now(), NodeCleaned{NodeIndex{1}, run}, effects);
    EXPECT_EQ(scenario.run("pass\nexpect b running n2"), "");
}

// slurm.conf has lost a node while the controller was down.
TEST(Restore, JobsOfNodesThatAreGoneRunAgainOrHaveFailed) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a exclusive\nsubmit b exclusive norequeue\npass\n"
                           "expect a running n1\nexpect b running n2"),
              "");
    StoredState stored;
    for (const char* name : {"a", "b"})
        stored.jobs.push_back(
            stored_form(scenario.cluster().job(scenario.job(name)), {"n1", "n2"}));
    auto fewer = std::make_shared<Settings>(scenario.cluster().settings());
    fewer->nodes.clear();
    for (PartitionConfig& partition : fewer->partitions) partition.nodes.clear();
    Cluster cluster(fewer, scenario.now());
    cluster.restore(stored, scenario.now());
    EXPECT_EQ(cluster.job(scenario.job("a")).state, JobState::Pending);
    EXPECT_EQ(cluster.job(scenario.job("b")).state, JobState::NodeFail);
    EXPECT_EQ(cluster.take_changes().jobs.size(), 2u);
    EXPECT_FALSE(broken_invariant(cluster));
}

// Of an earlier run, on a node that is no longer in slurm.conf: there is no index for it.
TEST(Restore, StepsThatRanOnNodesThatAreGoneHaveNone) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nsubmit a\npass\nexpect a running n1"), "");
    StoredState stored;
    Job job = scenario.cluster().job(scenario.job("a"));
    Step step{.id = StepId{0}, .user = job.user, .state = StepState::Completed};
    step.nodes = {{.node = NodeIndex{1}, .cpus = {}, .gres = {}}};
    job.run.steps = {std::make_shared<const Step>(step)};
    stored.jobs.push_back(stored_form(job, {"n1", "n8"}));
    Cluster cluster(std::make_shared<Settings>(scenario.cluster().settings()), scenario.now());
    cluster.restore(stored, scenario.now());
    EXPECT_EQ(cluster.job(job.id).state, JobState::Running);
    EXPECT_TRUE(cluster.job(job.id).run.steps.front()->nodes.empty());
}

// A node was switched off and removed from slurm.conf, and is added again after a restart: its old
// record must not return with the next restart.
TEST(Restore, ANodeThatIsAddedAgainHasARecordOfItsOwn) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\npass"), "");
    const auto both = std::make_shared<const Settings>(scenario.cluster().settings());
    const auto one = without_last_node(*both);
    StoredState stored;
    Power off;
    off.state = PowerState::PoweringDown;
    off.started = true;
    stored.nodes.push_back({.name = "n2", .power = off});
    Cluster cluster(one, scenario.now());
    cluster.restore(stored, scenario.now());
    EXPECT_TRUE(cluster.take_changes().nodes.empty());
    Effects effects;
    apply(cluster, scenario.now(), Reconfigure{RequestId{0}, {}, both}, effects);
    const ChangedRecords changes = cluster.take_changes();
    ASSERT_EQ(changes.nodes.size(), 1u);
    EXPECT_EQ(changes.nodes.front().record.name, "n2");
    ASSERT_TRUE(changes.nodes.front().record.power);
    EXPECT_EQ(changes.nodes.front().record.power->state, PowerState::Up);
}

TEST(NoKill, AJobGoesOnOnItsOtherNodes) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   n[1-3] cpus=2
        submit  a nodes=3 tasks=6 nokill
        pass
        expect  a running n[1-3]
        down    n2
        expect  a running n[1,3]
        lost    n3
        at      6
        expect  a running n1
        node    n1 is allocated
    )"),
              "");
    EXPECT_EQ(world.cluster().job(world.job("a")).run.restarts, 0u);
    // What it left there is ended before anything new starts.
    EXPECT_FALSE(world.cluster().node(NodeIndex{2}).orphans.empty());
    EXPECT_EQ(
        world.run("back n3\n submit b nodelist=n3 tasks=2\n pass\n end a\n expect a completed"),
        "");
}

TEST(NoKill, ItsStepsGoOnToo) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\n submit a nodes=2 tasks=2 nokill\n pass"), "");
    StepDemand demand;
    demand.job = world.job("a");
    Effects effects;
    apply(world.cluster(), world.now(), CreateStep{RequestId{5}, kRoot, demand}, effects);
    ASSERT_EQ(world.cluster().job(demand.job).run.steps.at(0)->nodes.size(), 2u);
    ASSERT_EQ(world.run("down n2\n expect a running n1"), "");
    const Step& step = *world.cluster().job(demand.job).run.steps.at(0);
    EXPECT_EQ(step.state, StepState::Running);
    EXPECT_EQ(step.nodes_left, std::vector{NodeIndex{0}});
}

TEST(NoKill, WithoutItsScriptOrItsLastNodeAJobEnds) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        submit  a nodes=2 tasks=2 nokill norequeue
        pass
        down    n1
        clean   a n2
        expect  a node_fail
    )");
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        submit  a nodes=2 tasks=2 nokill salloc
        pass
        down    n1
        expect  a running n2
        down    n2
        expect  a node_fail
    )");
}

TEST(NoKill, WithoutTheOptionAJobEnds) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        submit  a nodes=2 tasks=2 norequeue
        pass
        down    n2
        clean   a n1
        expect  a node_fail
    )");
}

}  // namespace
}  // namespace sluice
