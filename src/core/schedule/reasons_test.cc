// The words that squeue shows for jobs that wait, as the real thing has them.
#include <gtest/gtest.h>

#include "core/query/reason.h"
#include "core/schedule/scheduler.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

std::string shown(Scenario& world, const std::string& name) {
    const Job& job = world.cluster().job(world.job(name));
    Reason reason = shown_reason(job, world.cluster().partitions(), world.cluster().plan().get());
    return print_reason(reason, job.reason_detail);
}

void update_partition(Scenario& world, const std::string& name, const Changes& changes) {
    Effects effects;
    apply(world.cluster(), world.now(), UpdatePartition{RequestId{1}, kRoot, name, changes}, effects);
    ASSERT_TRUE(std::holds_alternative<Done>(std::get<Reply>(effects.back()).answer));
    schedule(world.cluster(), world.now(), effects);
}

constexpr std::string_view kNodesAreAway =
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";

TEST(Reasons, RulesOfThePartition) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-3] cpus=4
        partition p default maxtime=60 maxnodes=2
        partition whole nodes=n[1-3] state=DOWN
        submit    long   time=90
        submit    wide   nodes=3 time=10
        submit    down   nodes=3 time=10 partition=whole
        pass
        expect    long   pending PartitionTimeLimit
        expect    wide   pending PartitionNodeLimit
        expect    down   pending PartitionDown
    )"), "");
    update_partition(world, "whole", {{"State", "INACTIVE"}});
    EXPECT_EQ(shown(world, "down"), "PartitionInactive");
    update_partition(world, "whole", {{"State", "UP"}, {"MinNodes", "4"}});
    EXPECT_EQ(shown(world, "down"), "PartitionNodeLimit");
    update_partition(world, "whole", {{"MinNodes", "1"}});
    EXPECT_EQ(world.cluster().job(world.job("down")).state, JobState::Running);
}

TEST(Reasons, QosThatThePartitionNoLongerTakes) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        partition p state=DOWN
        submit    job time=10 partition=p
        pass
    )"), "");
    auto settings = std::make_shared<Settings>(world.cluster().settings());
    settings->partitions[0].state = "UP";
    settings->partitions[0].allow_qos = {"high", "low"};
    Effects effects;
    apply(world.cluster(), world.now(), Reconfigure{RequestId{0}, {}, settings}, effects);
    schedule(world.cluster(), world.now(), effects);
    EXPECT_EQ(shown(world, "job"), "Job's QOS not permitted to use this partition (p allows high,low not )");
}

TEST(Reasons, NodesThatAreAway) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-3] cpus=4
        nodes     g[1-2] cpus=4 gres=gpu:2
        down      n1
        down      g1
        submit    all    nodes=5 time=10
        submit    named  nodelist=n1,g1 nodes=2 time=10
        submit    gpus   nodes=2 gres=gpu:1 time=10
        submit    small  time=10
        pass
        expect    small  running n2
    )"), "");
    EXPECT_EQ(shown(world, "all"), kNodesAreAway);
    EXPECT_EQ(shown(world, "named"), "ReqNodeNotAvail, UnavailableNodes:g1,n1");
    EXPECT_EQ(shown(world, "gpus"), "ReqNodeNotAvail, UnavailableNodes:g1,n1");
    std::uint64_t version = world.cluster().take_snapshot(world.now())->version;
    world.cluster().take_changes();
    world.cluster().scheduler().is_planned = false;
    ASSERT_EQ(world.run("submit another hold\n pass"), "");
    EXPECT_EQ(world.cluster().take_changes().jobs.size(), 1u);  // they are not written again and again
    EXPECT_GT(world.cluster().take_snapshot(world.now())->version, version);
    ASSERT_EQ(world.run(R"(
        back      g1
        node      g1 State=RESUME
        pass
        expect    gpus   running g[1-2]
    )"), "");
}

TEST(Reasons, FirstInLineAndThoseBehind) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        partition high default tier=2
        partition low
        submit    runs   cpus=4 time=60
        pass
        submit    first  cpus=4 time=10
        submit    second cpus=3 time=10
        submit    beaten cpus=4 time=10 partition=low
        submit    last   cpus=3 time=10 partition=low
        pass
        expect    first  pending Resources
        expect    second pending Priority
        expect    last   pending Priority
    )"), "");
    EXPECT_EQ(shown(world, "beaten"), kNodesAreAway);
}

TEST(Reasons, InReservations) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-2] cpus=4
        reserve   r start=30 length=300 nodes=n1 users=1000
        submit    early  cpus=4 time=60 reservation=r
        submit    first  cpus=4 time=60 reservation=r
        submit    second cpus=4 time=60 reservation=r
        pass
        expect    early  pending Reservation
        rereserve r users=1001
        at        31
        expect    early  pending Reservation
        rereserve r users=1000
        pass
        expect    early  running n1
        expect    first  pending Resources
        expect    second pending Priority
        down      n1
        pass
    )"), "");
    EXPECT_EQ(shown(world, "early"), "ReqNodeNotAvail, UnavailableNodes:n1");  // it runs again
    EXPECT_EQ(shown(world, "first"), "Priority");
    ASSERT_EQ(world.run("cancel early\n at 400"), "");
    EXPECT_EQ(shown(world, "first"), "Reservation r was deleted");
}

TEST(Reasons, HoldsAndRequeues) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        submit    job time=10
        pass
    )"), "");
    Effects effects;
    apply(world.cluster(), world.now(),
          ControlJobs{RequestId{1}, kRoot, JobVerb::RequeueHold, {{.job = world.job("job"), .tasks = {}, .het_component = {}, .step = {}}}},
          effects);
    ASSERT_EQ(world.run("clean job n1"), "");
    EXPECT_EQ(shown(world, "job"), "job requeued in held state");
    ASSERT_EQ(world.run("hold job"), "");
    EXPECT_EQ(shown(world, "job"), "JobHeldAdmin");
    ASSERT_EQ(world.run("release job\n pass\n expect job running n1"), "");
}

}  // namespace
}  // namespace sluice
