// scontrol update PartitionName=: fields take effect on jobs that wait; what is wrong changes nothing.
#include <gtest/gtest.h>

#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

using Changes = std::vector<std::pair<std::string, std::string>>;

// Empty: done.
std::string update(Scenario& world, const std::string& partition, Changes changes) {
    Effects effects;
    UpdatePartition event{RequestId{1}, {UserId{0}, GroupId{0}}, partition, std::move(changes)};
    apply(world.cluster(), world.now(), event, effects);
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects.back()).answer);
    return error ? to_string(*error) : "";
}

TEST(PartitionUpdate, NodesComeAndGo) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-3] cpus=2\npartition p nodes=n1 default\nsubmit a exclusive\nsubmit b exclusive\n"
                        "submit c nodes=2 exclusive refused\npass\nexpect a running n1\nexpect b pending"),
              "");
    EXPECT_EQ(update(world, "p", {{"Nodes", "n[3,2]"}}), "");
    EXPECT_EQ(world.run("pass\nexpect a running n1\nexpect b running n2\nsubmit c nodes=2 exclusive"), "");
    const Partition& partition = *world.cluster().find_partition("p");
    EXPECT_EQ(partition.config.nodes, (std::vector<std::string>{"n2", "n3"}));
    EXPECT_EQ(partition.total_cpus, 4u);
    EXPECT_NE(update(world, "p", {{"Nodes", "n9"}}), "");
    EXPECT_EQ(update(world, "p", {{"Nodes", "ALL"}}), "");
    EXPECT_EQ(world.cluster().find_partition("p")->total_cpus, 6u);
}

TEST(PartitionUpdate, LimitsAreThoseOfWaitingJobs) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=4\npartition p default state=DOWN\nsubmit a tasks=4\npass\n"
                        "expect a pending PartitionDown"),
              "");
    EXPECT_EQ(update(world, "p", {{"State", "up"}, {"MaxCPUsPerNode", "2"}}), "");
    EXPECT_EQ(world.run("pass\nexpect a running n[1-2]"), "");
    EXPECT_EQ(update(world, "p", {{"MaxCPUsPerNode", "UNLIMITED"}, {"GraceTime", "30"}, {"MaxMemPerNode", "2G"},
                                  {"AllowAccounts", "lab,class"}, {"MaxTime", "1:30"}}),
              "");
    const PartitionConfig& config = world.cluster().find_partition("p")->config;
    EXPECT_FALSE(config.max_cpus_per_node);
    EXPECT_EQ(config.grace_time, Seconds{30});
    EXPECT_EQ(config.max_mem_per_node, Megabytes{2048});
    EXPECT_EQ(config.allow_accounts, (std::vector<std::string>{"lab", "class"}));
    EXPECT_EQ(config.max_time, TimeLimit{Seconds{120}});
}

TEST(PartitionUpdate, WhatIsWrongChangesNothing) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\npartition p default\npass"), "");
    EXPECT_NE(update(world, "p", {{"MaxNodes", "3"}, {"State", "ASLEEP"}}).find("State=ASLEEP: UP, DOWN"), std::string::npos);
    EXPECT_FALSE(world.cluster().find_partition("p")->config.max_nodes);
    EXPECT_NE(update(world, "p", {{"MaxNodes", "many"}}), "");
    EXPECT_NE(update(world, "p", {{"Hidden", "1"}}), "");
    EXPECT_NE(update(world, "p", {{"Frobs", "1"}}).find("Frobs"), std::string::npos);
    EXPECT_NE(update(world, "q", {{"Hidden", "YES"}}), "");
}

}  // namespace
}  // namespace sluice
