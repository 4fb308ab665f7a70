// Steps among lost answers, lost orders and jobs that end: whatever is granted is launched, or
// ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <set>

#include "core/query/listing.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "testkit/step_world.h"

namespace sluice {
namespace {

using World = StepWorld;

constexpr std::string_view kOneJob =
    "nodes n1 cpus=4\nsubmit a cpus=4 time=60\npass\nexpect a running n1";

TEST(Steps, WhoAsksAgainGetsTheSameStep) {
    World world(kOneJob);
    RequestId first = world.ask("k"), again = world.ask("k");
    ASSERT_TRUE(world.step_of(first));
    EXPECT_EQ(world.step_of(again), world.step_of(first));
    EXPECT_EQ(world.record().run.steps.size(), 1u);
}

TEST(Steps, OneThatNobodyHeardOfEnds) {
    World world(kOneJob);
    RequestId lost = world.ask("k");
    RequestId next = world.ask("other");
    EXPECT_FALSE(world.answer_to(next));  // all CPUs are in use
    world.apply_event(RequestDropped{lost});
    EXPECT_EQ(world.orders_to_end(StepId{0}), 1u);
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {0, 9, false}});
    EXPECT_EQ(world.step_of(next), StepId{1});
}

TEST(Steps, OneThatWasAskedForAgainOutlivesTheFirstConnection) {
    World world(kOneJob);
    RequestId lost = world.ask("k");
    world.ask("k");
    world.apply_event(RequestDropped{lost});
    EXPECT_EQ(world.orders_to_end(StepId{0}), 0u);
}

constexpr std::string_view kUnevenJob =
    "nodes n1 cpus=1\nnodes n2 cpus=4\nsubmit a nodes=2 tasks=5 time=60\npass\n"
    "expect a running n[1-2]";

TEST(Steps, WhatTheWholeJobHasNoRoomForIsRefusedRatherThanKeptWaiting) {
    World world(kUnevenJob);
    RequestId too_wide = world.ask("wide", [](StepDemand& demand) {
        demand.nodes_min = demand.nodes_max = 2;
        demand.ntasks = demand.cpus_per_task = 2;
        demand.exact = true;
    });
    EXPECT_TRUE(world.is_refused(too_wide, ErrorCode::TooManyCpus));
    RequestId too_thin = world.ask("thin", [](StepDemand& demand) {
        demand.ntasks = 5;
        demand.ntasks_per_node = 1;
    });
    EXPECT_TRUE(world.is_refused(too_thin, ErrorCode::TooManyCpus));
    RequestId too_many = world.ask("many", [](StepDemand& demand) {
        demand.ntasks = 9;
        demand.overlap = true;
    });
    EXPECT_TRUE(world.is_refused(too_many, ErrorCode::TooManyCpus));
}

TEST(Steps, ANodeTooSmallForATaskIsLeftOut) {
    for (std::uint32_t least : {0u, 1u}) {
        World world(kUnevenJob);
        RequestId request = world.ask("k", [&](StepDemand& demand) {
            demand.nodes_min = least;
            if (least > 0) demand.nodes_max = 2;
            demand.ntasks = demand.cpus_per_task = 2;
            demand.exact = true;
        });
        ASSERT_TRUE(world.granted(request));
        EXPECT_EQ(world.granted(request)->node_names, "n2");
        EXPECT_EQ(world.granted(request)->nodes.front().tasks, 2u);
    }
}

TEST(Steps, WhatFitsOnNoNodeIsRefused) {
    World world(kUnevenJob);
    RequestId request = world.ask("k", [](StepDemand& demand) { demand.cpus_per_task = 5; });
    EXPECT_TRUE(world.is_refused(request, ErrorCode::TooManyCpus));
}

TEST(Steps, MoreMemoryThanTheJobHasIsRefused) {
    World world(
        "nodes n1 cpus=4 mem=1000\nsubmit a cpus=4 mem=400 time=60\npass\nexpect a running n1");
    RequestId node = world.ask("node", [](StepDemand& demand) { demand.mem_per_node = 401; });
    EXPECT_TRUE(world.is_refused(node, ErrorCode::MemoryInvalid));
    RequestId cpu = world.ask("cpu", [](StepDemand& demand) { demand.mem_per_cpu = 401; });
    EXPECT_TRUE(world.is_refused(cpu, ErrorCode::MemoryInvalid));
    RequestId tasks = world.ask("tasks", [](StepDemand& demand) {
        demand.ntasks = 4;
        demand.mem_per_cpu = 101;
    });
    EXPECT_TRUE(world.is_refused(tasks, ErrorCode::TooManyCpus));
}

TEST(Steps, OneHasTheMemoryThatItAsksForAndOtherwiseAllOfTheJobs) {
    constexpr std::string_view kJob =
        "nodes n1 cpus=4 mem=1000\nsubmit a cpus=4 mem=400 time=60\npass\nexpect a running n1";
    auto memory = [&](const std::function<void(StepDemand&)>& change) {
        World world(kJob);
        const Step* step = world.granted(world.ask("k", change));
        return step ? std::optional(step->nodes.front().memory) : std::nullopt;
    };
    EXPECT_EQ(memory({}), 400u);
    EXPECT_EQ(memory([](StepDemand& demand) { demand.mem_per_node = 0; }), 400u);
    EXPECT_EQ(memory([](StepDemand& demand) { demand.mem_per_node = 300; }), 300u);
    EXPECT_EQ(memory([](StepDemand& demand) {
                  demand.ntasks = 2;
                  demand.mem_per_cpu = 60;
                  demand.exact = true;
              }),
              120u);
    // It has all four CPUs, but not more memory than there is for them.
    EXPECT_EQ(memory([](StepDemand& demand) {
                  demand.ntasks = 1;
                  demand.mem_per_cpu = 200;
              }),
              400u);
}

TEST(Steps, WhoAsksForMemoryKeepsItFromOthersWhoDo) {
    World world(
        "nodes n1 cpus=4 mem=1000\nsubmit a cpus=4 mem=400 time=60\npass\nexpect a running n1");
    auto ask = [&](std::string key, Megabytes memory, bool overlap = false) {
        return world.ask(std::move(key), [&](StepDemand& demand) {
            demand.ntasks = 1;
            demand.exact = true;
            demand.overlap = overlap;
            demand.mem_per_node = memory;
        });
    };
    const RequestId first = ask("first", 300);
    const RequestId second = ask("second", 200);
    ASSERT_TRUE(world.granted(first));
    EXPECT_FALSE(world.answer_to(second)) << "waits";
    EXPECT_TRUE(world.granted(ask("fits", 100)));
    EXPECT_TRUE(world.granted(ask("shares", 0)));
    EXPECT_TRUE(world.granted(ask("overlaps", 400, true)));
    world.apply_event(StepEnded{kNode, world.run(*world.step_of(first)), {}});
    EXPECT_TRUE(world.granted(second));
}

TEST(Steps, TheJobRemembersHowAStepEndedThatWasEndedWithIt) {
    World world(kOneJob);
    world.ask("k");
    ASSERT_EQ(world.scenario.run("cancel a"), "");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {0, 15, false}});
    EXPECT_EQ(world.record().run.derived_exit.signal, 15);
}

TEST(Steps, OneEndsAsTheWorstOfItsNodes) {
    World world("nodes n[1-2]\nsubmit a nodes=2 tasks=2 time=60\npass\nexpect a running n[1-2]");
    ASSERT_TRUE(world.step_of(world.ask("k")));
    const RunId step = world.run(StepId{0});
    world.apply_event(StepEnded{NodeIndex{0}, step, {3, 0, false}});
    world.apply_event(StepEnded{NodeIndex{1}, step, {0, 0, false}});
    EXPECT_EQ(world.record().run.steps.at(0)->exit.code, 3);
    EXPECT_EQ(world.record().run.steps.at(0)->state, StepState::Failed);
    EXPECT_EQ(world.record().run.derived_exit.code, 3);
}

Usage measured(std::int64_t cpu, std::uint64_t memory) {
    return {Microseconds{cpu}, Microseconds{1}, memory, {}};
}

TEST(Steps, OneHasUsedWhatItsNodesMeasuredEachOnce) {
    World world("nodes n[1-2]\nsubmit a nodes=2 tasks=2 time=60\npass\nexpect a running n[1-2]");
    ASSERT_TRUE(world.step_of(world.ask("k")));
    const RunId step = world.run(StepId{0});
    const StepEnded first{NodeIndex{0}, step, {}, false, measured(10, 200)};
    world.apply_event(first);
    world.apply_event(first);  // the node did not hear the acknowledgement
    world.apply_event(StepEnded{NodeIndex{1}, step, {}, false, measured(20, 100)});
    const Usage expected{Microseconds{30}, Microseconds{2}, 200, "n1"};
    EXPECT_EQ(world.record().run.steps.at(0)->usage, expected);
}

TEST(Steps, OneThatWasEndedWithItsJobHasUsedWhatIsReportedLater) {
    World world(kOneJob);
    world.ask("k");
    ASSERT_EQ(world.scenario.run("cancel a"), "");
    const StepEnded report{kNode, world.run(StepId{0}), {0, 15, false}, false, measured(10, 200)};
    world.apply_event(report);
    world.apply_event(report);
    EXPECT_EQ(world.record().run.steps.at(0)->usage.cpu_user, Microseconds{10});
    EXPECT_EQ(world.record().run.steps.at(0)->state, StepState::Cancelled);
}

TEST(Steps, OnlyTheirNodesAreBelieved) {
    World world("nodes n[1-2]\nsubmit a time=60\npass\nexpect a running n1");
    ASSERT_TRUE(world.step_of(world.ask("k")));
    world.apply_event(StepEnded{NodeIndex{1}, world.run(StepId{0}), {3, 0, false}});
    EXPECT_EQ(world.record().run.steps.at(0)->state, StepState::Running);
    EXPECT_EQ(world.record().run.steps.at(0)->exit.code, 0);
}

TEST(Steps, WhatFitsOnlyWithoutTheOthersWaitsForThem) {
    World world(kUnevenJob);
    world.ask("first");
    RequestId next = world.ask("next", [](StepDemand& demand) { demand.ntasks = 5; });
    EXPECT_FALSE(world.answer_to(next));
    for (NodeIndex node : {NodeIndex{0}, NodeIndex{1}})
        world.apply_event(StepEnded{node, world.run(StepId{0}), {}});
    EXPECT_EQ(world.step_of(next), StepId{1});
}

TEST(Steps, ATaskCountThatOnlyALaterNodeHasRoomForGoesThere) {
    World world(kUnevenJob);
    RequestId request = world.ask("k", [](StepDemand& demand) {
        demand.nodes_min = demand.nodes_max = 1;
        demand.ntasks = 4;
    });
    ASSERT_TRUE(world.granted(request));
    EXPECT_EQ(world.granted(request)->node_names, "n2");
}

TEST(Steps, OneThatAsksForNoGpusHasNone) {
    World world(
        "nodes n1 cpus=4 gres=gpu:2\nsubmit a cpus=4 gres=gpu:2 time=60\npass\n"
        "expect a running n1");
    auto none = [](StepDemand& demand) {
        demand.overlap = true;
        demand.gres_per_node = {{.name = "gpu", .type = "", .count = 0}};
    };
    RequestId without = world.ask("none", none);
    RequestId all = world.ask("all", [](StepDemand& demand) { demand.overlap = true; });
    ASSERT_TRUE(world.granted(without) && world.granted(all));
    EXPECT_TRUE(world.granted(without)->nodes[0].gres.empty());
    ASSERT_EQ(world.granted(all)->nodes[0].gres.size(), 1u);
    EXPECT_EQ(world.granted(all)->nodes[0].gres[0].count, 2u);
}

// 65536 tasks with 2^48 GPUs each are 2^64 of them, and one task more is 2^48 above that.
TEST(Steps, GpusPerTaskThatDoNotFitIntoANumberAreRefused) {
    World world(
        "nodes n1 cpus=65537 gres=gpu:2\nsubmit a cpus=65537 gres=gpu:2 time=60\npass\n"
        "expect a running n1");
    for (std::uint32_t tasks : {65536u, 65537u}) {
        const RequestId request = world.ask(std::to_string(tasks), [&](StepDemand& demand) {
            demand.ntasks = tasks;
            demand.gpus_per_task = {{"gpu", "", sizes::kAmount}};
        });
        EXPECT_TRUE(world.is_refused(request, ErrorCode::InvalidGres)) << tasks;
    }
}

// 2^30 tasks on each of four nodes are 2^32 of them.
TEST(Steps, TasksPerNodeThatDoNotFitIntoANumberAreNotFewer) {
    World world("nodes n[1-4] cpus=1\nsubmit a nodes=4 time=60\npass\nexpect a running n[1-4]");
    const RequestId request =
        world.ask("k", [](StepDemand& demand) { demand.ntasks_per_node = sizes::kCount; });
    EXPECT_TRUE(world.is_refused(request, ErrorCode::TooManyCpus));
}

TEST(Steps, ListingsSayWhatOneAskedForOnEachNode) {
    World world(
        "nodes n1 cpus=4 gres=gpu:2\nsubmit a cpus=4 gres=gpu:2 time=60\npass\n"
        "expect a running n1");
    world.ask("one", [](StepDemand& demand) { demand.gres_per_node = {{"gpu", "", 1}}; });
    Cluster& cluster = world.scenario.cluster();
    auto table =
        list_rows(*cluster.take_snapshot(world.scenario.now()), TableKind::Steps,
                  {static_cast<ColumnId>(StepColumn::TresPerNode)}, {}, Viewer({}, UserId{0}));
    ASSERT_TRUE(table);
    std::set<std::string> shown;
    for (std::size_t row = 0; row < table->rows(); ++row)
        shown.emplace(table->text(row, StepColumn::TresPerNode));
    EXPECT_TRUE(shown.contains("gres/gpu:1"));
}

TEST(Steps, ANodeThatMissedTheCancellationHearsItAgain) {
    World world(kOneJob);
    world.ask("k");
    CancelJobs cancel{.request = RequestId{1}, .caller = {}, .filter = {}};
    cancel.filter.jobs.push_back(
        {.job = world.job(), .tasks = {}, .het_component = {}, .step = StepId{0}});
    world.apply_event(NodeDisconnected{kNode});
    world.apply_event(cancel);
    world.effects.clear();
    world.register_node({world.run(kBatchStep), world.run(StepId{0})});
    EXPECT_EQ(world.orders_to_end(StepId{0}), 1u);
}

// A reboot swept it away, or its srun died before it launched it.
TEST(Steps, OneThatItsNodeDoesNotKnowEnds) {
    World world(kOneJob);
    world.ask("k");
    world.register_node({world.run(kBatchStep)});
    EXPECT_EQ(world.orders_to_end(StepId{0}), 0u);  // it may be on its way
    ASSERT_EQ(world.scenario.run("at 5"), "");
    world.register_node({world.run(kBatchStep)});
    EXPECT_EQ(world.orders_to_end(StepId{0}), 1u);
}

TEST(Steps, AnotherBootEndsThemAtOnce) {
    World world("nodes n1 cpus=4\nsubmit a cpus=4 time=60 interactive\npass\nexpect a running n1");
    world.ask("k");
    world.register_node({}, "another");
    EXPECT_EQ(world.orders_to_end(StepId{0}), 1u);
}

TEST(Steps, ASuspendedJobsWaitUntilItGoesOn) {
    World world(kOneJob);
    world.ask("k");
    RequestId waiting = world.ask("other");
    ASSERT_EQ(world.scenario.run("suspend a"), "");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {}});
    EXPECT_FALSE(world.answer_to(waiting));
    world.apply_event(
        ControlJobs{RequestId{2},
                    {},
                    JobVerb::Resume,
                    {{.job = world.job(), .tasks = {}, .het_component = {}, .step = {}}}});
    EXPECT_EQ(world.step_of(waiting), StepId{1});
}

TEST(Steps, ThoseThatWaitForARequeuedJobHearThatItIsOver) {
    World world(kOneJob);
    world.ask("k");
    RequestId waiting = world.ask("other");
    world.apply_event(
        ControlJobs{RequestId{2},
                    {},
                    JobVerb::Requeue,
                    {{.job = world.job(), .tasks = {}, .het_component = {}, .step = {}}}});
    ASSERT_TRUE(world.answer_to(waiting));
    EXPECT_TRUE(std::holds_alternative<Error>(*world.answer_to(waiting)));
}

// srun --jobid came before the order to launch, which was lost.
TEST(Steps, DoNotStandInForTheirScript) {
    World world(kOneJob);
    world.ask("k");
    world.register_node({world.run(StepId{0})});
    bool launched = std::any_of(
        world.effects.begin(), world.effects.end(),
        [](const Effect& effect) { return std::holds_alternative<LaunchBatch>(effect); });
    EXPECT_TRUE(launched);
}

// Two nodes, and the second is lost while an srun is on its way to it.
constexpr std::string_view kLostNode =
    "nodes n[1-2] cpus=4\nsubmit a nodes=2 tasks=2 time=60 norequeue\npass\n"
    "expect a running n[1-2]";

TEST(Steps, OneThatComesAfterItsJobWasGivenUpThereEnds) {
    World world(kLostNode);
    world.ask("k");
    RunId whole = world.run(kBatchStep), step = world.run(StepId{0});
    constexpr NodeIndex kLost{1};
    ASSERT_EQ(world.scenario.run("lost n2\nat 6\nback n2"), "");
    world.effects.clear();
    world.apply_event(LaunchReported{kLost, step, {}});
    ASSERT_EQ(world.effects.size(), 1u);
    const auto* order = std::get_if<TerminateJob>(&world.effects[0]);
    ASSERT_TRUE(order);
    EXPECT_EQ(order->run, whole);
    EXPECT_EQ(order->node, kLost);
    const Cluster& cluster = world.scenario.cluster();
    EXPECT_EQ(cluster.node(kLost).orphans, std::vector<RunId>{whole});  // so it takes no others yet
    world.apply_event(NodeCleaned{kLost, whole});
    EXPECT_TRUE(cluster.node(kLost).orphans.empty());
}

// Its slurmd was told to end it before, and has been restarted since.
TEST(Steps, OneThatComesAfterItWasEndedEnds) {
    World world(kOneJob);
    world.ask("k");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {0, 9, false}});
    world.apply_event(LaunchReported{kNode, world.run(StepId{0}), {}});
    EXPECT_EQ(world.orders_to_end(StepId{0}), 1u);
}

TEST(Steps, OneThatIsWantedStays) {
    World world(kOneJob);
    world.ask("k");
    world.effects.clear();
    world.apply_event(LaunchReported{kNode, world.run(StepId{0}), {}});
    EXPECT_TRUE(world.effects.empty());
    EXPECT_FALSE(world.record().run.launched);  // that is said of the script
}

TEST(Steps, OneThatComesToASuspendedJobIsStopped) {
    World world(kOneJob);
    world.ask("k");
    ASSERT_EQ(world.scenario.run("suspend a"), "");
    world.effects.clear();
    world.apply_event(LaunchReported{kNode, world.run(StepId{0}), {}});
    ASSERT_EQ(world.effects.size(), 1u);
    EXPECT_EQ(std::get<SignalJob>(world.effects[0]).signal, SIGSTOP);
}

void hear_from_node(World& world) {
    world.apply_event(NodeHeartbeat{kNode, 0, 0});
}

// Its srun was killed before it had brought it.
TEST(Steps, OneThatIsNotBroughtInTimeEnds) {
    World world(kOneJob);
    world.ask("k");
    ASSERT_EQ(world.scenario.run("at 1"), "");
    EXPECT_EQ(world.orders_to_end(StepId{0}), 0u);
    ASSERT_EQ(world.scenario.run("at 3"), "");
    hear_from_node(world);
    ASSERT_EQ(world.scenario.run("at 5"), "");
    std::size_t orders = 0;
    for (const Effect& effect : world.scenario.effects()) {
        const auto* order = std::get_if<TerminateJob>(&effect);
        orders += order && order->only_step && order->run == world.run(StepId{0});
    }
    EXPECT_EQ(orders, 1u);
}

TEST(Steps, OneThatItsNodesHaveStays) {
    World world(kOneJob);
    world.ask("k");
    world.apply_event(LaunchReported{kNode, world.run(StepId{0}), {}});
    ASSERT_EQ(world.scenario.run("restart"), "");
    world.register_node({world.run(kBatchStep), world.run(StepId{0})});
    hear_from_node(world);
    ASSERT_EQ(world.scenario.run("at 10"), "");
    for (const Effect& effect : world.scenario.effects())
        EXPECT_FALSE(std::holds_alternative<TerminateJob>(effect));
    EXPECT_EQ(world.orders_to_end(StepId{0}), 0u);
}

// Two on one node and one on the other: a total is no number for each node.
TEST(Steps, GpusInAllComeFromWhereTheyAre) {
    World world("nodes n[1-2] cpus=4 gres=gpu:2\nsubmit a gpus=3\npass\nexpect a running n[1-2]");
    auto gpus = [&](std::uint64_t count) {
        const Step* step = world.granted(world.ask(std::to_string(count), [&](StepDemand& demand) {
            demand.gpus = {{"gpu", "", count}};
            demand.overlap = true;
        }));
        std::vector<std::uint64_t> counts;
        if (!step) return counts;
        for (const NodeShare& share : step->nodes) {
            counts.push_back(share.gres.empty() ? 0 : share.gres.front().count);
        }
        return counts;
    };
    EXPECT_EQ(gpus(3), (std::vector<std::uint64_t>{2, 1}));
    EXPECT_EQ(gpus(2), (std::vector<std::uint64_t>{1, 1}));
    EXPECT_EQ(gpus(1), (std::vector<std::uint64_t>{1, 0}));
    EXPECT_EQ(gpus(4), std::vector<std::uint64_t>{});
}

// A job that srun made for itself.
constexpr std::string_view kOwnJob =
    "nodes n1 cpus=4\nsubmit a cpus=4 time=60 srun\npass\nexpect a running n1";

void tick_after(World& world, Seconds time) {
    apply(world.scenario.cluster(), world.scenario.now() + time, Tick{}, world.effects);
}

TEST(OwnJobOfAnSrun, IsCancelledWhenItsSrunIsLost) {
    World world(kOwnJob);
    world.ask("k");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {3, 0, false}, true});
    EXPECT_EQ(world.record().state, JobState::Cancelled);
    EXPECT_FALSE(world.record().run.exit.failed());
    EXPECT_EQ(world.orders_to_end(StepId{0}), 0u);
}

TEST(OwnJobOfAnSrun, EndsAsItsStepWhenItsSrunSaysNothing) {
    World world(kOwnJob);
    world.ask("k");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {3, 0, false}});
    tick_after(world, Seconds{9});
    EXPECT_EQ(world.record().state, JobState::Running);
    tick_after(world, Seconds{10});
    EXPECT_EQ(world.record().state, JobState::Failed);
    EXPECT_EQ(world.record().run.exit.code, 3);
}

TEST(OwnJobOfAnSrun, EndsAsItsSrunSaysWhenItDoes) {
    World world(kOwnJob);
    world.ask("k");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {3, 0, false}});
    world.apply_event(
        CompleteJob{RequestId{1}, {UserId{0}, GroupId{0}}, world.job(), {7, 0, false}});
    tick_after(world, Seconds{10});
    EXPECT_EQ(world.record().state, JobState::Failed);
    EXPECT_EQ(world.record().run.exit.code, 7);
}

TEST(OwnJobOfAnSrun, StaysWhileAnyStepRuns) {
    World world(kOwnJob);
    auto overlap = [](StepDemand& demand) { demand.overlap = true; };
    world.ask("outer", overlap);
    world.ask("inner", overlap);
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {0, 15, false}, true});
    tick_after(world, Seconds{60});
    EXPECT_EQ(world.record().state, JobState::Running);
    world.apply_event(StepEnded{kNode, world.run(StepId{1}), {0, 15, false}, true});
    EXPECT_EQ(world.record().state, JobState::Cancelled);
}

TEST(OwnJobOfAnSrun, IsCancelledWhenNobodyAsksForItsStep) {
    World world(kOwnJob);
    tick_after(world, Seconds{59});
    EXPECT_EQ(world.record().state, JobState::Running);
    ASSERT_EQ(world.scenario.run("restart"), "");  // it begins anew
    tick_after(world, Seconds{60});
    EXPECT_EQ(world.record().state, JobState::Cancelled);
}

TEST(OwnJobOfAnSrun, IsNotThatOfAnSalloc) {
    World world("nodes n1 cpus=4\nsubmit a cpus=4 time=60 interactive\npass\nexpect a running n1");
    world.ask("k");
    world.apply_event(StepEnded{kNode, world.run(StepId{0}), {0, 15, false}, true});
    tick_after(world, Seconds{60});
    EXPECT_EQ(world.record().state, JobState::Running);
}

}  // namespace
}  // namespace sluice
