// What explain() says, in small worlds.
#include "core/schedule/explain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

Explanation explained(Scenario& scenario, const std::string& name) {
    std::shared_ptr<const PlanView> before = scenario.cluster().plan();
    const Viewer root(scenario.cluster().settings(), UserId{0});
    const std::shared_ptr<const Cluster> copy = scenario.cluster().copy_for_questions();
    Explanation first = explain(*copy, scenario.now(), scenario.job(name), root);
    EXPECT_EQ(first, explain(*copy, scenario.now(), scenario.job(name), root));  // changes nothing
    EXPECT_EQ(first, explain(scenario.cluster(), scenario.now(), scenario.job(name), root));
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
    )"),
              "");
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
    )"),
              "");
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
    )"),
              "");
    Explanation why = explained(world, "waits");
    EXPECT_NE(why.hold, Reason::None);
    ASSERT_EQ(why.licenses.size(), 1u);
    EXPECT_EQ(why.licenses[0].used, 2u);
    ASSERT_EQ(why.licenses[0].holders.size(), 1u);
    ASSERT_EQ(why.places.at(0).short_of.size(), 1u);
    EXPECT_EQ(why.places.at(0).short_of[0], (Explanation::Shortage{"cpu", 4, 3, "n1"}));
    EXPECT_TRUE(why.now_if.empty());  // no change of size helps a job that is held
}

TEST(Explain, OffersFewerLicences) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings licenses=matlab:4
        nodes    n1 cpus=4
        submit   first  licenses=matlab:2 time=60
        pass
        submit   waits  licenses=matlab:3 time=60
        pass
        expect   waits  pending Licenses starts=60
    )"),
              "");
    Explanation why = explained(world, "waits");
    EXPECT_TRUE(why.room_now);
    EXPECT_EQ(why.start, world.now() + Minutes{60});
    EXPECT_EQ(options_of(why),
              (std::vector<std::string>{"--licenses=matlab:2", "without --licenses=matlab:3"}));
    EXPECT_EQ(world.run("submit changed licenses=matlab:2\n pass\n expect changed running"), "");
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
    )"),
              "");
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
    )"),
              "");
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
    )"),
              "");
    Explanation why = explained(world, "b");
    ASSERT_EQ(why.places.at(0).short_of.size(), 1u);
    EXPECT_EQ(why.places.at(0).short_of[0], (Explanation::Shortage{"node", 4, 3, ""}));
    EXPECT_TRUE(has(options_of(why), "--nodes=3"));
}

TEST(Explain, OfAReservationItsOwnNodes) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes   n[1-3] cpus=4
        reserve r start=0 length=600 nodes=n[1-2] users=1000
        submit  a  cpus=4 time=60 reservation=r
        submit  b  cpus=4 time=60 reservation=r
        submit  c  cpus=4 time=60 reservation=r
        pass
        expect  c  pending Resources
    )"),
              "");
    Explanation why = explained(world, "c");
    ASSERT_EQ(why.places.size(), 1u);
    EXPECT_EQ(why.places[0].reservation, "r");
    EXPECT_EQ(why.places[0].short_of.at(0), (Explanation::Shortage{"cpu", 4, 0, "n1"}));
    EXPECT_EQ(why.places[0].holders.size(), 2u);
    EXPECT_TRUE(has(options_of(why), "without --reservation=r"));
}

TEST(Explain, EveryPartitionOfTheList) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-2] cpus=4
        partition a nodes=n1 default maxtime=60
        partition b nodes=n1
        partition c nodes=n2
        submit    x cpus=3 time=60 partition=b
        submit    y cpus=2 time=60 partition=c
        pass
        submit    job cpus=4 time=90 partition=a,b,c
        pass
    )"),
              "");
    Explanation why = explained(world, "job");
    ASSERT_EQ(why.partitions.size(), 1u);
    EXPECT_EQ(why.partitions[0].reason, Reason::PartitionTimeLimit);
    ASSERT_EQ(why.places.size(), 2u);
    EXPECT_EQ(why.places[0].short_of.at(0), (Explanation::Shortage{"cpu", 4, 1, "n1"}));
    EXPECT_EQ(why.places[1].short_of.at(0), (Explanation::Shortage{"cpu", 4, 2, "n2"}));
}

// What is suggested is submitted in place of the job, and starts at once.
TEST(Explain, WhatIsSuggestedStarts) {
    struct Row {
        std::string_view asked;    // of the job, that no option can give now
        std::string_view option;   // suggested
        std::string_view instead;  // the same in the words of a scenario
    };
    constexpr Row kRows[] = {
        {"gres=gpu:h100:4 time=60 partition=gpu", "--gres=gpu:h100:2",
         "gres=gpu:h100:2 time=60 partition=gpu"},
        {"gres=gpu:h100:4 time=60 partition=gpu", "--gres=gpu:a40:4",
         "gres=gpu:a40:4 time=60 partition=gpu"},
        {"nodes=3 cpus=4 time=60 partition=cpu", "--nodes=2",
         "nodes=2 cpus=4 time=60 partition=cpu"},
        {"nodes=3 cpus=4 time=60 partition=cpu", "--cpus-per-task=1",
         "nodes=3 cpus=1 time=60 partition=cpu"},
        {"nodelist=n1 mem=3000 time=60 partition=cpu", "--mem=1G",
         "nodelist=n1 mem=1024 time=60 partition=cpu"},
        {"nodelist=n1 mem=3000 time=60 partition=cpu", "without --nodelist=n1",
         "mem=3000 time=60 partition=cpu"},
        {"cpus=4 time=60 partition=old", "-p cpu", "cpus=4 time=60 partition=cpu"},
        {"cpus=4 time=200 partition=soon", "--time=01:40:00", "cpus=4 time=100 partition=soon"},
    };
    constexpr std::string_view kWorld = R"(
        nodes     g[1-2] cpus=8 gres=gpu:h100:4
        nodes     a1 cpus=8 gres=gpu:a40:4
        nodes     n[1-3] cpus=4 mem=4000
        nodes     o1 cpus=4
        nodes     s1 cpus=4
        partition gpu nodes=g[1-2],a1
        partition cpu nodes=n[1-3] default
        partition old nodes=o1 state=DOWN
        partition soon nodes=s1
        reserve   r start=100 length=60 nodes=s1 users=1
        submit    one   gres=gpu:h100:4 time=60 partition=gpu
        submit    two   gres=gpu:h100:2 time=120 partition=gpu
        submit    three nodelist=n1 cpus=3 mem=2500 time=60 partition=cpu
        pass
    )";
    for (const Row& row : kRows) {
        Scenario world;
        ASSERT_EQ(world.run(kWorld), "");
        ASSERT_EQ(world.run(fmt::format("submit job {}\n pass\n expect job pending", row.asked)),
                  "");
        std::vector<std::string> options = options_of(explained(world, "job"));
        EXPECT_TRUE(has(options, std::string(row.option)))
            << row.option << " not in " << join(options, " or ");
        std::string retry = fmt::format(
            "cancel job\n submit changed {}\n pass\n expect changed running", row.instead);
        EXPECT_EQ(world.run(retry), "");
    }
}

TEST(Explain, NamesTheReservationThatKeepsLicences) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        settings licenses=matlab:4
        nodes    n1 cpus=4
        reserve  course start=30 length=60 nodes=n1 users=1000 licenses=matlab:3
        submit   waits  licenses=matlab:2 time=60 user=1001
        pass
        expect   waits pending Licenses
    )"),
              "");
    Explanation why = world.why(std::to_string(world.job("waits").value)).value().front();
    ASSERT_EQ(why.licenses.size(), 1u);
    ASSERT_EQ(why.licenses[0].kept.size(), 1u);
    EXPECT_EQ(why.licenses[0].kept[0].reservation, "course");
    EXPECT_EQ(why.licenses[0].kept[0].count, 3u);
}

}  // namespace
}  // namespace sluice
