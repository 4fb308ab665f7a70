// core/schedule/backfill_test.cc: bookings, what may start before them, and preemption.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schedule/scheduler.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Backfill, ShortJobSlipsInOnlyIfItDelaysNobody) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        submit  first  tasks=4 time=60
        submit  wide   nodes=2 tasks=8 time=10   # must wait for n1 until minute 60
        submit  short  tasks=4 time=30           # fits on n2 and is gone by then
        submit  long   tasks=4 time=90           # would delay wide
        pass
        expect  first  running n1
        expect  wide   pending Resources starts=60
        expect  short  running n2
        expect  long   pending Priority starts=70
    )");
}

TEST(Backfill, EveryBlockedJobKeepsItsTurn) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=2
        submit  a      tasks=2 time=10
        submit  b      tasks=2 time=30
        submit  whole1 nodes=2 tasks=4 time=10
        submit  whole2 nodes=2 tasks=4 time=10
        submit  small  tasks=1 time=20
        submit  late   tasks=2 time=21
        pass
        expect  whole1 pending starts=30
        expect  whole2 pending starts=40
        end     a
        pass
        expect  small  running n1
        expect  late   pending starts=50
    )");
}

TEST(Backfill, AnEarlyEndLetsTheNextStartAtOnce) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        submit  long  tasks=4 time=600
        submit  next  tasks=4 time=10
        pass
        expect  next  pending starts=600
        at      5
        end     long
        pass
        expect  next  running n1
    )");
}

TEST(Backfill, StrictOrderWithoutIt) {
    EXPECT_SCENARIO(R"(
        settings backfill=off
        nodes   n[1-2] cpus=4
        submit  first  tasks=4 time=60
        submit  wide   nodes=2 tasks=8 time=10
        submit  short  tasks=4 time=30
        pass
        expect  wide   pending Resources
        expect  short  pending Priority
    )");
}

TEST(Backfill, JobsOfOneClassAreEstimatedBeyondTheirBookings) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  first time=10
        submit  many  time=10 array=0-99
        submit  last  time=10
        pass
        expect  many  pending starts=10
        expect  last  pending
    )");
}

TEST(Backfill, AJobThatMayBeShorterFillsTheGap) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        submit  first  tasks=4 time=60
        submit  wide   nodes=2 tasks=8 time=10
        submit  rigid  tasks=4 time=90
        submit  flex   tasks=4 time=90 mintime=20
        pass
        expect  rigid  pending
        expect  flex   running n2
        at      60
        expect  flex   completing
    )");
}

TEST(Backfill, GpusAreCountedByType) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=16 gres=gpu:a40:2,gpu:h100:1
        submit  a gres=gpu:h100:1 time=60
        submit  b gres=gpu:h100:1 time=60
        submit  c gres=gpu:a40:2 time=600
        submit  d gres=gpu:3 time=10
        pass
        expect  a running n1
        expect  b pending starts=60
        expect  c running n1
        expect  d pending starts=600
    )");
}

TEST(Topology, JobsStayBelowOneSwitchWhereTheyCan) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-4] cpus=1
        switch  s1 nodes=n[1-2]
        switch  s2 nodes=n[3-4]
        switch  top switches=s1,s2
        submit  one  nodelist=n1 time=60
        pass
        submit  pair nodes=2 tasks=2 time=60
        pass
        expect  pair running n[3-4]
        submit  near nodes=2 tasks=2 switches=1 time=10
        end     pair
        clean   pair n4
        pass
        expect  near running n[3-4]
    )");
}

TEST(Topology, SwitchesAreInsistedOnForAWhile) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-4] cpus=1
        switch  s1 nodes=n[1-2]
        switch  s2 nodes=n[3-4]
        switch  top switches=s1,s2
        submit  a nodelist=n1 time=60
        submit  b nodelist=n3 time=60
        pass
        submit  near nodes=2 tasks=2 switches=1 time=10
        pass
        expect  near pending
        at      6
        expect  near running n[2,4]
    )");
}

TEST(Preemption, AHigherTierTakesTheYoungestAndNoMoreThanNeeded) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n[1-2] cpus=8 gres=gpu:4
        partition overcap default tier=1
        partition lab     tier=10
        submit    old   gres=gpu:4 partition=overcap
        pass
        at        10
        submit    young gres=gpu:2 partition=overcap
        submit    other gres=gpu:2 partition=overcap
        pass
        expect    young running n2
        at        20
        submit    mine  gres=gpu:2 partition=lab
        pass
        expect    mine  pending
        expect    old   running n1
        expect    young running n2
        expect    other completing
        clean     other n2
        pass
        expect    mine  running n2
        expect    other pending
    )");
}

TEST(Preemption, WhoHasSavedItsWorkLosesTheLeast) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n[1-2] cpus=1
        partition overcap default tier=1
        partition lab     tier=10
        submit    old   partition=overcap
        pass
        at        10
        submit    young partition=overcap
        pass
        expect    old   running n1
        expect    young running n2
        at        20
        update    old   LastCheckpoint=now+1hour refused
        update    old   LastCheckpoint=1970-02-01 refused
        update    old   LastCheckpoint=now
        at        21
        submit    mine  partition=lab
        update    mine  LastCheckpoint=now refused
        pass
        expect    old   completing
        expect    young running n2
    )");
}

TEST(Preemption, GraceTimeComesFirst) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=CANCEL
        nodes     n1 cpus=1
        partition low  default tier=1 grace=120
        partition high tier=2
        submit    victim partition=low
        pass
        submit    boss partition=high
        pass
        expect    victim running
        at        1
        expect    victim running
        at        2
        expect    victim completing
        clean     victim n1
        pass
        expect    victim preempted
        expect    boss   running n1
    )");
}

TEST(Preemption, TheRoomMadeForAJobIsForgottenWithIt) {
    Scenario world;
    EXPECT_EQ(world.run(R"(
        settings  preempt=partition mode=CANCEL
        nodes     n1 cpus=1
        partition low  default tier=1 grace=120
        partition high tier=2
        submit    victim partition=low
        pass
        submit    boss partition=high
        pass
    )"),
              "");
    EXPECT_EQ(world.cluster().scheduler().making_room.size(), 1u);
    EXPECT_EQ(world.run("cancel boss"), "");
    EXPECT_TRUE(world.cluster().scheduler().making_room.empty());
}

TEST(Preemption, JobsAreSafeForTheirExemptTime) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=CANCEL exempt=10
        nodes     n1 cpus=1
        partition low  default tier=1
        partition high tier=2
        submit    victim partition=low
        pass
        submit    boss partition=high
        at        9
        expect    victim running
        at        11
        expect    victim completing
    )");
}

TEST(Preemption, NobodyIsPreemptedInVain) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=CANCEL
        nodes     n[1-2] cpus=2
        partition low  default tier=1
        partition high tier=2
        submit    fixed  tasks=2 partition=high
        submit    victim tasks=2 partition=low
        pass
        submit    wide nodes=2 tasks=4 partition=high
        pass
        expect    victim running
        expect    wide   pending
    )");
}

TEST(Preemption, NobodyJoinsThoseWhoMakeRoom) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n1 cpus=2
        partition low  default tier=1 grace=120 oversubscribe=FORCE:2
        partition high tier=2
        submit    victim cpus=2
        pass
        submit    boss   cpus=2 partition=high
        submit    long   cpus=2 time=60
        submit    short  cpus=2 time=1
        pass
        expect    victim running
        expect    boss   pending
        expect    long   pending
        expect    short  running n1
        at        1
        end       short
        submit    late   cpus=2 time=60
        pass
        expect    late   pending
        at        2
        clean     victim n1
        pass
        expect    boss   running n1
        expect    long   pending
        expect    late   pending
    )");
}

TEST(Preemption, WhatIsFreeAlreadyIsKeptUntilTheLastHasLeft) {
    for (const char* limit : {"backfill=off", "bookings=1", ""}) {
        std::string settings = fmt::format("settings preempt=partition mode=REQUEUE {}\n", limit);
        EXPECT_SCENARIO(settings + R"(
            nodes     n[1-3] cpus=1
            partition low  default tier=1
            partition high tier=2
            partition top  tier=3
            submit    fixed  partition=top nodelist=n3 time=60
            submit    first  nodelist=n1
            submit    second nodelist=n2
            pass
            submit    ahead  partition=top nodelist=n3
            submit    boss   partition=high nodes=2 tasks=2
            submit    other  time=30
            pass
            expect    boss   pending
            clean     first  n1
            pass
            expect    first  pending
            expect    other  pending
            clean     second n2
            pass
            expect    boss   running n[1-2]
        )");
    }
}

TEST(Backfill, ANewJobIsShortenedAtOnceThoughOthersWait) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=2
        submit  a cpus=1 time=60
        pass
        submit  wide cpus=2 time=10
        pass
        expect  wide pending Resources starts=60
        submit  b time=600 mintime=30
        pass
        expect  b running n1
    )");
}

TEST(Backfill, EqualJobsThatComeOneByOneAreAllBooked) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-3] cpus=8
        submit  h1 cpus=4 time=2 nodelist=n1
        submit  h2 cpus=4 time=2 nodelist=n2
        submit  h3 cpus=4 time=2 nodelist=n3
        pass
        submit  w1 cpus=8 time=10
        pass
        submit  w2 cpus=8 time=10
        pass
        submit  w3 cpus=8 time=10
        pass
        submit  w4 cpus=8 time=10
        pass
        expect  w2 pending starts=2
        expect  w3 pending starts=2
        expect  w4 pending starts=12
        submit  low cpus=4 time=60
        pass
        expect  low pending
    )");
}

TEST(Backfill, AllTasksOfANewArrayAreBooked) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=8
        submit  h1 cpus=4 time=2 nodelist=n1
        submit  h2 cpus=4 time=2 nodelist=n2
        pass
        submit  w array=1-2 cpus=8 time=10
        pass
        submit  low cpus=4 time=60
        pass
        expect  low pending
    )");
}

}  // namespace
}  // namespace sluice
