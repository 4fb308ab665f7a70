// core/schedule/pass_test.cc: which jobs a pass starts, and where.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Pass, StartsJobsInOrderAndTheFirstThatDoesNotFitHoldsItsPlace) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4
        submit  first  tasks=4
        submit  wide   nodes=2 tasks=8
        submit  small  tasks=1
        pass
        expect  first  running n1
        expect  wide   pending Resources
        expect  small  pending Priority
        end     first
        pass
        expect  first  completed
        expect  wide   running n[1-2]
        expect  small  pending
    )");
}

TEST(Pass, ANodeThatHoldsTheWholeJobIsPreferredToTheRestsOfSeveral) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-3] cpus=4
        submit  small tasks=1
        pass
        submit  four  tasks=4
        submit  six   tasks=6
        pass
        expect  four  running n2
        expect  six   running n[1,3]
    )");
}

TEST(Pass, NodesAreTakenByWeightThenByTheirPlaceInTheFile) {
    EXPECT_SCENARIO(R"(
        nodes   gpu1 cpus=2 weight=10
        nodes   cpu[1-2] cpus=2 weight=1
        submit  a tasks=2
        submit  b tasks=2
        submit  c tasks=2
        pass
        expect  a running cpu1
        expect  b running cpu2
        expect  c running gpu1
    )");
}

TEST(Pass, TheCheaperLeafOfTheTreeIsTakenFirst) {
    EXPECT_SCENARIO(R"(
        switch  s1 nodes=n[1-2]
        switch  s2 nodes=n[3-4]
        switch  top switches=s1,s2
        nodes   n[1-2] cpus=4 weight=10
        nodes   n[3-4] cpus=4 weight=5
        submit  a tasks=3
        submit  b nodes=2 tasks=2 exclusive
        pass
        expect  a running n3
        expect  b running n[1-2]
    )");
}

TEST(Pass, MoreGpusThanANodeHasComeFromSeveral) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4 gres=gpu:4
        submit  alone gpus=6 tasks=1 refused
        submit  huge  gpus=9 refused
        submit  wide  gpus=6
        pass
        expect  wide  running n[1-2]
        end     wide
        clean   wide n2
        submit  fits  gpus=4
        pass
        expect  fits  running n1
    )");
}

TEST(Pass, GpusAreNeverSharedAndTypesMatter) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8 gres=gpu:a40:2,gpu:h100:1
        submit  a gres=gpu:a40:1
        submit  b gres=gpu:2
        pass
        expect  a running n1
        expect  b running n1
        submit  c gres=gpu:h100:1
        pass
        expect  c pending
        end     b
        pass
        expect  c running n1
        submit  d gres=gpu:h100:2 refused
        submit  e gres=nic:1 refused
    )");
}

TEST(Pass, ExclusiveJobsShareWithNobody) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        submit  a exclusive
        submit  b
        pass
        expect  a running n1
        expect  b pending
        end     a
        pass
        expect  b running n1
    )");
}

TEST(Pass, ImpossibleRequestsAreRefusedAtOnce) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=4 mem=1000 feature=fast
        submit  cpus    tasks=9 refused
        submit  memory  mem=1001 refused
        submit  feature feature=slow refused
        submit  node    nodelist=n3 refused
        submit  part    partition=none refused
        submit  fits    tasks=8 mem=1000 feature=fast nodelist=n[1-2]
        pass
        expect  fits running n[1-2]
    )");
}

TEST(Pass, PartitionLimitsParkAJobAndOthersPassIt) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-4] cpus=1
        partition short default maxtime=60 maxnodes=2
        submit    long  time=120
        submit    wide  nodes=3 tasks=3
        submit    ok    time=30
        pass
        expect    long  pending PartitionTimeLimit
        expect    wide  pending PartitionNodeLimit
        expect    ok    running n1
    )");
}

TEST(Pass, AHigherTierGoesFirst) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=1
        partition low  default
        partition high tier=10
        submit    early partition=low
        submit    late  partition=high
        pass
        expect    late  running n1
        expect    early pending
    )");
}

TEST(Pass, SeveralPartitionsMeanTheFirstThatCanStart) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=1
        partition a nodes=n1 default
        partition b nodes=n2
        submit    blocker partition=a
        submit    both    partition=a,b
        pass
        expect    blocker running n1
        expect    both    running n2
    )");
}

TEST(Pass, RequiredNodesThatAreDownAreNamedAndDoNotBlockOthers) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=1
        submit  warmup
        down    n2
        submit  picky nodelist=n2
        submit  other
        pass
        expect  picky pending ReqNodeNotAvail
        end     warmup
        pass
        expect  other running n1
    )");
}

TEST(Pass, ANamedNodeIsTakenAlsoWhereAnotherHoldsTheWholeJob) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=8
        submit  a tasks=3 nodelist=n1
        submit  b tasks=6 nodelist=n1
        pass
        expect  a running n1
        expect  b running n[1-2]
    )");
}

TEST(Pass, AListOfNodeCountsGivesTheLargestThatIsFree) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-8] cpus=2
        submit    a sizes=1,3,7,12 cpus=2 time=60
        submit    b sizes=2-6:2 cpus=2 time=30
        submit    c sizes=1,5,9 cpus=2 time=10
        submit    d sizes=12,16 cpus=2 refused
        pass
        expect    a running n[1-7]
        expect    b pending Resources starts=60
        expect    c running n8
    )");
}

TEST(Pass, NoNodeIsTakenWithoutATask) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-8] cpus=2
        submit    a sizes=1-6 tasks=3
        submit    b sizes=1,2,5 tasks=3
        pass
        expect    a running n[1-3]
        expect    b running n[4-5]
    )");
}

TEST(Pass, AListOfNodeCountsStaysInsideThePartitionsLimits) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-8] cpus=2
        partition p default maxnodes=4
        submit    a sizes=1,3,7 cpus=2
        pass
        expect    a running n[1-3]
        restart
        submit    b sizes=2-6:3 cpus=2
        pass
        expect    b running n[4-5]
    )");
}

}  // namespace
}  // namespace sluice
