// core/schedule/preempt_test.cc: which jobs are preempted: those of the lowest tier; with
// reclaim_limits also jobs that count against a limit for which another job waits.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Preemption, TakesTheNodeOfALowerTierEvenIfMoreWorkIsLostThere) {
    EXPECT_SCENARIO(R"(
        settings  preempt=partition mode=REQUEUE
        nodes     n[1-2] cpus=4
        partition low    default tier=1
        partition middle tier=2
        partition high   tier=3
        submit    old   partition=low cpus=4 time=60
        pass
        at        30
        submit    young partition=middle cpus=4 time=60
        pass
        at        31
        submit    boss  partition=high cpus=4 time=60
        pass
        expect    old   completing
        expect    young running n2
    )");
}

// A lab that may have four of sixteen GPUs; the jobs of `low` can be preempted.
std::string lab(const std::string& settings) {
    return "settings  limits preempt=partition mode=REQUEUE " + settings + R"(
        nodes     n[1-4] cpus=8 gres=gpu:a40:4
        partition low   default tier=1
        partition high  tier=2 mode=OFF
        account   lab   GrpTRES=gres/gpu=4
        account   other
        member    1000  account=lab default
        member    1001  account=lab default
        member    1002  account=other default
    )";
}

TEST(ReclaimLimits, AJobOfTheSameLabTakesThePlaceUnderTheLimit) {
    EXPECT_SCENARIO(lab("reclaim") + R"(
        submit    spill   user=1000 gres=gpu:2 partition=low time=60
        submit    spill2  user=1000 gres=gpu:2 partition=low time=60
        submit    foreign user=1002 gres=gpu:2 partition=low time=60
        pass
        at        1
        submit    mate    user=1001 gres=gpu:2 partition=high time=60
        pass
        expect    spill   running
        expect    spill2  completing
        expect    foreign running
        expect    mate    pending AssocGrpGRES
        end       spill2
        pass
        expect    mate    running
        expect    spill2  pending
        at        2
        expect    spill2  pending AssocGrpGRES
    )");
}

TEST(ReclaimLimits, WithoutTheWordItWaitsForTheLimit) {
    EXPECT_SCENARIO(lab("") + R"(
        submit    spill  user=1000 gres=gpu:4 partition=low time=60
        pass
        submit    mate   user=1001 gres=gpu:2 partition=high time=60
        pass
        expect    spill  running
        expect    mate   pending AssocGrpGRES
    )");
}

TEST(ReclaimLimits, NoJobIsPreemptedInVain) {
    EXPECT_SCENARIO(lab("reclaim") + R"(
        submit    fixed  user=1000 gres=gpu:3 partition=high time=60
        submit    spill  user=1000 gres=gpu:1 partition=low time=60
        submit    theirs user=1002 gres=gpu:2 partition=low time=60
        pass
        submit    mate   user=1001 gres=gpu:2 partition=high time=60
        submit    equal  user=1001 gres=gpu:1 partition=low time=60
        pass
        expect    spill  running
        expect    theirs running
        expect    mate   pending AssocGrpGRES
        expect    equal  pending AssocGrpGRES
    )");
}

TEST(ReclaimLimits, WhatHoldsTheNodesIsPreemptedToo) {
    EXPECT_SCENARIO(lab("reclaim") + R"(
        submit    spill  user=1000 gres=gpu:4 partition=low time=60 nodelist=n1
        submit    theirs user=1002 gres=gpu:4 partition=low time=60 nodelist=n2
        pass
        submit    mate   user=1001 gres=gpu:4 partition=high time=60 nodelist=n2
        pass
        expect    spill  completing
        expect    theirs completing
        end       spill
        end       theirs
        pass
        expect    mate   running n2
    )");
}

}  // namespace
}  // namespace sluice
