// The words that squeue shows for jobs that wait, as the real thing has them.
#include <gtest/gtest.h>

#include "core/query/reason.h"
#include "core/schedule/scheduler.h"
#include "model/job_keys.h"
#include "model/partition_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

std::string shown(Scenario& world, const std::string& name) {
    const Job& job = world.cluster().job(world.job(name));
    Reason reason = shown_reason(job, world.cluster().partitions(), world.cluster().plan().get());
    return print_reason(reason, shown_detail(job, world.cluster().plan().get()));
}

void update_partition(Scenario& world, const std::string& name, const KeyTexts& keys) {
    Effects effects;
    const PartitionChange change = parse_partition_change(keys).value();
    apply(world.cluster(), world.now(), UpdatePartition{RequestId{1}, kRoot, name, change},
          effects);
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
    )"),
              "");
    update_partition(world, "whole", {{"State", "INACTIVE"}});
    EXPECT_EQ(shown(world, "down"), "PartitionInactive");
    update_partition(world, "whole", {{"State", "UP"}, {"MinNodes", "4"}});
    EXPECT_EQ(shown(world, "down"), "PartitionNodeLimit");
    update_partition(world, "whole", {{"MinNodes", "1"}});
    EXPECT_EQ(world.cluster().job(world.job("down")).state, JobState::Running);
}

TEST(Reasons, FirstInLineInOneOfItsPartitions) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        partition lo tier=1 default
        partition hi tier=10
        submit    all  tasks=4 partition=hi
        submit    both tasks=4 partition=lo,hi
        pass
    )"),
              "");
    EXPECT_EQ(shown(world, "both"), "Resources");
}

TEST(Reasons, QosThatThePartitionNoLongerTakes) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        partition p state=DOWN
        submit    job time=10 partition=p
        pass
    )"),
              "");
    auto settings = std::make_shared<Settings>(world.cluster().settings());
    settings->partitions[0].state = PartitionState::Up;
    settings->partitions[0].allow_qos = {"high", "low"};
    Effects effects;
    apply(world.cluster(), world.now(), Reconfigure{RequestId{0}, {}, settings}, effects);
    schedule(world.cluster(), world.now(), effects);
    EXPECT_EQ(shown(world, "job"),
              "Job's QOS not permitted to use this partition (p allows high,low not )");
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
    )"),
              "");
    EXPECT_EQ(shown(world, "all"), kNodesAreAway);
    EXPECT_EQ(shown(world, "named"), "ReqNodeNotAvail, UnavailableNodes:g1,n1");
    EXPECT_EQ(shown(world, "gpus"), "ReqNodeNotAvail, UnavailableNodes:g1,n1");
    std::uint64_t version = world.cluster().take_snapshot(world.now())->version;
    world.cluster().take_changes();
    world.cluster().scheduler().is_planned = false;
    ASSERT_EQ(world.run("submit another hold\n pass"), "");
    EXPECT_EQ(world.cluster().take_changes().jobs.size(),
              1u);  // they are not written again and again
    EXPECT_GT(world.cluster().take_snapshot(world.now())->version, version);
    ASSERT_EQ(world.run(R"(
        back      g1
        node      g1 State=RESUME
        pass
        expect    gpus   running g[1-2]
    )"),
              "");
}

TEST(Reasons, EqualJobsShowTheSame) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-3] cpus=4
        down      n1
        submit    wide1  nodes=3 time=10
        submit    wide2  nodes=3 time=10
        submit    other1 nodes=3 time=20
        submit    other2 nodes=3 time=20
        submit    named1 nodelist=n1 time=10
        submit    named2 nodelist=n1 time=10
        pass
    )"),
              "");
    EXPECT_EQ(shown(world, "wide1"), kNodesAreAway);  // only the job that is first in line
    for (const char* name : {"wide2", "other1", "other2", "named1", "named2"}) {
        EXPECT_EQ(shown(world, name), "ReqNodeNotAvail, UnavailableNodes:n1") << name;
    }
    ASSERT_EQ(world.run("submit wide3 nodes=3 time=10"), "");
    EXPECT_EQ(shown(world, "wide3"), "ReqNodeNotAvail, UnavailableNodes:n1");  // without a pass
    ASSERT_EQ(world.run(R"(
        back      n1
        node      n1 State=RESUME
        pass
        expect    wide1  running n[1-3]
        expect    wide2  running n[1-3]
        expect    other1 running n[1-3]
        expect    other2 running n[1-3]
        expect    named1 pending Resources
        expect    named2 pending Priority
        expect    wide3  pending Priority
    )"),
              "");
}

TEST(Reasons, ThoseOfAClassCostNothingForEachJob) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=4\n down n1"), "");
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(world.run("submit wide" + std::to_string(i) + " nodes=2 time=10"), "");
    world.cluster().take_changes();
    ASSERT_EQ(world.run("pass"), "");
    EXPECT_TRUE(world.cluster().take_changes().jobs.empty());
    EXPECT_EQ(world.cluster().plan()->obstacles.size(), 1u);
    EXPECT_EQ(shown(world, "wide99"), "ReqNodeNotAvail, UnavailableNodes:n1");
}

TEST(Reasons, EqualJobsThatReservationsKeepFromStarting) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        reserve   r start=30 length=60 nodes=n1 users=1001
        submit    kept1 cpus=4 time=60
        submit    kept2 cpus=4 time=60
        pass
    )"),
              "");
    EXPECT_EQ(shown(world, "kept1"), "ReqNodeNotAvail, May be reserved for other job");
    EXPECT_EQ(shown(world, "kept2"), "ReqNodeNotAvail, May be reserved for other job");
    EXPECT_EQ(world.run(R"(
        unreserve r
        pass
        expect    kept1 running n1
        expect    kept2 pending Resources
    )"),
              "");
}

TEST(Reasons, WhoComesBackShowsWhatItWaitsForNow) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        partition p default state=DOWN
        submit    first  cpus=4 time=10
        submit    second cpus=4 time=10
        submit    third  cpus=4 time=10
        pass
        expect    first  pending PartitionDown
        expect    third  pending PartitionDown
    )"),
              "");
    update_partition(world, "p", {{"State", "UP"}});
    EXPECT_EQ(world.run(R"(
        expect    first  running n1
        expect    second pending Resources
        expect    third  pending Priority
    )"),
              "");
    EXPECT_EQ(world.cluster().job(world.job("third")).reason, Reason::None);
}

TEST(Reasons, RequestsThatNoNodesWillMeetAnyMoreAreHeld) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4 feature=fast
        nodes     n2 cpus=4
        partition p default
        partition q
        down      n1
        submit    one   feature=fast time=10
        submit    two   feature=fast time=10
        submit    lists feature=fast time=10 partition=p,q
        pass
        expect    two   pending ReqNodeNotAvail
        node      n1 AvailableFeatures=slow
        pass
        expect    one   pending BadConstraints
        expect    two   pending BadConstraints
        expect    lists pending BadConstraints
    )"),
              "");
    auto priority = [&](const char* name) { return world.cluster().job(world.job(name)).priority; };
    EXPECT_EQ(priority("one"), 0u);
    EXPECT_EQ(priority("two"), 0u);
    EXPECT_GT(priority("lists"), 0u);
    ASSERT_EQ(world.run(R"(
        release   one
        pass
        expect    one   pending BadConstraints
        node      n1 AvailableFeatures=fast
        back      n1
        node      n1 State=RESUME
        pass
        expect    lists running n1
        expect    one   pending BadConstraints
        release   one
        pass
        expect    one   running n1
    )"),
              "");
    Effects effects;
    Caller owner{world.cluster().job(world.job("two")).user, GroupId{100}};
    apply(world.cluster(), world.now(),
          ControlJobs{RequestId{1},
                      owner,
                      JobVerb::Release,
                      {{.job = world.job("two"), .tasks = {}, .het_component = {}, .step = {}}}},
          effects);
    EXPECT_EQ(priority("two"), 0u);  // not for users; but any change of it lets it go
    apply(world.cluster(), world.now(),
          UpdateJob{RequestId{2},
                    owner,
                    {.job = world.job("two"), .tasks = {}, .het_component = {}, .step = {}},
                    parse_job_change({{"Comment", "again"}}, {}).value()},
          effects);
    EXPECT_EQ(world.run("pass\n expect two running n1"), "");
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
        expect    beaten pending Priority    # all nodes are up: it is behind `first`
        expect    last   pending Priority
    )"),
              "");
}

TEST(Reasons, WhileAPreemptedJobHasItsGraceTime) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n1 cpus=4
        partition low  default tier=1 grace=120
        partition high tier=2
        submit    victim cpus=4 time=60
        pass
        submit    boss   cpus=4 time=10 partition=high
        submit    behind cpus=4 time=10
        pass
        expect    victim running n1
        expect    boss   pending Resources
        expect    behind pending Priority
    )");
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
    )"),
              "");
    EXPECT_EQ(shown(world, "early"), "ReqNodeNotAvail, UnavailableNodes:n1");  // it runs again
    EXPECT_EQ(shown(world, "first"), "ReqNodeNotAvail, UnavailableNodes:n1");
    ASSERT_EQ(world.run("cancel early\n at 400"), "");
    EXPECT_EQ(shown(world, "first"), "Reservation r was deleted");
}

TEST(Reasons, HoldsAndRequeues) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        submit    job time=10
        pass
    )"),
              "");
    Effects effects;
    apply(world.cluster(), world.now(),
          ControlJobs{RequestId{1},
                      kRoot,
                      JobVerb::RequeueHold,
                      {{.job = world.job("job"), .tasks = {}, .het_component = {}, .step = {}}}},
          effects);
    ASSERT_EQ(world.run("clean job n1"), "");
    EXPECT_EQ(shown(world, "job"), "job requeued in held state");
    ASSERT_EQ(world.run("hold job"), "");
    EXPECT_EQ(shown(world, "job"), "JobHeldAdmin");
    ASSERT_EQ(world.run("release job\n pass\n expect job running n1"), "");
}

}  // namespace
}  // namespace sluice
