// core/place/parts_test.cc: parts of GPUs (shard, mps), resources that are not consumed, links
// between GPUs, and the rules of SelectTypeParameters and --gres-flags about them.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(PartsOfGpus, JobsShareAGpuUntilItsPartsAreTaken) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:a40:2,shard:8
        submit    a gres=shard:3
        pass
        submit    b gres=shard:2
        pass
        submit    c gres=shard:1
        pass
        holds     a gpus=0 parts=3
        holds     b gpus=1 parts=2
        holds     c gpus=0 parts=1
        submit    d gres=shard:3
        pass
        expect    d pending Resources
        end       b
        pass
        holds     d gpus=1 parts=3
    )");
}

TEST(PartsOfGpus, AGpuIsGivenAsAWholeOrInParts) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:2,shard:4
        submit    a gres=shard:1
        pass
        submit    whole gres=gpu:1
        pass
        holds     whole gpus=1
        submit    both gres=gpu:2
        submit    b gres=shard:2
        pass
        expect    both pending Resources
        expect    b pending
        end       a
        pass
        expect    both pending
        holds     b gpus=0 parts=2
        end       b
        end       whole
        pass
        holds     both gpus=0-1
    )");
}

TEST(PartsOfGpus, MoreThanAGpuHasAreRefused) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:2,shard:8
        submit    a gres=shard:5 refused
        submit    b gres=shard:9 refused
        submit    c gres=shard:4
        pass
        expect    c running n1
    )");
}

TEST(PartsOfGpus, MayComeFromSeveralGpusIfSlurmConfSaysSo) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:2,shard:8
        settings  severalgpus
        submit    a gres=shard:5
        pass
        holds     a gpus=0-1 parts=4,1
        submit    b gres=shard:9 refused
    )");
}

TEST(PartsOfGpus, AreSpreadOverTheLeastLoadedGpusIfSlurmConfSaysSo) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:2,shard:8
        settings  spreadparts
        submit    a gres=shard:1
        pass
        submit    b gres=shard:1
        pass
        submit    c gres=shard:2
        pass
        holds     a gpus=0
        holds     b gpus=1
        holds     c gpus=0
    )");
}

TEST(PartsOfGpus, OfTasksComeFromDifferentGpusWithOneTaskPerSharing) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:4,shard:16
        submit    a tasks=3 taskgres=shard:1 onetask=yes
        pass
        holds     a gpus=0-2 parts=1,1,1
        submit    b tasks=3 taskgres=shard:1
        pass
        holds     b parts=3
        submit    c tasks=5 taskgres=shard:1 onetask=yes refused
    )");
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:4,shard:16
        settings  onetask
        submit    a tasks=2 taskgres=shard:2
        submit    b tasks=2 taskgres=shard:2 onetask=no
        pass
        holds     a gpus=0-1 parts=2,2
        holds     b parts=4
    )");
}

TEST(PartsOfGpus, AreAsManyAsGresConfSaysForEachFile) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:2,mps:400 parts=mps:100,300
        submit    a gres=mps:200
        pass
        holds     a gpus=1 parts=200
        submit    b gres=mps:301 refused
        submit    c gres=mps:100
        pass
        holds     c gpus=1 parts=100
    )");
}

TEST(PartsOfGpus, OfMpsAreThoseOfOneGpuOfTheNode) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=16 gres=gpu:2,mps:200
        submit    a gres=mps:60
        pass
        submit    b gres=mps:50
        submit    c gres=mps:40
        submit    d gres=mps:60
        pass
        expect    a running n1
        holds     b gpus=0
        expect    b running n2
        expect    c running n1
        expect    d pending Resources
    )");
}

TEST(PartsOfGpus, SurviveARestart) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:1,shard:4
        submit    a gres=shard:3
        pass
        restart
        submit    b gres=shard:2
        submit    c gres=shard:1
        pass
        expect    b pending Resources
        holds     a gpus=0 parts=3
        end       a
        pass
        holds     b gpus=0 parts=2
    )");
}

TEST(PartsOfGpus, ATypeIsThatOfTheGpu) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:a40:1,gpu:h100:1,shard:8
        submit    a gres=shard:h100:2
        pass
        holds     a gpus=1 parts=2
        submit    b gres=shard:l4:1 refused
    )");
}

TEST(WholeNodes, HaveAllDevicesButNoPartsAndNothingThatMustBeAskedFor) {
    EXPECT_SCENARIO(R"(
        nodes     n[1-2] cpus=4 gres=gpu:2,shard:8,lic:5 explicit=lic
        submit    a exclusive gres=gpu:1 nodelist=n1
        pass
        holds     a gpus=0-1 parts=
        submit    b exclusive gres=lic:3 nodelist=n2
        pass
        expect    b running n2
        holds     b gpus=0-1
    )");
}

TEST(NotConsumed, RequestsAreComparedWithTheCount) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=bandwidth:lustre:4G,lic:2 noconsume=bandwidth
        submit    a gres=bandwidth:lustre:3G
        submit    b gres=bandwidth:3G,lic:1
        submit    c gres=bandwidth:5G refused
        submit    d gres=bandwidth:4G
        submit    e gres=lic:2
        pass
        expect    a running n1
        expect    b running n1
        expect    d running n1
        expect    e pending Resources
    )");
}

TEST(Links, GpusWithTheMostLinksAreGivenTogether) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=gpu:4 gpulinks=-1,1,0,4|1,-1,4,0|0,4,-1,1|4,0,1,-1
        submit    a gres=gpu:2
        pass
        holds     a gpus=0,3
        submit    b gres=gpu:2
        pass
        holds     b gpus=1-2
    )");
}

TEST(ManyTypes, ThatThePlanHasNoRoomForAreCheckedOnTheNode) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=16 gres=a:1,b:1,c:1,d:1,e:1,f:1,g:2,h:1
        submit    one gres=g:1,h:1
        pass
        submit    two gres=h:1
        submit    three gres=g:1
        pass
        expect    one running n1
        expect    two pending Resources
        expect    three running n1
        end       one
        pass
        expect    two running n1
    )");
}

TEST(EnforceBindingGres, HoldsUnlessAJobDisablesIt) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=4 cores=2 gres=gpu:2 gpucores=0-1|2-3
        settings  enforcebinding
        submit    a gres=gpu:1 cpus=3 refused
        submit    b gres=gpu:1 cpus=3 unbind
        pass
        expect    b running n1
    )");
}

TEST(RestrictedCores, AreForJobsWithGpus) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 cores=8 gres=gpu:2 gpuspec=2
        submit    a cpus=5 refused
        submit    b cpus=4
        pass
        holds     b cpus=4-7
        submit    c
        submit    d gres=gpu:1 cpus=4
        pass
        expect    c pending Resources
        holds     d cpus=0-3
        end       b
        pass
        expect    c running n1
    )");
}

TEST(NodeGres, IsChangedByHand) {
    EXPECT_SCENARIO(R"(
        nodes     n1 cpus=8 gres=gpu:2,lic:2
        settings  grestypes=gpu,lic
        node      n1 Gres=gpu:1,lic:2 refused
        node      n1 Gres=foo:1 refused
        submit    a gres=lic:2
        pass
        node      n1 Gres=gpu:2,lic:1 refused
        node      n1 Gres=gpu:2,lic:3
        submit    b gres=lic:1
        submit    c gres=lic:1
        pass
        expect    b running n1
        expect    c pending Resources
        restart
        end       a
        pass
        expect    c running n1
        node      n1 Gres=gpu:0,lic:3
        submit    d gres=gpu:1 refused
        node      n1 Gres=gpu:2,lic:3
        submit    e gres=gpu:1
        pass
        expect    e running n1
    )");
}

}  // namespace
}  // namespace sluice
