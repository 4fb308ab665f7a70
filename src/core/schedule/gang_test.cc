// OverSubscribe, PreemptMode=SUSPEND and time slices: which job runs on CPUs that several jobs
// hold.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(OverSubscribe, ForceLetsSoManyJobsHoldEachCpu) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=2
        partition p oversubscribe=FORCE:2 default
        submit    a cpus=2
        submit    b cpus=2
        submit    c cpus=1
        pass
        expect    a running n1
        expect    b running n1
        expect    c pending Resources
        node      n1 is allocated
        end       a
        pass
        expect    c running n1
        end       b
        end       c
        node      n1 is idle
    )");
}

TEST(OverSubscribe, FreeCpusAreTakenBeforeOnesThatOthersHold) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=4
        partition p oversubscribe=FORCE:2 default
        submit    a cpus=2
        submit    b cpus=2
        submit    c cpus=2
        pass
        holds     a cpus=0-1
        holds     b cpus=2-3
        holds     c cpus=0-1
    )");
}

TEST(OverSubscribe, YesIsForThoseWhoAskForIt) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=1
        partition p oversubscribe=YES:2 default
        submit    a share time=60
        submit    b
        submit    e share time=90   # would keep b waiting
        submit    c share time=30
        pass
        expect    a running n1
        expect    b pending
        expect    c running n1
        expect    e pending
        cancel    e
        end       a
        end       c
        pass
        expect    b running n1
        submit    d share
        pass
        expect    d pending
    )");
}

// The free one and that of `a`, from when it ends.
TEST(OverSubscribe, CpusThatAreBookedAreNotJoined) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=4
        partition p oversubscribe=FORCE:2 default
        partition q
        submit    a cpus=1 time=10
        submit    b cpus=2 time=60
        pass
        submit    first cpus=2 partition=q time=60
        submit    joins cpus=2 time=50
        pass
        expect    joins pending
        expect    first pending
        at        10
        end       a
        pass
        expect    first running n1
        expect    joins running n1
    )");
}

TEST(OverSubscribe, MemoryAndDevicesAreNotShared) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=2 mem=1000 gres=gpu:a40:1
        partition p oversubscribe=FORCE:4 default
        submit    a mem=600
        submit    b mem=600
        submit    c mem=100 gres=gpu:1
        submit    d mem=100 gres=gpu:1
        pass
        expect    a running n1
        expect    b pending
        expect    c running n1
        expect    d pending
    )");
}

TEST(OverSubscribe, JobsOfOtherPartitionsDoNotShareWithThem) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=2
        partition p oversubscribe=FORCE:4 default
        partition q
        submit    a partition=q
        submit    b cpus=1
        submit    c cpus=1
        submit    d partition=q
        pass
        expect    a running n1
        expect    b running n1
        expect    c running n1
        expect    d pending
        submit    e cpus=2
        pass
        expect    e pending
        end       b
        expect    d pending
        end       c
        pass
        expect    d running n1
    )");
}

TEST(OverSubscribe, SurvivesARestart) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=1
        partition p oversubscribe=FORCE:2 default
        submit    a
        submit    b
        submit    c
        pass
        restart
        pass
        expect    a running n1
        expect    b running n1
        expect    c pending
        end       a
        pass
        expect    c running n1
    )");
}

TEST(TimeSlices, JobsTakeTurnsTheNewcomerFirst) {
    EXPECT_SCENARIO(R"(
        settings  mode=GANG slice=1
        nodes     n1 cpus=1
        partition p oversubscribe=FORCE:2 default
        submit    a
        pass
        submit    b
        submit    c
        pass
        expect    b running n1
        expect    a suspended
        expect    c pending
        at        1
        expect    a running n1
        expect    b suspended
        at        2
        expect    b running n1
        expect    a suspended
        end       b
        pass
        expect    c running n1
        expect    a suspended
        end       c
        pass
        expect    a running n1
        at        9
        expect    a running n1
    )");
}

TEST(TimeSlices, OnlyThoseOnTheSameCpusStandAside) {
    EXPECT_SCENARIO(R"(
        settings  mode=GANG slice=1
        nodes     n1 cpus=2
        partition p oversubscribe=FORCE:2 default
        submit    a
        submit    b
        pass
        submit    c
        pass
        holds     c cpus=0
        expect    a suspended
        expect    b running n1
        at        1
        expect    a running n1
        expect    b running n1
        expect    c suspended
    )");
}

TEST(SuspendToMakeRoom, TheVictimGoesOnWhenItsCpusAreFree) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG
        nodes     n[1-2] cpus=2
        partition low tier=1 default
        partition high tier=2
        submit    a cpus=2 nodes=2 tasks=2 time=60
        pass
        submit    h cpus=1 partition=high time=10
        pass
        expect    h running n1
        expect    a suspended
        submit    b cpus=1 time=5
        pass
        expect    b pending
        submit    i cpus=2 partition=high
        pass
        expect    i running n2
        end       h
        pass
        expect    a suspended
        expect    b pending
        end       i
        pass
        expect    a running n[1-2]
        expect    b pending
    )");
}

TEST(SuspendToMakeRoom, MemoryAndDevicesStayWithTheVictim) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG
        nodes     n1 cpus=2 mem=1000 gres=gpu:a40:1
        partition low tier=1 default
        partition high tier=2
        submit    a cpus=2 mem=400 gres=gpu:1 time=60
        pass
        submit    g partition=high mem=100 gres=gpu:1
        submit    m partition=high mem=700
        pass
        expect    a running n1
        expect    g pending
        expect    m pending
        submit    h partition=high mem=600 time=9
        pass
        expect    h running n1
        expect    a suspended
    )");
}

TEST(SuspendToMakeRoom, TheVictimMayBeEndedAndRequeuedMeanwhile) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG
        nodes     n1 cpus=1
        partition low tier=1 default
        partition high tier=2
        submit    a
        pass
        submit    h partition=high
        pass
        expect    a suspended
        restart
        pass
        expect    a suspended
        cancel    a
        clean     a n1
        expect    a cancelled
        end       h
        node      n1 is idle
    )");
}

TEST(SuspendToMakeRoom, WhoHadTheNodeAloneLeavesItToThoseSetAside) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG
        nodes     n1 cpus=4
        partition low tier=1 default
        partition high tier=2
        submit    a cpus=2
        pass
        submit    h partition=high exclusive
        pass
        expect    h running n1
        expect    a suspended
        end       h
        pass
        expect    a running n1
    )");
}

TEST(SuspendToMakeRoom, ByHandStaysByHand) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG
        nodes     n1 cpus=1
        partition low tier=1 default
        partition high tier=2
        submit    a
        pass
        submit    h partition=high
        pass
        suspend   a
        end       h
        pass
        expect    a suspended
        resume    a
        expect    a running n1
    )");
}

TEST(SuspendToMakeRoom, OnlyThoseWhosePartitionSaysSo) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG
        nodes     n1 cpus=2
        partition stop tier=1 default
        partition kill tier=1 mode=CANCEL
        partition high tier=2
        submit    a
        submit    b partition=kill
        pass
        submit    h cpus=2 partition=high
        pass
        expect    a running n1
        clean     b n1
        expect    b preempted
        pass
        expect    h running n1
        expect    a suspended
    )");
}

TEST(OverSubscribe, SharedCpusAreReservedAllTheSame) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=2
        partition p oversubscribe=FORCE:2 default
        reserve   r start=30 length=60 nodes=n1 users=1001
        submit    a cpus=2 time=20
        pass
        submit    b cpus=2 time=40
        submit    c cpus=2 time=20
        pass
        expect    a running n1
        expect    b pending ReqNodeNotAvail
        expect    c running n1
    )");
}

TEST(TimeSlices, AJobOfALowerTierGetsNoTurn) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=SUSPEND,GANG slice=1
        nodes     n1 cpus=2
        partition low  oversubscribe=FORCE:2 tier=1 default
        partition high oversubscribe=FORCE:2 tier=2
        submit    a cpus=2
        pass
        expect    a running n1
        submit    b cpus=2 partition=high
        pass
        expect    a suspended
        expect    b running n1
        at        1
        at        2
        at        3
        expect    a suspended
        expect    b running n1
        end       b
        pass
        expect    a running n1
    )");
}

}  // namespace
}  // namespace sluice
