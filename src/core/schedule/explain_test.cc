// What explain() says, in small worlds.
#include "core/schedule/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testkit/scenario.h"

namespace sluice {
namespace {

Explanation explained(Scenario& scenario, const std::string& name) {
    std::shared_ptr<const PlanView> before = scenario.cluster().plan();
    Explanation first = explain(scenario.cluster(), scenario.now(), scenario.job(name));
    EXPECT_EQ(first, explain(scenario.cluster(), scenario.now(), scenario.job(name)));  // changes nothing
    EXPECT_EQ(before, scenario.cluster().plan());
    return first;
}

std::vector<std::string> options_of(const Explanation& explanation) {
    std::vector<std::string> options;
    for (const Explanation::Change& change : explanation.now_if) options.push_back(change.option);
    return options;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

TEST(Explain, SaysWhichGpusAreShortAndWhoHasThem) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   g1 cpus=8 gres=gpu:h100:4
        nodes   g2 cpus=8 gres=gpu:h100:4
        nodes   a1 cpus=8 gres=gpu:a40:4
        submit  bob   gres=gpu:h100:4 time=60
        submit  eve   gres=gpu:h100:2 time=120
        submit  wide  gres=gpu:h100:4 time=600
        pass
        expect  wide  pending Resources
    )"), "");
    Explanation why = explained(world, "wide");
    EXPECT_EQ(why.reason, Reason::Resources);
    ASSERT_EQ(why.places.at(0).short_of.size(), 1u);
    EXPECT_EQ(why.places.at(0).short_of[0], (Explanation::Shortage{"gres/gpu:h100", 4, 2, "g2"}));
    ASSERT_EQ(why.places.at(0).holders.size(), 2u);
    EXPECT_EQ(why.places.at(0).holders[0].nodes, "g1");
    EXPECT_EQ(why.places.at(0).holders[0].amounts, (Tres{{"gres/gpu:h100", 4}}));
    EXPECT_EQ(why.places.at(0).holders[1].amounts, (Tres{{"gres/gpu:h100", 2}}));
    EXPECT_EQ(why.start, world.now() + Minutes{60});
    EXPECT_EQ(why.start_nodes, "g1");
    EXPECT_TRUE(has(options_of(why), "--gres=gpu:h100:2"));
    EXPECT_TRUE(has(options_of(why), "--gres=gpu:a40:4"));
}

TEST(Explain, FindsTheLongestTimeThatFitsBeforeABooking) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   n[1-2] cpus=4
        submit  first  nodes=1 cpus=4 time=90
        pass
        submit  wide   nodes=2 cpus=4 time=60
        pass
        submit  long   nodes=1 cpus=4 time=300
        pass
        expect  wide   pending Resources
        expect  long   pending Priority
    )"), "");
    Explanation why = explained(world, "long");
    EXPECT_EQ(why.ahead, 1u);
    ASSERT_EQ(why.places.at(0).holders.size(), 1u);
    EXPECT_TRUE(why.places.at(0).holders[0].waits);
    EXPECT_EQ(why.places.at(0).holders[0].start, world.now() + Minutes{90});
    EXPECT_TRUE(has(options_of(why), "--time=01:30:00"));
}

TEST(Explain, ListsEveryObstacleAndNotTheFirstOnly) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings licenses=matlab:2
        nodes    n1 cpus=4
        submit   user1  licenses=matlab:2 time=60
        pass
        submit   waits  licenses=matlab:1 cpus=4 time=60
        pass
        expect   waits  pending Licenses
        hold     waits
    )"), "");
    Explanation why = explained(world, "waits");
    EXPECT_NE(why.hold, Reason::None);
    ASSERT_EQ(why.licenses.size(), 1u);
    EXPECT_EQ(why.licenses[0].used, 2u);
    ASSERT_EQ(why.licenses[0].holders.size(), 1u);
    ASSERT_EQ(why.places.at(0).short_of.size(), 1u);
    EXPECT_EQ(why.places.at(0).short_of[0], (Explanation::Shortage{"cpu", 4, 3, "n1"}));
    EXPECT_TRUE(why.now_if.empty());  // no change of size helps a job that is held
}

TEST(Explain, NamesTheStateOfWhatItDependsOn) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   n1 cpus=4
        submit  first  time=30
        pass
        submit  second depend=afterok:first
        pass
        expect  second pending Dependency
    )"), "");
    Explanation why = explained(world, "second");
    ASSERT_EQ(why.awaited.size(), 1u);
    EXPECT_EQ(why.awaited[0].condition, "afterok:1");
    EXPECT_EQ(why.awaited[0].state, "RUNNING");
    EXPECT_EQ(why.awaited[0].due, world.now() + Minutes{30});
}

TEST(Explain, NodesOutOfServiceAndPartitionsThatWouldDo) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-2] cpus=4
        partition a nodes=n1 default
        partition b nodes=n2
        down      n1
        submit    job cpus=2 time=10 partition=a
        pass
    )"), "");
    Explanation why = explained(world, "job");
    ASSERT_EQ(why.places.at(0).unusable.size(), 1u);
    EXPECT_EQ(why.places.at(0).unusable[0].nodes, "n1");
    EXPECT_TRUE(has(options_of(why), "-p b"));
}

TEST(Explain, ManyNodesAndTasksAreCounted) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   n[1-4] cpus=4
        submit  a  nodes=1 cpus=4 time=60
        pass
        submit  b  nodes=4 cpus=4 time=60
        pass
        expect  b  pending Resources
    )"), "");
    Explanation why = explained(world, "b");
    ASSERT_EQ(why.places.at(0).short_of.size(), 1u);
    EXPECT_EQ(why.places.at(0).short_of[0], (Explanation::Shortage{"node", 4, 3, ""}));
    EXPECT_TRUE(has(options_of(why), "--nodes=3"));
}

}  // namespace
}  // namespace sluice
