#include <gtest/gtest.h>

#include "core/node/verbs.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

// The nodes that are told to run the program at the next turn.
std::vector<std::uint32_t> checked(Scenario& world, std::uint32_t turn = 0) {
    Effects effects;
    on_health_timer(world.cluster(), world.now(), turn, effects);
    std::vector<std::uint32_t> nodes;
    for (const Effect& effect : effects) {
        if (const auto* check = std::get_if<CheckHealth>(&effect))
            nodes.push_back(check->node.value);
    }
    return nodes;
}

void configure(Scenario& world, const HealthCheckNodes& nodes) {
    auto settings = std::make_shared<Settings>(world.cluster().settings());
    settings->health_check_interval = Seconds{4};
    settings->health_check_nodes = nodes;
    Effects effects;
    apply(world.cluster(), world.now(), Reconfigure{{}, kRoot, settings}, effects);
}

using Nodes = std::vector<std::uint32_t>;

TEST(Health, NodesOfTheWantedStatesRunTheProgram) {
    Scenario world;
    ASSERT_EQ(
        world.run(
            "nodes n[1-4] cpus=2\n submit a nodelist=n1 cpus=2\n submit b nodelist=n2\n pass\n"
            " expect a running n1\n expect b running n2\n node n3 State=DRAIN Reason=x"),
        "");
    EXPECT_EQ(checked(world), Nodes{});  // no interval
    configure(world, {});
    EXPECT_EQ(checked(world), (Nodes{0, 1, 2, 3}));
    configure(world, {.mixed = false, .idle = false, .others = false});
    EXPECT_EQ(checked(world), Nodes{0});
    configure(world, {.allocated = false, .idle = false, .others = false});
    EXPECT_EQ(checked(world), Nodes{1});
    configure(world, {.allocated = false, .mixed = false, .others = false});
    EXPECT_EQ(checked(world), (Nodes{2, 3}));
    configure(world,
              {.allocated = false, .mixed = false, .others = false, .only_undrained_idle = true});
    EXPECT_EQ(checked(world), Nodes{3});
}

TEST(Health, InACycleEachNodeHasOneTurn) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-6]\n pass"), "");
    configure(world, {.cycle = true});
    EXPECT_EQ(checked(world, 0), (Nodes{0, 4}));
    EXPECT_EQ(checked(world, 1), (Nodes{1, 5}));
    EXPECT_EQ(checked(world, 2), Nodes{2});
    EXPECT_EQ(checked(world, 3), Nodes{3});
}

TEST(Health, TheTimerGoesOnAndThereIsOne) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\n pass"), "");
    configure(world, {});
    configure(world, {});
    EXPECT_EQ(world.cluster().subjects_of(TimerKind::HealthCheck).size(), 1u);
    ASSERT_EQ(world.run("at 5"), "");
    EXPECT_EQ(world.cluster().subjects_of(TimerKind::HealthCheck).size(), 1u);
}

}  // namespace
}  // namespace sluice
