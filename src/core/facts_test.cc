// core/facts_test.cc: what accounting is told of jobs, steps and nodes.
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
    template <typename Kind>
    std::vector<Kind> facts() {
        std::vector<Kind> found;
        for (Fact& fact : changes().facts)
            if (auto* each = std::get_if<Kind>(&fact)) found.push_back(std::move(*each));
        return found;
    }
    AccountedJob only_run() {
        const auto runs = facts<AccountedJob>();
        EXPECT_EQ(runs.size(), 1u);
        return runs.at(0);
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

TEST_F(Ended, ARunIsToldWhenItIsSubmittedStartsAndEnds) {
    run("nodes n1 cpus=4\nsubmit a cpus=4 time=60");
    const AccountedJob waits = only_run();
    EXPECT_EQ(waits.state, ShownState::Pending);
    EXPECT_EQ(waits.cpus_requested, 4u);
    EXPECT_FALSE(waits.start);
    run("pass\nexpect a running n1");
    const AccountedJob runs = only_run();
    EXPECT_EQ(runs.state, ShownState::Running);
    EXPECT_EQ(runs.node_names, "n1");
    EXPECT_EQ(runs.tres_allocated.at("cpu"), 4u);
    run("cancel a");
    const AccountedJob ends = only_run();
    EXPECT_EQ(ends.state, ShownState::Cancelled);
    EXPECT_TRUE(ends.end);
    run("clean a n1");
    EXPECT_EQ(only_run(), ends) << "it is told again when its nodes are clean";
    run("clean a n1");
    EXPECT_TRUE(facts<AccountedJob>().empty());
}

TEST_F(Ended, TheBatchScriptIsAStepOfItsOwn) {
    run(kRunning);
    std::vector<AccountedStep> steps = facts<AccountedStep>();
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].step, kBatchStep);
    EXPECT_EQ(steps[0].state, ShownState::Running);
    EXPECT_EQ(steps[0].node_names, "n1");
    run("end a code=3");
    steps = facts<AccountedStep>();
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps.back().state, ShownState::Failed);
    EXPECT_EQ(steps.back().exit.code, 3);
}

TEST_F(Ended, ARunWhoseNodeIsLostFailedWithItsNode) {
    run("nodes n[1-2]\nsubmit a\npass\nexpect a running n1");
    (void)changes();
    run("lost n1\nat 6\nexpect a running n2");
    const auto runs = facts<AccountedJob>();
    ASSERT_GE(runs.size(), 2u);
    EXPECT_EQ(runs[0].state, ShownState::NodeFail);
    EXPECT_EQ(runs[0].restarts, 0u);
    EXPECT_TRUE(runs[0].end);
    EXPECT_EQ(runs.back().restarts, 1u);
}

TEST_F(Ended, ARunTellsWhetherItOvertookAnotherJob) {
    run("nodes n1 cpus=4\nsubmit a cpus=2 time=60\npass\nsubmit big cpus=4 time=60\npass\n"
        "submit small cpus=1 time=10\npass\nexpect small running n1\nexpect big pending");
    std::map<std::uint32_t, std::uint32_t> flags;
    for (const AccountedJob& each : facts<AccountedJob>()) flags[each.job.value] = each.flags;
    EXPECT_EQ(flags.at(1) & (kStartedByMain | kStartedByBackfill), kStartedByMain);
    EXPECT_EQ(flags.at(2), 0u);
    EXPECT_EQ(flags.at(3) & (kStartedByMain | kStartedByBackfill), kStartedByBackfill);
}

TEST_F(Ended, AJobThatNeverStartedIsToldToo) {
    run("nodes n1\nsubmit a hold\ncancel a");
    const AccountedJob ended = only_run();
    EXPECT_EQ(ended.state, ShownState::Cancelled);
    EXPECT_EQ(ended.node_count, 0u);
}

TEST_F(Ended, ARequeueEndsTheRunAndBeginsANewOne) {
    run(kRunning);
    (void)changes();
    run("requeue a");
    run("clean a n1");
    const auto runs = facts<AccountedJob>();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].state, ShownState::Requeued);
    EXPECT_EQ(runs[0].restarts, 0u);
    EXPECT_TRUE(runs[0].start && runs[0].end);
    EXPECT_EQ(runs[0].node_names, "n1");
    EXPECT_EQ(runs[1].state, ShownState::Pending);
    EXPECT_EQ(runs[1].restarts, 1u);
    EXPECT_FALSE(runs[1].start);
    EXPECT_NE(runs[1].sluid, runs[0].sluid);
}

TEST_F(Ended, ARequeueAfterTheEndKeepsHowItEnded) {
    run(kRunning);
    run("end a code=3");
    (void)changes();
    run("requeue a");
    const auto runs = facts<AccountedJob>();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].state, ShownState::Failed);
    EXPECT_EQ(runs[0].exit.code, 3);
}

TEST_F(Ended, EveryStepIsToldAlsoWhenTheJobForgetsIt) {
    run(kRunning);
    (void)changes();
    constexpr std::uint32_t kSteps = 100;
    std::set<StepId> ended;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
        ask_for_step(std::to_string(i));
        apply_event(StepEnded{NodeIndex{0}, step(i), {}});
        const auto told = facts<AccountedStep>();
        ASSERT_EQ(told.size(), 2u) << "its start and its end";
        EXPECT_EQ(told[0].state, ShownState::Running);
        if (told[1].end) ended.insert(told[1].step);
    }
    EXPECT_EQ(ended.size(), kSteps);
    EXPECT_LT(scenario_.cluster().job(scenario_.job("a")).run.steps.size(), kSteps);
}

TEST_F(Ended, AStepIsToldAgainWithWhatItsNodeReportsLater) {
    run(kRunning);
    ask_for_step("k");
    run("cancel a");
    (void)changes();
    const Usage used{Microseconds{10}, Microseconds{1}, 100, {}};
    apply_event(StepEnded{NodeIndex{0}, step(0), {0, 15, false}, false, used});
    auto again = facts<AccountedStep>();
    std::erase_if(again, [](const AccountedStep& each) { return each.step == kBatchStep; });
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].usage.cpu_user, used.cpu_user);
    EXPECT_EQ(again[0].state, ShownState::Cancelled);
}

TEST_F(Ended, ANodeThatBecomesUnavailableAndReturnsIsAnEventWithAnEnd) {
    run("nodes n[1-2] cpus=4\npass");
    auto events = facts<AccountedEvent>();
    ASSERT_EQ(events.size(), 1u) << "the resources of the cluster";
    EXPECT_EQ(events[0].node, "");
    EXPECT_EQ(events[0].tres.at("cpu"), 8u);
    run("node n1 State=DRAIN Reason=disk");
    events = facts<AccountedEvent>();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].node, "n1");
    EXPECT_EQ(events[0].state, "DRAIN");
    EXPECT_FALSE(events[0].end);
    run("node n1 State=RESUME");
    events = facts<AccountedEvent>();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_TRUE(events[0].end);
    EXPECT_EQ(events[0].node, "n1");
}

}  // namespace
}  // namespace sluice
