// PrologFlags=Alloc and Contain: jobs whose nodes are prepared when they are allocated.
#include <gtest/gtest.h>

#include "model/errors.h"
#include "testkit/count_effects.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

class ExternStep : public testing::Test {
protected:
    const Job& job(const std::string& name) { return world_.cluster().job(world_.job(name)); }
    NodeIndex node(const std::string& name) { return *world_.cluster().find_node(name); }
    RunId container(const std::string& name) {
        return {job(name).id, job(name).run.restarts, kExternStep};
    }
    Effects on(const Event& event) {
        Effects effects;
        apply(world_.cluster(), world_.now(), event, effects);
        return effects;
    }
    Effects report(const std::string& name, const std::string& where,
                   std::optional<Error> error = {}) {
        return on(LaunchReported{node(where), container(name), std::move(error)});
    }
    const Step* step(const std::string& name) {
        for (const auto& each : job(name).run.steps) {
            if (each->id == kExternStep) return each.get();
        }
        return nullptr;
    }

    Scenario world_;
};

TEST_F(ExternStep, EveryNodeOfAJobHasItAndItHoldsNothing) {
    ASSERT_EQ(world_.run("settings contain\n nodes n[1-2] cpus=4\n submit a nodes=2 cpus=4\n pass\n"
                         " expect a running n[1-2]"),
              "");
    ASSERT_NE(step("a"), nullptr);
    EXPECT_EQ(step("a")->name, "extern");
    EXPECT_EQ(step("a")->tasks, 2u);
    EXPECT_TRUE(step("a")->overlap);
    EXPECT_EQ(step("a")->nodes_left.size(), 2u);
}

TEST_F(ExternStep, WithoutTheFlagThereIsNone) {
    ASSERT_EQ(world_.run("nodes n1\n submit a\n pass\n expect a running n1"), "");
    EXPECT_EQ(step("a"), nullptr);
}

TEST_F(ExternStep, ItIsCompletedHoweverTheJobEnds) {
    ASSERT_EQ(world_.run("settings contain\n nodes n1\n submit a\n pass\n cancel a"), "");
    EXPECT_EQ(step("a")->state, StepState::Completed);
    EXPECT_EQ(world_.run("clean a n1\n expect a cancelled"), "");
}

TEST_F(ExternStep, ItsEndIsNotTheJobs) {
    ASSERT_EQ(world_.run("settings contain\n nodes n1\n submit a\n pass"), "");
    on(StepEnded{node("n1"), container("a"), {.code = 0, .signal = 9, .oom_killed = true}});
    EXPECT_EQ(step("a")->state, StepState::OutOfMemory);
    EXPECT_FALSE(job("a").run.derived_exit.failed());
    EXPECT_EQ(world_.run("end a\n expect a completed"), "");
}

TEST_F(ExternStep, AnSrunThatIsGoneIsNotHeldByIt) {
    ASSERT_EQ(world_.run("settings contain\n nodes n1\n submit a srun\n pass\n"
                         " expect a running n1\n at 5\n clean a n1\n expect a cancelled"),
              "");
}

TEST_F(ExternStep, ABatchScriptWaitsForTheFirstNodeOrForAll) {
    ASSERT_EQ(world_.run("settings contain holds\n nodes n[1-2]\n submit a nodes=2\n pass\n"
                         " expect a configuring"),
              "");
    EXPECT_EQ(count_effects<LaunchBatch>(report("a", "n2")), 1u);
    EXPECT_EQ(count_effects<LaunchBatch>(report("a", "n1")), 0u);
    EXPECT_EQ(world_.run("expect a running n[1-2]\n end a\n clean a n2\n expect a completed"), "");

    ASSERT_EQ(world_.run("settings contain holds holdall\n submit b nodes=2\n pass\n"
                         " expect b configuring"),
              "");
    EXPECT_EQ(count_effects<LaunchBatch>(report("b", "n2")), 0u);
    EXPECT_EQ(world_.run("expect b configuring"), "");
    EXPECT_EQ(count_effects<LaunchBatch>(report("b", "n1")), 1u);
}

TEST_F(ExternStep, ARequestForAStepWaitsForTheNodesUnlessItIsRefused) {
    ASSERT_EQ(world_.run("settings contain holds\n nodes n1\n submit a salloc\n pass\n"
                         " expect a configuring"),
              "");
    const UserId owner = job("a").user;
    CreateStep event{RequestId{7}, {owner, GroupId{100}}, StepDemand{.job = job("a").id}};
    EXPECT_EQ(on(event).size(), 0u);
    event = {RequestId{8}, {UserId{owner.value + 1}, GroupId{100}}, StepDemand{.job = job("a").id}};
    EXPECT_EQ(count_effects<Reply>(on(event)), 1u);
    EXPECT_GE(count_effects<Reply>(report("a", "n1")), 1u);  // the step is granted
}

TEST_F(ExternStep, AnInteractiveJobWaitsForAllNodes) {
    ASSERT_EQ(world_.run("settings alloc holds\n nodes n[1-2]\n submit a salloc nodes=2\n pass\n"
                         " expect a configuring"),
              "");
    report("a", "n1");
    EXPECT_EQ(world_.run("expect a configuring"), "");
    report("a", "n2");
    EXPECT_EQ(world_.run("expect a running n[1-2]"), "");
}

TEST_F(ExternStep, ANodeThatCannotContainTheJobDoesNotDelayIt) {
    ASSERT_EQ(world_.run("settings contain holds\n nodes n1\n submit a\n pass"), "");
    EXPECT_EQ(count_effects<LaunchBatch>(report("a", "n1", Error{ErrorCode::UserUnknown, ""})), 1u);
    EXPECT_EQ(world_.run("expect a running n1"), "");
}

TEST_F(ExternStep, AFailedPrologRequeuesTheJobOrEndsIt) {
    ASSERT_EQ(world_.run("settings alloc holds\n nodes n[1-4]\n submit a\n submit b norequeue\n"
                         " submit c salloc\n pass"),
              "");
    const Error failed{ErrorCode::PrologFailed, ""};
    report("a", "n1", failed);
    report("b", "n2", failed);
    report("c", "n3", failed);
    EXPECT_EQ(world_.run("clean a n1\n clean b n2\n clean c n3\n expect b failed\n"
                         " expect c cancelled"),
              "");
    EXPECT_EQ(job("a").run.restarts, 1u);
    EXPECT_EQ(job("b").reason, Reason::JobLaunchFailure);
    EXPECT_TRUE(world_.cluster().node(node("n1")).admin_flags & kNodeDrain);
}

TEST_F(ExternStep, ForceRequeueOnFailIsStrongerThanNoRequeue) {
    ASSERT_EQ(
        world_.run("settings alloc holds forcerequeue\n nodes n1\n submit a norequeue\n pass"), "");
    report("a", "n1", Error{ErrorCode::PrologFailed, ""});
    EXPECT_EQ(world_.run("clean a n1"), "");
    EXPECT_EQ(job("a").run.restarts, 1u);
}

TEST_F(ExternStep, ANodeThatRegistersIsToldAgainWhatItDoesNotKnow) {
    ASSERT_EQ(world_.run("settings contain holds\n nodes n1\n submit a\n pass\n"
                         " expect a configuring"),
              "");
    NodeRegistered event{.node = "n1", .facts = *world_.cluster().node(node("n1")).facts};
    EXPECT_EQ(count_effects<PrepareJob>(on(event)), 1u);
    report("a", "n1");
    EXPECT_EQ(count_effects<PrepareJob>(on(event)), 1u);  // the container is lost
    event.running = {container("a"), {job("a").id, 0, kBatchStep}};
    const Effects effects = on(event);
    EXPECT_EQ(count_effects<PrepareJob>(effects) + count_effects<TerminateJob>(effects), 0u);
}

TEST_F(ExternStep, ARestartedControllerPreparesAgain) {
    ASSERT_EQ(world_.run("settings contain holds\n nodes n[1-2]\n submit a nodes=2\n pass\n"
                         " restart\n at 1\n expect a configuring"),
              "");
    EXPECT_EQ(job("a").run.steps.size(), 1u);
    EXPECT_EQ(count_effects<LaunchBatch>(report("a", "n1")), 1u);
}

}  // namespace
}  // namespace sluice
