// What the log says of jobs and nodes: one scenario a line of life.
#include "controller/change_lines.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

class ChangeLines : public testing::Test {
protected:
    // What is logged of these lines of a scenario.
    std::vector<std::string> of(std::string_view text) {
        EXPECT_EQ(world_.run(text), "");
        if (auto after = world_.cluster().take_snapshot(world_.now())) after_ = std::move(after);
        const ChangedRecords changes = world_.cluster().take_changes();
        const auto before = std::exchange(before_, after_);
        return before ? change_lines(*before, *after_, changes) : std::vector<std::string>{};
    }

    Scenario world_;
    std::shared_ptr<const Snapshot> before_, after_;
};

using Lines = std::vector<std::string>;

TEST_F(ChangeLines, TellOfASubmissionAStartAndAnEnd) {
    of("nodes n[1-2] cpus=4\n pass");
    const Lines submitted = of("submit job tasks=2 time=10 user=7");
    ASSERT_EQ(submitted.size(), 1u);
    EXPECT_TRUE(submitted[0].starts_with("submit_batch_job: JobId=1 InitPrio=")) << submitted[0];
    EXPECT_TRUE(submitted[0].ends_with(" uid 7")) << submitted[0];
    const Lines started = of("pass");
    ASSERT_EQ(started.size(), 1u);
    EXPECT_TRUE(started[0].starts_with("sched: Allocate JobId=1 NodeList=n1 #CPUs=2 Partition="));
    EXPECT_EQ(of("end job code=3"),
              (Lines{"job_complete: JobId=1 WEXITSTATUS 3", "job_complete: JobId=1 done"}));
    EXPECT_EQ(of("clean job n1"), Lines{});
}

TEST_F(ChangeLines, TellWhatEndsAJobOnce) {
    of("nodes n1 cpus=4\n submit waits hold\n submit runs time=10\n pass");
    EXPECT_EQ(of("cancel waits"),
              (Lines{"kill_job: REQUEST_KILL_JOB JobId=1 uid 0", "job_complete: JobId=1 done"}));
    const Lines requeued = of("requeue runs");
    ASSERT_FALSE(requeued.empty());
    EXPECT_EQ(requeued[0], "Requeuing JobId=2");
    for (const std::string& line : of("clean runs n1")) EXPECT_NE(line, "Requeuing JobId=2");
}

TEST_F(ChangeLines, TellForWhichJobAnotherIsPreempted) {
    of(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n[1-2] cpus=4
        partition low  default tier=1 grace=60 nodes=n1
        partition now  tier=1 nodes=n2
        partition high tier=2 nodes=n[1-2]
        submit    a partition=low cpus=4
        submit    b partition=now cpus=4
        pass
    )");
    const Lines told = of("submit boss nodes=2 tasks=8 partition=high\n pass");
    EXPECT_EQ(told.front(), "preempted JobId=2 has been requeued to reclaim resources for JobId=3");
    // One that ends by itself in its grace time.
    const Lines ended = of("end a");
    ASSERT_FALSE(ended.empty());
    EXPECT_EQ(ended[0], "preempted JobId=1 has been requeued to reclaim resources for JobId=3");
}

TEST_F(ChangeLines, TellWhenTimeIsUp) {
    of("nodes n1 cpus=4\n submit job time=10\n pass");
    const Lines ended = of("at 11");
    ASSERT_FALSE(ended.empty());
    EXPECT_EQ(ended[0], "Time limit exhausted for JobId=1");
}

TEST_F(ChangeLines, NameTheTasksOfAnArrayBothWays) {
    of("nodes n1 cpus=4\n submit all array=1-2 time=10");
    const Lines started = of("pass");
    ASSERT_EQ(started.size(), 2u);
    for (const std::string& line : started) {
        EXPECT_TRUE(line.starts_with("sched: Allocate JobId=1_")) << line;
    }
}

TEST_F(ChangeLines, TellWhatIsDoneToNodes) {
    of("nodes n1 cpus=4\n pass");
    EXPECT_EQ(of("node n1 State=DRAIN Reason=fan"),
              (Lines{"update_node: node n1 reason set to: fan",
                     "update_node: node n1 state set to DRAINED"}));
    EXPECT_EQ(of("node n1 State=RESUME"), Lines{"update_node: node n1 state set to IDLE"});
}

}  // namespace
}  // namespace sluice
