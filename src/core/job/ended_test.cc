// core/job/ended_test.cc: what the store is given of ended runs and steps, for accounting.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr std::string_view kRunning =
    "nodes n1 cpus=4\nsubmit a cpus=4 time=60\npass\nexpect a running n1";

class Ended : public testing::Test {
protected:
    void run(std::string_view text) { ASSERT_EQ(scenario_.run(text), ""); }
    ChangedRecords changes() { return scenario_.cluster().take_changes(); }
    EndedRun only_ended_run() {
        const auto ended = changes().ended_runs;
        EXPECT_EQ(ended.size(), 1u);
        return ended.at(0);
    }
    void apply_event(const Event& event) {
        Effects effects;
        apply(scenario_.cluster(), scenario_.now(), event, effects);
    }
    void ask_for_step(const std::string& key) {
        StepDemand demand;
        demand.job = scenario_.job("a");
        demand.overlap = true;
        demand.key = key;
        apply_event(CreateStep{RequestId{next_request_++}, kRoot, demand});
    }
    RunId step(std::uint32_t number) { return {scenario_.job("a"), 0, StepId{number}}; }

    Scenario scenario_;
    std::uint64_t next_request_ = 1000;
};

TEST_F(Ended, ARunIsRecordedWhenItsJobIsOver) {
    run(kRunning);
    EXPECT_TRUE(changes().ended_runs.empty());
    run("cancel a");
    EXPECT_TRUE(changes().ended_runs.empty()) << "it is completing";
    run("clean a n1");
    const EndedRun ended = only_ended_run();
    EXPECT_EQ(ended.state, ShownState::Cancelled);
    EXPECT_EQ(ended.job->run.allocation->node_names, "n1");
}

TEST_F(Ended, AJobThatNeverStartedIsRecordedToo) {
    run("nodes n1\nsubmit a hold\ncancel a");
    const EndedRun ended = only_ended_run();
    EXPECT_EQ(ended.state, ShownState::Cancelled);
    EXPECT_FALSE(ended.job->run.allocation);
}

TEST_F(Ended, ARequeueKeepsTheRunAndBeginsANewOne) {
    run(kRunning);
    run("requeue a");
    run("clean a n1");
    const EndedRun ended = only_ended_run();
    EXPECT_EQ(ended.state, ShownState::Requeued);
    const sluice::Run& first = ended.job->run;  // testing::Test has a Run too
    EXPECT_EQ(first.restarts, 0u);
    EXPECT_TRUE(first.start_time && first.end_time);
    EXPECT_EQ(first.allocation->node_names, "n1");

    sluice::Run fresh;
    fresh.restarts = 1;
    fresh.sluid = scenario_.cluster().job(scenario_.job("a")).run.sluid;
    EXPECT_NE(fresh.sluid, first.sluid);
    EXPECT_EQ(scenario_.cluster().job(scenario_.job("a")).run, fresh);
}

TEST_F(Ended, ARequeueAfterTheEndRecordsHowItEnded) {
    run(kRunning);
    run("end a code=3");
    run("requeue a");
    const EndedRun ended = only_ended_run();
    EXPECT_EQ(ended.state, ShownState::Failed);
    EXPECT_EQ(ended.job->run.exit.code, 3);
}

TEST_F(Ended, EveryStepIsRecordedAlsoWhenTheJobForgetsIt) {
    run(kRunning);
    constexpr std::uint32_t kSteps = 100;
    std::set<StepId> recorded;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
        ask_for_step(std::to_string(i));
        apply_event(StepEnded{NodeIndex{0}, step(i), {}});
        for (const EndedStep& ended : changes().ended_steps) recorded.insert(ended.step->id);
    }
    EXPECT_EQ(recorded.size(), kSteps);
    EXPECT_LT(scenario_.cluster().job(scenario_.job("a")).run.steps.size(), kSteps);
}

TEST_F(Ended, AStepIsRecordedAgainWithWhatItsNodeReportsLater) {
    run(kRunning);
    ask_for_step("k");
    run("cancel a");
    ASSERT_EQ(changes().ended_steps.size(), 1u);
    const Usage used{Microseconds{10}, Microseconds{1}, 100, {}};
    apply_event(StepEnded{NodeIndex{0}, step(0), {0, 15, false}, false, used});
    const auto again = changes().ended_steps;
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].step->usage.cpu_user, used.cpu_user);
    EXPECT_EQ(again[0].step->state, StepState::Cancelled);
}

TEST_F(Ended, WhatIsRecordedGoesWithTheJob) {
    run(kRunning);
    run("requeue a");
    run("clean a n1\npass\nexpect a running n1\nend a");
    EXPECT_TRUE(changes().accounted.empty());
    run("at 1000");
    const ChangedRecords forgotten = changes();
    ASSERT_EQ(forgotten.forgotten.size(), 1u);
    ASSERT_EQ(forgotten.accounted.size(), 1u);
    EXPECT_EQ(forgotten.accounted[0], (RunId{forgotten.forgotten[0], 1, kBatchStep}));
}

}  // namespace
}  // namespace sluice
