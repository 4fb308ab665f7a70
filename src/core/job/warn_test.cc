// --signal: the warning before the time limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "testkit/scenario.h"

namespace sluice {
namespace {

std::size_t signals_in(const Scenario& world, int signal) {
    const Effects& effects = world.effects();
    return static_cast<std::size_t>(
        std::count_if(effects.begin(), effects.end(), [&](const Effect& effect) {
            const auto* order = std::get_if<SignalJob>(&effect);
            return order && order->signal == signal;
        }));
}

std::size_t warnings_in(const Scenario& world) {
    return signals_in(world, SIGUSR1);
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

// With send_user_signal at the start of the grace time; a second time it would be SIGTERM.
TEST(WarnSignal, IsSentOnceAlsoWhenTheJobIsPreempted) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=1\n settings preempt=partition mode=CANCEL\n"
                        "partition low nodes=n1 tier=1 grace=60\n partition high nodes=n1 tier=2\n"
                        "submit a partition=low time=10 warn=3\n pass"),
              "");
    Settings settings = world.cluster().settings();
    settings.preempt.send_user_signal = true;
    world.cluster().apply_settings(std::make_shared<const Settings>(settings), world.now());
    ASSERT_EQ(world.run("at 7"), "");
    EXPECT_EQ(warnings_in(world), 1u);
    ASSERT_EQ(world.run("submit b partition=high time=10\n pass\n expect a running"), "");
    EXPECT_EQ(warnings_in(world), 1u);
    EXPECT_EQ(signals_in(world, SIGTERM), 1u);
}

}  // namespace
}  // namespace sluice
