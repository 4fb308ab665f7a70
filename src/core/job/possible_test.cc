// What can never run is refused, in Slurm's words.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

// What the last submission was refused with.
Error refusal(const Scenario& world) {
    for (auto effect = world.effects().rbegin(); effect != world.effects().rend(); ++effect) {
        if (const auto* reply = std::get_if<Reply>(&*effect)) return std::get<Error>(reply->answer);
    }
    return {};
}

TEST(Possible, TheFirstDemandThatNoNodeMeetsIsNamed) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4 mem=8000 feature=small
        nodes     n2 cpus=8 cores=4 mem=20000
        submit    a cpus=9 refused=CPU
        submit    b mincpus=9 refused=CPU
        submit    c tasks=2 nodetasks=9 refused=CPU
        submit    d cpus=9 mem=30000 sockets=3 refused=CPU
        submit    e mem=30000 sockets=3 refused=Memory
        submit    f memcpu=30000 refused=Memory
        submit    g sockets=3 refused=Socket
        submit    h mem=10000 feature=small refused=Memory
        submit    i mem=10000
    )");
}

TEST(Possible, LimitsOfThePartitionRefuseWhereTheyAreEnforced) {
    EXPECT_SCENARIO(R"(
        settings  enforce=all
        nodes     n[1-4] cpus=2 mem=8000
        partition p minnodes=2 maxnodes=3 maxmemnode=4000 maxtime=10 default
        submit    a sizes=2-4 refused=Node
        submit    b nodes=1 refused=Node
        submit    c sizes=1-3 refused=Node
        submit    d nodes=5 refused=Node
        submit    e tasks=9 refused=processors
        submit    f nodes=2 mem=4001 refused=Memory
        submit    g nodes=2 time=20 refused=time
        submit    h nodes=2 time=5 mem=4000
        submit    i tasks=1
    )");
}

TEST(Possible, LimitsOfThePartitionKeepWaitingWhereTheyAreNotEnforced) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-4] cpus=2 mem=8000
        partition p maxnodes=2 maxmemnode=4000 default
        submit    a sizes=1-4
        submit    b mem=4001
        submit    c mem=0
        submit    d memcpu=2500 tasks=2 nodes=1
        submit    e memcpu=2500 tasks=2 nodes=2
        pass
        expect    a pending PartitionNodeLimit
        expect    b pending MaxMemPerLimit
        expect    c pending MaxMemPerLimit
        expect    d pending MaxMemPerLimit
        expect    e running n[1-2]
    )");
}

TEST(Possible, ANodeOfItsOwnMustHoldAllItsTasks) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=8
        submit    a nodes=1 tasks=9 exclusive refused=configuration
        submit    b tasks=9 exclusive
        submit    c nodes=1 tasks=8 exclusive
        pass
        expect    b running n[1-2]
    )");
}

TEST(Possible, WhatSocketsOfAnIdleNodeDoNotHoldIsRefused) {
    Scenario world;
    EXPECT_EQ(world.run(R"(
        nodes     n1 cpus=8 cores=4
        partition p maxsocketcpus=2 default
        partition q maxcpus=4
        submit    busy tasks=4
        pass
        submit    a nodes=1 tasks=4
        submit    b nodes=1 tasks=5 partition=q refused=configuration
        submit    c nodes=1 tasks=5 refused=configuration
    )"),
              "");
    EXPECT_EQ(refusal(world).hint,
              "nodes of partition p have up to 8 CPUs, 1000M; "
              "rules for sockets and bindings leave it up to 4 of the CPUs");
}

TEST(Possible, CpusThatAreNotCloseToItsDevicesDoNotCountWhereThatIsEnforced) {
    Scenario world;
    EXPECT_EQ(world.run(R"(
        nodes     n1 cpus=8 cores=4 gres=gpu:a40:4 gpucores=0-1|4-5
        nodes     n2 cpus=8 cores=4 gres=gpu:a40:4 gpucores=0-2|4-5
        submit    busy gres=gpu:4 nodelist=n1
        pass
        submit    a gres=gpu:1 cpus=2 bind nodelist=n1
        submit    b gres=gpu:1 cpus=3 bind     # only on n2, which is else of the same kind
        submit    c gres=gpu:2 cpus=5 bind
        submit    d gres=gpu:1 cpus=4
        submit    e gres=gpu:4 tasks=6 nodes=1 bind refused=configuration
        submit    f gres=gpu:1 cpus=4 bind refused=configuration
        pass
        expect    b running n2
    )"),
              "");
    EXPECT_EQ(refusal(world).hint,
              "nodes of partition main have up to 4 GPUs (a40), 8 CPUs, 1000M; "
              "rules for sockets and bindings leave it up to 3 of the CPUs");
}

TEST(Possible, ATimeMinOfZeroIsNone) {
    EXPECT_SCENARIO(R"(
        nodes     n1
        submit    a time=10 mintime=0 refused=time-min
        submit    b time=10 mintime=1
    )");
}

TEST(Possible, GpusSpreadWhereNoNodeHasTheCpusForAllOfThem) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-3] cpus=16 gres=gpu:4
        submit    a gpus=2 gpucpus=9
        submit    b gpus=2 gpucpus=8
        submit    c gpus=2 gpucpus=9 nodes=1 refused
        submit    d gpus=4 gpucpus=9 refused
        pass
        expect    a running n[1-2]
        expect    b running n3
    )");
}

}  // namespace
}  // namespace sluice
