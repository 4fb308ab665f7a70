// core/schedule/preempt_test.cc: which jobs are preempted.
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

}  // namespace
}  // namespace sluice
