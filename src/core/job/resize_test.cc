// core/job/resize_test.cc: running jobs that become smaller, or larger by the nodes of another.
#include "core/job/resize.h"

#include <gtest/gtest.h>

#include <csignal>

#include "model/errors.h"
#include "model/job_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

const Node& node_of(Scenario& world, const std::string& name) {
    return world.cluster().node(*world.cluster().find_node(name));
}

Answer answer_to_update(Scenario& world, UserId user, const std::string& job,
                        const KeyTexts& keys) {
    Effects effects;
    const JobChange change = parse_job_change(keys, world.now()).value();
    JobRef ref{.job = world.job(job), .tasks = {}, .het_component = {}, .step = {}};
    apply(world.cluster(), world.now(),
          UpdateJob{RequestId{900}, {user, GroupId{100}}, ref, change}, effects);
    return std::get<Reply>(effects.back()).answer;
}

constexpr const char* kWide = R"(
    nodes   n[1-3] cpus=4 mem=1000 gres=gpu:a40:2
    submit  wide nodes=3 tasks=3 cpus=2 mem=400 gres=gpu:2
    submit  next mem=900 gres=gpu:2
    pass
    expect  wide running n[1-3]
    expect  next pending
)";

TEST(Shrink, NodesAreForOthersOnceNothingOfTheJobIsLeftThere) {
    Scenario world;
    ASSERT_EQ(world.run(kWide), "");
    ASSERT_EQ(world.run(R"(
        update  wide NumNodes=2
        expect  wide running n[1-2]
        pass
        expect  next pending
    )"),
              "");
    const auto* order = std::get_if<TerminateJob>(&world.effects().at(world.effects().size() - 2));
    ASSERT_NE(order, nullptr);
    EXPECT_EQ(order->node, *world.cluster().find_node("n3"));
    EXPECT_EQ(order->grace, Seconds{0});
    EXPECT_EQ(world.cluster().job(world.job("wide")).run.allocation->cpus(), 4u);
    EXPECT_EQ(node_of(world, "n3").cpus_used, 0u);
    EXPECT_EQ(node_of(world, "n3").memory_used, 0u);
    EXPECT_EQ(node_of(world, "n3").gres.front().used_count, 0u);
    EXPECT_EQ(node_of(world, "n2").gres.front().used_count, 2u);
    EXPECT_EQ(world.run(R"(
        clean   wide n3
        pass
        expect  next running n3
        end     wide
        clean   wide n2
        expect  wide completed
    )"),
              "");
}

TEST(Shrink, NamedNodesStayAndARestartChangesNothing) {
    Scenario world;
    ASSERT_EQ(world.run(kWide), "");
    EXPECT_EQ(world.run(R"(
        update  wide NodeList=n1,n3
        expect  wide running n[1,3]
        restart
        expect  wide running n[1,3]
        pass
        expect  next running n2
        update  wide ReqNodeList=n1 TimeLimit=5
        expect  wide running n1
        down    n3
        expect  wide running n1
    )"),
              "");
}

TEST(Shrink, WhatWouldBeNoSmallerJobIsRefused) {
    Scenario world;
    ASSERT_EQ(world.run(kWide), "");
    EXPECT_EQ(world.run(R"(
        update  wide NumNodes=0 refused
        update  wide NumNodes=4 refused
        update  wide NumNodes=1-2 refused
        update  wide NodeList=n[2-3] refused      # the script runs on n1
        update  wide NodeList=n1,n9 refused
        update  wide NodeList= refused
        update  wide NumNodes=1 Deadline=never refused
        update  wide NumNodes=3
        update  wide NumNodes=ALL
        expect  wide running n[1-3]
        settings noshrink
        update  wide NumNodes=2 refused
        expect  wide running n[1-3]
    )"),
              "");
    Answer foreign = answer_to_update(world, UserId{1001}, "wide", {{"NumNodes", "1"}});
    ASSERT_TRUE(std::holds_alternative<Error>(foreign));
    EXPECT_EQ(std::get<Error>(foreign).code, ErrorCode::AccessDenied);
}

TEST(Shrink, PendingAndSuspendedJobs) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-3] cpus=4
        submit  waits nodes=3 tasks=3 hold
        update  waits NumNodes=2
        update  waits NodeList=n[2-3]
        release waits
        pass
        expect  waits running n[2-3]
        suspend waits
        update  waits NumNodes=1
        resume  waits
        expect  waits running n2
        submit  shell nodes=2 interactive
        pass
        expect  shell running n[1-2]
        update  shell NodeList=n2
        expect  shell running n2
    )");
}

TEST(Shrink, StepsGoOnWithoutTheNodesOrEnd) {
    Scenario world;
    ASSERT_EQ(world.run(kWide), "");
    Effects effects;
    auto step = [&](const std::string& nodes, std::uint32_t count) {
        StepDemand demand{.job = world.job("wide"),
                          .name = "s",
                          .ntasks = count,
                          .ntasks_per_node = {},
                          .cpus_per_task = {},
                          .mem_per_node = {},
                          .mem_per_cpu = {}};
        demand.nodelist = nodes;
        demand.nodes_min = demand.nodes_max = count;
        demand.overlap = true;
        apply(world.cluster(), world.now(),
              CreateStep{RequestId{901}, {UserId{1000}, GroupId{100}}, demand}, effects);
    };
    step("n[1-3]", 3);
    step("n3", 1);
    ASSERT_EQ(world.cluster().job(world.job("wide")).run.steps.size(), 2u);
    ASSERT_EQ(world.run("update wide NumNodes=2"), "");
    const Job& job = world.cluster().job(world.job("wide"));
    EXPECT_EQ(job.run.steps[0]->state, StepState::Running);
    EXPECT_EQ(job.run.steps[0]->node_names, "n[1-2]");
    EXPECT_EQ(job.run.steps[0]->nodes_left.size(), 2u);
    EXPECT_EQ(job.run.steps[0]->tasks, 2u);
    EXPECT_EQ(job.run.steps[1]->state, StepState::Failed);
    EXPECT_EQ(job.run.steps[1]->exit.signal, SIGKILL);
    // srun without a count: one task for each node, as the three of the request have no room.
    StepDemand demand;
    demand.job = job.id;
    demand.name = "s";
    demand.overlap = true;
    apply(world.cluster(), world.now(),
          CreateStep{RequestId{902}, {UserId{1000}, GroupId{100}}, demand}, effects);
    const auto* granted = std::get_if<StepGranted>(&std::get<Reply>(effects.back()).answer);
    ASSERT_NE(granted, nullptr);
    EXPECT_EQ(granted->step->tasks, 2u);
}

constexpr const char* kTwo = R"(
    settings expansion
    nodes   n[1-4] cpus=4 mem=1000 gres=gpu:a40:2
    submit  first cpus=2 mem=300 gres=gpu:1 time=60 nodelist=n2
    pass
    submit  more nodes=2 tasks=2 cpus=4 mem=500 gres=gpu:2 time=60 nodelist=n1,n3 interactive depend=expand:first
    pass
    expect  first running n2
    expect  more running n[1,3]
)";

TEST(Expand, AllThatTheSecondJobHoldsBecomesTheFirstOnes) {
    Scenario world;
    ASSERT_EQ(world.run(kTwo), "");
    ASSERT_EQ(world.run(R"(
        submit  other cpus=4 nodelist=n3
        update  first NumNodes=0 refused
        update  more NumNodes=0
        expect  more completed
        expect  first running n[2,1,3]            # the script's node comes first
        pass
        expect  other pending
        clean   more n1
        clean   more n3
        pass
        expect  other pending
    )"),
              "");
    auto check = [&] {
        const Allocation& held = *world.cluster().job(world.job("first")).run.allocation;
        EXPECT_EQ(held.cpus(), 10u);
        EXPECT_EQ(node_of(world, "n1").cpus_used, 4u);
        EXPECT_EQ(node_of(world, "n3").memory_used, 500u);
        EXPECT_EQ(node_of(world, "n3").gres.front().used_count, 2u);
        EXPECT_EQ(node_of(world, "n3").jobs, std::vector{world.job("first")});
    };
    check();
    ASSERT_EQ(world.run("restart\n expect first running n[2,1,3]\n expect more completed"), "");
    check();
    EXPECT_EQ(world.run(R"(
        update  first NumNodes=2
        expect  first running n[2,1]
        clean   first n3
        pass
        expect  other running n3
        end     first
        clean   first n1
        expect  first completed
    )"),
              "");
}

TEST(Expand, SharesOfTheSameNodeAddUp) {
    EXPECT_SCENARIO(R"(
        settings expansion
        nodes   n1 cpus=4 mem=1000 gres=gpu:a40:2
        submit  first mem=300 gres=gpu:1 time=60 interactive
        pass
        submit  more mem=200 gres=gpu:1 time=60 interactive depend=expand:first
        pass
        update  more NumNodes=0
        expect  first running n1
        holds   first cpus=0-1 mem=500
        cancel  first
        clean   first n1
        expect  first cancelled
    )");
}

TEST(Expand, TheSecondJobWaitsForTheFirst) {
    EXPECT_SCENARIO(R"(
        settings expansion
        nodes   n[1-2] cpus=4
        submit  first hold
        submit  more interactive depend=expand:first
        pass
        expect  more pending Dependency
        release first
        pass
        at      1
        expect  more running
        submit  never hold
        submit  late interactive depend=expand:never
        cancel  never
        expect  late pending DependencyNeverSatisfied
    )");
}

TEST(Expand, WhoMayNotIsRefused) {
    Scenario world;
    ASSERT_EQ(world.run(kTwo), "");
    EXPECT_EQ(world.run(R"(
        submit  a user=1001 depend=expand:first refused=dependency
        submit  a depend=expand:77 refused=dependency
        submit  a array=1-2 depend=expand:first refused=dependency
        submit  script nodelist=n4 time=60 depend=expand:first
        submit  short nodelist=n4 time=5 interactive depend=expand:first
        submit  near nodelist=n2 time=60 interactive depend=expand:first
        pass
        expect  script running n4
        update  script NumNodes=0 refused         # something runs in it
        update  short NumNodes=0 refused          # first would keep n4 for longer
        update  near NumNodes=0 refused           # the script of first is confined to what it has on n2
        end     first
        update  more NumNodes=0 refused           # nobody is there to take them
        expect  more running n[1,3]
    )"),
              "");
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        submit  first
        pass
        submit  more interactive depend=expand:first refused=--dependency=expand
    )");
}

}  // namespace
}  // namespace sluice
