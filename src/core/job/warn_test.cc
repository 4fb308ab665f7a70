// --signal: the warning before the time limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "testkit/scenario.h"

namespace sluice {
namespace {

std::size_t warnings_in(const Scenario& world) {
    const Effects& effects = world.effects();
    return static_cast<std::size_t>(
        std::count_if(effects.begin(), effects.end(), [](const Effect& effect) {
            const auto* order = std::get_if<SignalJob>(&effect);
            return order && order->signal == SIGUSR1;
        }));
}

TEST(WarnSignal, EveryRunOfAJobIsWarned) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\n submit a time=10 warn=3\n pass\n expect a running n1\n at 6"),
              "");
    EXPECT_EQ(warnings_in(world), 0u);
    ASSERT_EQ(world.run("at 7"), "");
    EXPECT_EQ(warnings_in(world), 1u);
    ASSERT_EQ(world.run("requeue a\n clean a n1\n at 8\n expect a running n1\n at 14"), "");
    EXPECT_EQ(warnings_in(world), 1u);
    ASSERT_EQ(world.run("at 15\n expect a running n1"), "");
    EXPECT_EQ(warnings_in(world), 2u);
}

}  // namespace
}  // namespace sluice
