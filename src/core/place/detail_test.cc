// Which CPUs and devices of a node a job gets.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(GpusPerSocket, AreTakenOnEachOfTheSockets) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 cores=8 gres=gpu:a40:8 gpucores=0-7|8-15
        submit    a socketgpus=2 sockets=2 tasks=1
        pass
        submit    b socketgpus=2 sockets=2 tasks=2
        pass
        holds     a cpus=0 gpus=0-1,4-5
        holds     b cpus=1,8 gpus=2-3,6-7
        submit    c socketgpus=1 sockets=1
        pass
        expect    c pending Resources
    )");
}

TEST(GpusPerSocket, WhatNoSocketHasIsRefusedHoweverManyTheNodeHas) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 cores=8 gres=gpu:a40:8 gpucores=0-7|8-15
        submit    a socketgpus=5 sockets=1 refused
        submit    b socketgpus=a40:5 sockets=2 refused
        submit    c socketgpus=1 sockets=3 refused=Socket
        submit    d socketgpus=4 sockets=2
        pass
        holds     d gpus=0-7
    )");
}

TEST(GpusPerSocket, AreThoseOfTheSocketThatHasJustEnough) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 cores=8 gres=gpu:a40:8 gpucores=0-7|8-15
        submit    x gres=gpu:3
        pass
        submit    y socketgpus=1 sockets=1
        pass
        holds     x gpus=0-2
        holds     y cpus=1 gpus=3
        submit    z socketgpus=2 sockets=2
        pass
        expect    z pending
        end       x
        pass
        holds     z gpus=0-1,4-5
    )");
}

TEST(GpusPerSocket, AreTakenOnAnotherNodeWhereTheSocketsOfTheFirstAreTooFull) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=16 cores=8 gres=gpu:a40:8 gpucores=0-7|8-15
        submit    x gres=gpu:3 nodelist=n1
        pass
        submit    y socketgpus=2 sockets=2
        pass
        expect    y running n2
        submit    z socketgpus=2 sockets=2 nodelist=n1
        pass
        expect    z pending
    )");
}

TEST(Sockets, ANodeWithAFullSocketIsNotWaitedForWhileAnotherIsFree) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=8 cores=4
        submit    x cpus=4 time=30 nodelist=n1
        pass
        submit    y tasks=2 sockets=2
        pass
        expect    y running n2
        submit    z nodes=1 tasks=2 sockets=2 nodelist=n1
        pass
        expect    z pending starts=30
        submit    small cpus=2 time=20 nodelist=n1
        pass
        expect    small running
    )");
}

TEST(Sockets, NobodyIsPreemptedForAJobThatThenFindsNoSocket) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n1 cpus=8 cores=4
        partition high nodes=n1 tier=2
        partition low  nodes=n1 tier=1 default
        submit    keeps partition=high cpus=4
        pass
        submit    victim cpus=4
        pass
        submit    wants partition=high tasks=2 sockets=2
        pass
        expect    victim running
        expect    wants pending
    )");
}

TEST(GpusPerSocket, DevicesWithoutCoresAreCloseToAllSockets) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4 gres=gpu:4
        submit    a socketgpus=1 sockets=2
        submit    b socketgpus=3 sockets=2 refused
        submit    c socketgpus=2 sockets=1
        pass
        holds     a gpus=0-1
        holds     c gpus=2-3
    )");
}

TEST(GpusPerSocket, AreThoseOfTheSocketWithFreeCpus) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4 gres=gpu:a40:4 gpucores=0-3|4-7
        submit    x cpus=4
        pass
        submit    y socketgpus=2 sockets=1
        pass
        submit    z socketgpus=1 sockets=1
        pass
        holds     x cpus=0-3
        holds     y cpus=4 gpus=2-3
        holds     z cpus=5 gpus=0
    )");
}

TEST(CloseDevices, ArePreferredAndOthersTakenWhereThereAreNone) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4 gres=gpu:a40:4 gpucores=0-3|4-7
        submit    x cpus=4
        pass
        submit    a gres=gpu:1
        pass
        submit    b gres=gpu:2
        pass
        submit    c gres=gpu:1
        pass
        holds     x cpus=0-3
        holds     a cpus=4 gpus=2
        holds     b cpus=5 gpus=0,3
        holds     c cpus=6 gpus=1
    )");
}

TEST(CloseDevices, GiveTheirCpusBeforeOthersOfTheSocket) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=8 gres=gpu:a40:4 gpucores=0-3|4-7
        submit    a gres=gpu:2 cpus=2
        pass
        submit    b gres=gpu:2 cpus=3
        pass
        submit    c
        pass
        holds     a cpus=0-1 gpus=0-1
        holds     b cpus=4-6 gpus=2-3
        holds     c cpus=2
    )");
}

TEST(BoundDevices, AreThoseWithEnoughFreeCpusClose) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4 gres=gpu:a40:4 gpucores=0-3|4-7
        submit    x cpus=4
        pass
        submit    y gres=gpu:2 bind
        pass
        submit    z gpus=1 bind
        pass
        holds     x cpus=0-3
        holds     y cpus=4 gpus=2-3
        expect    z pending
        end       x
        pass
        holds     z cpus=0 gpus=0
    )");
}

// Without the binding devices of one socket are worth more than CPUs that are all close.
TEST(BoundDevices, AreOnSeveralSocketsWhereTheCpusOfOneAreTooFew) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=8 cores=4 gres=gpu:a40:4 gpucores=0-3|4-7
        submit    a gres=gpu:2 cpus=5 bind nodelist=n1
        submit    b gres=gpu:2 cpus=5 nodelist=n2
        pass
        holds     a cpus=0-4 gpus=0,2
        holds     b cpus=0-4 gpus=0-1
    )");
}

// --hint=memory_bound is one core of each socket and one thread of each core, while there are
// sockets.
TEST(OneCorePerSocket, CpusAreTakenFromAllSocketsInTurn) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 cores=4 threads=2
        submit    a tasks=3 socketcores=1 corethreads=1
        pass
        holds     a cpus=0-3,8-9
    )");
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=4
        submit    x cpus=3
        pass
        submit    a tasks=4 socketcores=1
        pass
        holds     x cpus=0-2
        holds     a cpus=3-6
    )");
}

}  // namespace
}  // namespace sluice
