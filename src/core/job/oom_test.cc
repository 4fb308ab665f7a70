// core/job/oom_test.cc: steps that the kernel killed for want of memory, and their jobs.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr ExitStatus kOomExit{.code = 0, .signal = 125, .oom_killed = true};

struct OomWorld {
    Scenario scenario;
    Effects effects = {};

    // A job with one step, on all nodes of the job.
    explicit OomWorld(std::string_view text) {
        EXPECT_EQ(scenario.run(text), "");
        StepDemand demand;
        demand.job = scenario.job("a");
        demand.key = "k";
        apply_event(CreateStep{RequestId{1}, {UserId{0}, GroupId{0}}, demand});
        EXPECT_EQ(record().run.steps.size(), 1u);
    }
    void apply_event(const Event& event) {
        apply(scenario.cluster(), scenario.now(), event, effects);
    }
    const Job& record() { return scenario.cluster().job(scenario.job("a")); }
    void end_step(std::uint32_t node, ExitStatus exit) {
        apply_event(StepEnded{NodeIndex{node}, {scenario.job("a"), 0, StepId{0}}, exit});
    }
    void end_script(ExitStatus exit) {
        apply_event(JobEnded{NodeIndex{0}, {scenario.job("a"), 0, kBatchStep}, exit, {}});
    }
    void complete(ExitStatus exit) {
        apply_event(CompleteJob{RequestId{2}, {UserId{0}, GroupId{0}}, scenario.job("a"), exit});
    }
    void expect_out_of_memory() {
        EXPECT_EQ(record().state, JobState::OutOfMemory);
        EXPECT_EQ(record().run.exit, kOomExit);
        EXPECT_EQ(record().reason, Reason::OutOfMemory);
    }
};

constexpr std::string_view kOomBatch = "nodes n1 cpus=4\nsubmit a cpus=4\npass";
constexpr std::string_view kOomTwoNodes =
    "nodes n[1-2] cpus=1\nsubmit a nodes=2 tasks=2\npass\nexpect a running n[1-2]";

TEST(OutOfMemory, AStepMakesItsBatchJobOne) {
    OomWorld world(kOomBatch);
    world.end_step(0, kOomExit);
    EXPECT_EQ(world.record().run.steps[0]->state, StepState::OutOfMemory);
    EXPECT_EQ(world.record().state, JobState::Running);
    world.end_script({});  // it went on after the failure
    world.expect_out_of_memory();
}

TEST(OutOfMemory, NotAStepThatFailed) {
    OomWorld world(kOomBatch);
    world.end_step(0, {.code = 0, .signal = 9});
    EXPECT_EQ(world.record().run.steps[0]->state, StepState::Failed);
    world.end_script({});
    EXPECT_EQ(world.record().state, JobState::Completed);
}

TEST(OutOfMemory, OneOfTheNodesIsEnough) {
    OomWorld world(kOomTwoNodes);
    world.end_step(1, kOomExit);
    EXPECT_EQ(world.record().run.steps[0]->state, StepState::Running);
    world.end_step(0, {.code = 200});
    EXPECT_EQ(world.record().run.steps[0]->state, StepState::OutOfMemory);
    world.end_script({.code = 1});
    world.expect_out_of_memory();
}

TEST(OutOfMemory, AlsoIfTheStepsEndIsHeardAfterTheScripts) {
    OomWorld world(kOomTwoNodes);
    world.end_step(0, {});
    world.end_script({});
    EXPECT_EQ(world.record().state, JobState::Completed);
    world.end_step(1, kOomExit);
    world.expect_out_of_memory();
    EXPECT_EQ(world.record().run.steps[0]->state, StepState::OutOfMemory);
}

TEST(OutOfMemory, ACancelledJobStaysCancelled) {
    OomWorld world(kOomTwoNodes);
    ASSERT_EQ(world.scenario.run("cancel a"), "");
    world.end_step(1, kOomExit);
    EXPECT_EQ(world.record().state, JobState::Cancelled);
}

TEST(OutOfMemory, TheOwnJobOfAnSrun) {
    OomWorld world("nodes n1 cpus=4\nsubmit a cpus=4 srun\npass");
    world.complete(kOomExit);
    world.expect_out_of_memory();
}

TEST(OutOfMemory, AnSallocGoesOnAndEndsAsItsCommandDoes) {
    OomWorld world("nodes n1 cpus=4\nsubmit a cpus=4 interactive\npass");
    world.end_step(0, kOomExit);
    world.complete({});
    EXPECT_EQ(world.record().state, JobState::Completed);
}

TEST(OutOfMemory, ARequeuedJobStartsAfresh) {
    OomWorld world(kOomBatch);
    world.end_step(0, kOomExit);
    EXPECT_TRUE(world.record().run.derived_exit.oom_killed);
    ASSERT_EQ(world.scenario.run("requeue a"), "");
    world.apply_event(NodeCleaned{NodeIndex{0}, {world.scenario.job("a"), 0, kBatchStep}});
    EXPECT_EQ(world.record().state, JobState::Pending);
    EXPECT_FALSE(world.record().run.derived_exit.oom_killed);
}

}  // namespace
}  // namespace sluice
