// Where the tasks of a step run: --overcommit, --relative, --distribution; and how long they may.
#include <gtest/gtest.h>

#include "model/job_keys.h"
#include "testkit/step_world.h"

namespace sluice {
namespace {

constexpr std::string_view kTwoNodes =
    "nodes n1 cpus=4\nnodes n2 cpus=2\nsubmit a nodes=2 tasks=6 time=60\npass\n"
    "expect a running n[1-2]";

using Change = std::function<void(StepDemand&)>;

// "n1:4 n2:2", or empty if the step was not granted.
std::string step_tasks(StepWorld& world, const Change& change) {
    static int key = 0;
    const Step* step = world.granted(world.ask(std::to_string(++key), change));
    if (!step) return {};
    std::string text;
    for (const NodeShare& share : step->nodes) {
        text += text.empty() ? "" : " ";
        text += world.scenario.cluster().node(share.node).config.name + ":" +
                std::to_string(share.tasks);
    }
    return text;
}

Change asking(std::uint32_t tasks, const std::string& distribution, const Change& more = {}) {
    return [=](StepDemand& demand) {
        demand.ntasks = tasks;
        demand.distribution = distribution;
        demand.overlap = true;
        if (more) more(demand);
    };
}

TEST(StepLayout, FollowsTheDistribution) {
    StepWorld world(kTwoNodes);
    EXPECT_EQ(step_tasks(world, asking(4, "block")), "n1:3 n2:1");
    EXPECT_EQ(step_tasks(world, asking(4, "cyclic:block")), "n1:2 n2:2");
    EXPECT_EQ(step_tasks(world, asking(5, "plane=3")), "n1:3 n2:2");
    EXPECT_EQ(world.record().run.steps.back()->distribution, "plane=3");
    EXPECT_EQ(step_tasks(world, asking(2, "")), "n1:1 n2:1");
    EXPECT_EQ(world.record().run.steps.back()->distribution, "cyclic");
}

TEST(StepLayout, AnArbitraryOneNamesTheNodeOfEachTask) {
    StepWorld world(kTwoNodes);
    auto named = [](const std::string& list) {
        return [=](StepDemand& demand) { demand.nodelist = list; };
    };
    EXPECT_EQ(step_tasks(world, asking(3, "arbitrary", named("n2,n1,n2"))), "n1:1 n2:2");
    EXPECT_EQ(step_tasks(world, asking(1, "arbitrary", named("n2"))), "n2:1");
    const RequestId full = world.ask("f", asking(3, "arbitrary", named("n2,n2,n2")));
    EXPECT_TRUE(world.is_refused(full, ErrorCode::TooManyCpus));
    const RequestId other = world.ask("o", asking(2, "arbitrary", named("n1,n9")));
    EXPECT_TRUE(world.is_refused(other, ErrorCode::NodeConfigUnavailable));
}

TEST(StepLayout, OvercommitLetsMoreTasksRunThanThereAreCpus) {
    StepWorld world(kTwoNodes);
    auto overcommit = [](StepDemand& demand) { demand.overcommit = true; };
    const RequestId without = world.ask("w", asking(7, ""));
    EXPECT_TRUE(world.is_refused(without, ErrorCode::TooManyCpus));
    EXPECT_EQ(step_tasks(world, asking(9, "block", overcommit)), "n1:6 n2:3");
    EXPECT_EQ(step_tasks(world, asking(1024, "block", overcommit)), "n1:512 n2:512");
    const RequestId most = world.ask("m", asking(1025, "", overcommit));
    EXPECT_TRUE(world.is_refused(most, ErrorCode::InvalidTaskCount));
    // Still only the CPUs that are free, and none beyond those of the tasks.
    auto exact = [&](StepDemand& demand) {
        overcommit(demand);
        demand.overlap = false;
        demand.exact = true;
        demand.cpus_per_task = 3;
    };
    EXPECT_EQ(step_tasks(world, asking(2, "", exact)), "n1:1 n2:1");
    EXPECT_EQ(world.record().run.steps.back()->nodes[0].cpus.size(), 3u);
    EXPECT_EQ(world.record().run.steps.back()->nodes[1].cpus.size(), 2u);
}

TEST(StepLayout, ThreadsPerCoreLeavesTheOtherThreadsIdle) {
    StepWorld world(
        "nodes n1 cpus=8 cores=4 threads=2\nsubmit a cpus=8 time=60\npass\nexpect a running n1");
    auto limited = [](std::uint32_t threads) {
        return [=](StepDemand& demand) {
            demand.threads_per_core = threads;
            demand.overlap = false;
            demand.exact = true;
        };
    };
    EXPECT_TRUE(
        world.is_refused(world.ask("five", asking(5, "", limited(1))), ErrorCode::TooManyCpus));
    EXPECT_EQ(step_tasks(world, asking(3, "", limited(1))), "n1:3");
    EXPECT_EQ(world.record().run.steps.back()->nodes[0].cpus,
              (std::vector<std::uint32_t>{0, 2, 4}));
    // Their other threads do not count as free cores.
    const RequestId waits = world.ask("two", asking(2, "", limited(1)));
    EXPECT_FALSE(world.answer_to(waits));
    EXPECT_EQ(step_tasks(world, asking(1, "", limited(1))), "n1:1");
    EXPECT_EQ(world.record().run.steps.back()->nodes[0].cpus, (std::vector<std::uint32_t>{6}));
    EXPECT_EQ(step_tasks(world, asking(4, "", limited(2))), "n1:4");
    EXPECT_EQ(world.record().run.steps.back()->nodes[0].cpus,
              (std::vector<std::uint32_t>{1, 3, 5, 7}));
}

TEST(StepLayout, RelativeSkipsNodesOfTheJob) {
    StepWorld world(kTwoNodes);
    auto from = [](std::uint32_t first) {
        return [=](StepDemand& demand) { demand.first_node = first; };
    };
    EXPECT_EQ(step_tasks(world, asking(2, "", from(1))), "n2:2");
    EXPECT_EQ(step_tasks(world, asking(1, "", from(0))), "n1:1");
    const RequestId beyond = world.ask("b", asking(1, "", from(2)));
    EXPECT_TRUE(world.is_refused(beyond, ErrorCode::NodeConfigUnavailable));
}

TEST(JobLayout, OvercommitTakesTheCpusOfOneTaskOnEachNode) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2] cpus=4\nsubmit a nodes=2 tasks=9 cpus=3 overcommit\n"
                           "submit b nodes=2 tasks=2\nsubmit c nodes=1 tasks=2 cpus=5 overcommit "
                           "refused\npass\nexpect a running n[1-2]\nexpect b running n[1-2]"),
              "");
    const auto& nodes = scenario.cluster().job(scenario.job("a")).run.allocation->nodes;
    EXPECT_EQ(nodes[0].tasks, 5u);
    EXPECT_EQ(nodes[1].tasks, 4u);
    EXPECT_EQ(nodes[0].cpus.size(), 3u);
}

TEST(JobLayout, AnArbitraryOneGetsTheCpusOfItsListOnEachNode) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-3] cpus=4\nsubmit a nodes=2 tasks=3 nodelist=n3,n2,n3 "
                           "arbitrary\npass\nexpect a running n[2-3]"),
              "");
    const auto& nodes = scenario.cluster().job(scenario.job("a")).run.allocation->nodes;
    EXPECT_EQ(nodes[0].cpus.size(), 1u);
    EXPECT_EQ(nodes[1].cpus.size(), 2u);
}

// ---- time limits

constexpr std::string_view kLimitedJob =
    "nodes n1 cpus=4\nsubmit a cpus=4 time=60\npass\nexpect a running n1";

void tick(StepWorld& world, Seconds after) {
    world.effects.clear();
    apply(world.scenario.cluster(), world.scenario.now() + after, Tick{}, world.effects);
}

std::string reason_of_end(const StepWorld& world) {
    for (const Effect& effect : world.effects) {
        const auto* order = std::get_if<TerminateJob>(&effect);
        if (order && order->only_step) return order->reason_line;
    }
    return "none";
}

TEST(StepLimit, EndsTheStepAndNothingElse) {
    StepWorld world(kLimitedJob);
    world.ask("k", [](StepDemand& demand) { demand.time_limit = TimeLimit{Minutes{2}}; });
    tick(world, Seconds{119});
    EXPECT_EQ(reason_of_end(world), "none");
    tick(world, Seconds{120});
    EXPECT_EQ(reason_of_end(world), " DUE TO TIME LIMIT ***");
    tick(world, Seconds{121});
    EXPECT_EQ(reason_of_end(world), "none");  // once
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {0, 15, false}});
    EXPECT_EQ(world.record().run.steps[0]->state, StepState::Timeout);
    EXPECT_EQ(world.record().state, JobState::Running);
}

TEST(StepLimit, IsKeptByARestartedController) {
    StepWorld world(kLimitedJob);
    world.ask("k", [](StepDemand& demand) { demand.time_limit = TimeLimit{Minutes{2}}; });
    ASSERT_EQ(world.scenario.run("restart"), "");
    tick(world, Seconds{120});
    EXPECT_EQ(reason_of_end(world), " DUE TO TIME LIMIT ***");
}

TEST(StepLimit, CanBeChanged) {
    StepWorld world(kLimitedJob);
    world.ask("k", [](StepDemand& demand) { demand.time_limit = TimeLimit{Minutes{2}}; });
    auto update = [&](StepId step, const std::string& key, const std::string& value) {
        const RequestId request{world.next_request++};
        world.apply_event(
            UpdateJob{request,
                      {UserId{0}, GroupId{0}},
                      {.job = world.job(), .tasks = {}, .het_component = {}, .step = step},
                      parse_job_change({{key, value}}, world.scenario.now()).value()});
        return request;
    };
    update(StepId{0}, "TimeLimit", "4");
    tick(world, Seconds{239});
    EXPECT_EQ(reason_of_end(world), "none");
    update(StepId{0}, "TimeLimit", "UNLIMITED");
    tick(world, Seconds{241});
    EXPECT_EQ(reason_of_end(world), "none");
    update(StepId{0}, "TimeLimit", "1");
    tick(world, Seconds{242});
    EXPECT_EQ(reason_of_end(world), " DUE TO TIME LIMIT ***");
    EXPECT_TRUE(world.is_refused(update(StepId{7}, "TimeLimit", "1"), ErrorCode::InvalidJobId));
    EXPECT_TRUE(world.is_refused(update(StepId{0}, "Comment", "x"), ErrorCode::NotSupported));
}

}  // namespace
}  // namespace sluice
