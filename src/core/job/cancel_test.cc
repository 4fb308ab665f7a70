// Cancelling parts of arrays.
#include <gtest/gtest.h>

#include <csignal>

#include "core/job/verbs.h"
#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

JobRef tasks_of(const Scenario& world, const char* name, const char* tasks) {
    return {.job = world.job(name),
            .tasks = TaskSet::parse(tasks).value(),
            .het_component = {},
            .step = {}};
}

// The answer to scancel: nothing, or the error.
std::optional<Error> cancel(Scenario& world, const JobRef& ref, std::uint32_t user = 0) {
    CancelJobs event{.request = RequestId{77}, .caller = {UserId{user}, GroupId{0}}, .filter = {}};
    event.filter.jobs = {ref};
    Effects effects;
    apply(world.cluster(), world.now(), event, effects);
    return std::get<std::vector<JobResult>>(std::get<Reply>(effects.back()).answer).at(0).error;
}

std::size_t records(Scenario& world) {
    std::size_t count = 0;
    world.cluster().jobs().for_each([&](const Job&) { ++count; });
    return count;
}

// scancel --signal.
TEST(CancelSignal, ReachesAllNodesOfTheJob) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-3]\nsubmit a nodes=2 tasks=2\npass\nexpect a running n[1-2]"),
              "");
    CancelJobs event{.request = RequestId{77}, .caller = kRoot, .filter = {}, .signal = SIGUSR1};
    event.filter.jobs = {{.job = world.job("a"), .tasks = {}, .het_component = {}, .step = {}}};
    Effects effects;
    apply(world.cluster(), world.now(), event, effects);
    std::vector<NodeIndex> nodes;
    for (const Effect& effect : effects) {
        if (const auto* order = std::get_if<SignalJob>(&effect)) nodes.push_back(order->node);
    }
    EXPECT_EQ(nodes, (std::vector{NodeIndex{0}, NodeIndex{1}}));
    EXPECT_EQ(world.run("expect a running n[1-2]"), "");
}

TEST(CancelTasks, ThatHaveNotStartedEndAsOneRecord) {
    Scenario world;
    ASSERT_EQ(world.run("settings arraymax=100001\nnodes n1 cpus=1\nsubmit a "
                        "array=1-100000\npass\nexpect a_1 running n1"),
              "");
    const std::size_t before = records(world);
    EXPECT_FALSE(cancel(world, tasks_of(world, "a", "2-99000")));
    EXPECT_EQ(records(world), before + 1);
    const std::vector<JobId> found = find_jobs(world.cluster(), tasks_of(world, "a", "500"));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(world.cluster().job(found[0]).state, JobState::Cancelled);
    EXPECT_EQ(world.cluster().job(found[0]).array_tasks.to_string(), "2-99000");
    EXPECT_EQ(cancel(world, tasks_of(world, "a", "400-500"))->code, ErrorCode::JobFinished);
    EXPECT_EQ(records(world), before + 1);
    // One that runs among them ends by itself; a single one that waits is a job of its own.
    EXPECT_FALSE(cancel(world, tasks_of(world, "a", "1,99001")));
    EXPECT_EQ(records(world), before + 2);
    EXPECT_EQ(world.run("expect a_1 completing\nexpect a_99001 cancelled\nclean a_1 "
                        "n1\npass\nexpect a_99002 running n1"),
              "");
    EXPECT_EQ(world.run("restart"), "");
    EXPECT_EQ(find_jobs(world.cluster(), tasks_of(world, "a", "500")), found);
    EXPECT_EQ(world.run("at 60"), "");
    EXPECT_TRUE(find_jobs(world.cluster(), tasks_of(world, "a", "500")).empty());
}

TEST(CancelTasks, OfSomebodyElseLeaveTheArrayWhole) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\nsubmit a array=1-9 hold"), "");
    EXPECT_EQ(cancel(world, tasks_of(world, "a", "2-5"), 4711)->code, ErrorCode::AccessDenied);
    EXPECT_EQ(records(world), 1u);
}

TEST(CancelTasks, OneOfThemIsPutBackAlone) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\nsubmit a array=1-9 hold"), "");
    EXPECT_FALSE(cancel(world, tasks_of(world, "a", "2-5")));
    Effects effects;
    apply(
        world.cluster(), world.now(),
        ControlJobs{
            RequestId{78}, {UserId{0}, GroupId{0}}, JobVerb::Requeue, {tasks_of(world, "a", "3")}},
        effects);
    EXPECT_EQ(world.run("expect a_3 pending"), "");
    const std::vector<JobId> rest = find_jobs(world.cluster(), tasks_of(world, "a", "2,4-5"));
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(world.cluster().job(rest[0]).state, JobState::Cancelled);
}

TEST(CancelTasks, AreHeardOfByThoseThatWaitForThem) {
    Scenario world;
    ASSERT_EQ(
        world.run(
            "nodes n1 cpus=4\nsubmit a array=1-9 hold\nsubmit b array=1-9 depend=aftercorr:a\n"
            "submit c depend=afterany:a\nsubmit d depend=afternotok:a_2"),
        "");
    EXPECT_FALSE(cancel(world, tasks_of(world, "a", "2-5")));
    EXPECT_EQ(world.run("pass\nexpect d running n1\nexpect b_3 pending "
                        "DependencyNeverSatisfied\nexpect b_7 pending Dependency\n"
                        "expect c pending Dependency\ncancel a\npass\nexpect c running n1"),
              "");
}

}  // namespace
}  // namespace sluice
