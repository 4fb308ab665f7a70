// How many jobs are booked, and from when on jobs may be preempted.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

bool is_booked(Scenario& world, const std::string& name) {
    auto plan = world.cluster().plan();
    return plan && plan->find(world.job(name));
}

TEST(BookingLimits, OfOneUser) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings userbookings=2
        nodes    n1 cpus=1
        submit   runs time=60
        pass
        submit   a time=10 user=1
        submit   b time=11 user=1
        submit   c time=12 user=1
        submit   d time=13 user=2
        pass
        expect   a pending Resources starts=60
        expect   b pending Priority starts=70
        expect   d pending Priority starts=81
    )"),
              "");
    EXPECT_TRUE(is_booked(world, "b"));
    EXPECT_FALSE(is_booked(world, "c"));
    EXPECT_TRUE(is_booked(world, "d"));
}

TEST(ExemptTime, EndsAtItsLastSecond) {
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
        at        10
        expect    victim completing
    )");
}

}  // namespace
}  // namespace sluice
