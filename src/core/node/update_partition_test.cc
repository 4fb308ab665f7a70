// scontrol create, update and delete PartitionName=: fields take effect on waiting jobs; a wrong
// value changes nothing.
#include <gtest/gtest.h>

#include "model/errors.h"
#include "model/partition_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

// Empty: done.
std::string change(Scenario& world, const UpdatePartition& event) {
    Effects effects;
    apply(world.cluster(), world.now(), event, effects);
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects.back()).answer);
    return error ? to_string(*error) : "";
}

std::string change(Scenario& world, const std::string& partition, const KeyTexts& keys,
                   UpdatePartition::Verb verb) {
    const Result<PartitionChange> parsed = parse_partition_change(keys);
    if (!parsed) return to_string(parsed.error());
    return change(world, {RequestId{1}, kRoot, partition, *parsed, verb});
}

std::string update(Scenario& world, const std::string& partition, const KeyTexts& keys) {
    return change(world, partition, keys, UpdatePartition::Verb::Update);
}

std::string create(Scenario& world, const std::string& partition, const KeyTexts& keys) {
    return change(world, partition, keys, UpdatePartition::Verb::Create);
}

std::string remove(Scenario& world, const std::string& partition) {
    return change(world, {RequestId{1}, kRoot, partition, {}, UpdatePartition::Verb::Delete});
}

const PartitionConfig& config_of(Scenario& world, const std::string& partition) {
    return world.cluster().find_partition(partition)->config;
}

TEST(PartitionUpdate, NodesComeAndGo) {
    Scenario world;
    ASSERT_EQ(
        world.run(
            "nodes n[1-3] cpus=2\npartition p nodes=n1 default\nsubmit a exclusive\nsubmit b "
            "exclusive\n"
            "submit c nodes=2 exclusive refused\npass\nexpect a running n1\nexpect b pending"),
        "");
    EXPECT_EQ(update(world, "p", {{"Nodes", "n[3,2]"}}), "");
    EXPECT_EQ(
        world.run("pass\nexpect a running n1\nexpect b running n2\nsubmit c nodes=2 exclusive"),
        "");
    const Partition& partition = *world.cluster().find_partition("p");
    EXPECT_EQ(partition.config.nodes, (std::vector<std::string>{"n2", "n3"}));
    EXPECT_EQ(partition.total_cpus, 4u);
    EXPECT_NE(update(world, "p", {{"Nodes", "n9"}}), "");
    EXPECT_EQ(update(world, "p", {{"Nodes", "ALL"}}), "");
    EXPECT_EQ(world.cluster().find_partition("p")->total_cpus, 6u);
}

TEST(PartitionUpdate, LimitsAreThoseOfWaitingJobs) {
    Scenario world;
    ASSERT_EQ(
        world.run("nodes n[1-2] cpus=4\npartition p default state=DOWN\nsubmit a tasks=4\npass\n"
                  "expect a pending PartitionDown"),
        "");
    EXPECT_EQ(update(world, "p", {{"State", "up"}, {"MaxCPUsPerNode", "2"}}), "");
    EXPECT_EQ(world.run("pass\nexpect a running n[1-2]"), "");
    EXPECT_EQ(update(world, "p",
                     {{"MaxCPUsPerNode", "UNLIMITED"},
                      {"GraceTime", "30"},
                      {"MaxMemPerNode", "2G"},
                      {"AllowAccounts", "lab,class"},
                      {"MaxTime", "1:30"}}),
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
    EXPECT_NE(
        update(world, "p", {{"MaxNodes", "3"}, {"State", "ASLEEP"}}).find("State=ASLEEP: UP, DOWN"),
        std::string::npos);
    EXPECT_FALSE(world.cluster().find_partition("p")->config.max_nodes);
    EXPECT_NE(update(world, "p", {{"MaxNodes", "many"}}), "");
    EXPECT_NE(update(world, "p", {{"Hidden", "1"}}), "");
    EXPECT_NE(update(world, "p", {{"Frobs", "1"}}).find("Frobs"), std::string::npos);
    EXPECT_NE(update(world, "q", {{"Hidden", "YES"}}), "");
    const std::pair<const char*, const char*> wrong[] = {{"AllocNodes", "l[1"},
                                                         {"Alternate", "q"},
                                                         {"CpuBind", "core"},
                                                         {"Exclusive", "TOPO"},
                                                         {"ExclusiveUser", "1"},
                                                         {"JobDefaults", "Foo=1"},
                                                         {"JobDefaults", "DefCpuPerGPU"},
                                                         {"OverSubscribe", "NO:2"},
                                                         {"OverSubscribe", "FORCE:0"},
                                                         {"OverTimeLimit", "5"},
                                                         {"PreemptMode", "HARD"},
                                                         {"Priority", "65534"},
                                                         {"PriorityTier", "70000"},
                                                         {"QOS", "q"},
                                                         {"Shared", "SOME"},
                                                         {"TRESBillingWeights", "cpu=1"}};
    const PartitionConfig before = config_of(world, "p");
    for (const auto& [key, value] : wrong) {
        const std::string said = update(world, "p", {{"MaxNodes", "3"}, {key, value}});
        EXPECT_NE(said.find(std::string(key) + "=" + value), std::string::npos) << said;
    }
    EXPECT_EQ(config_of(world, "p"), before);
}

TEST(PartitionUpdate, EveryOtherField) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\npartition p default\npartition q\npass"), "");
    EXPECT_EQ(update(world, "p",
                     {{"allocnodes", "l[1-2]"},
                      {"Alternate", "q"},
                      {"Priority", "7"},
                      {"PriorityTier", "8"},
                      {"JobDefaults", "defcpupergpu=2,DefMemPerGPU=100"},
                      {"PreemptMode", "cancel"},
                      {"Shared", "yes"},
                      {"Exclusive", "user"}}),
              "");
    const PartitionConfig& p = config_of(world, "p");
    EXPECT_EQ(p.allow_alloc_nodes, (std::vector<std::string>{"l1", "l2"}));
    EXPECT_EQ(p.alternate, "q");
    EXPECT_EQ(p.priority_job_factor, 7u);
    EXPECT_EQ(p.priority_tier, 8u);
    EXPECT_EQ(print_job_defaults(p), "DefCpuPerGPU=2,DefMemPerGPU=100");
    EXPECT_EQ(p.def_cpus_per_gpu, 2u);
    EXPECT_EQ(p.def_mem_per_gpu, Megabytes{100});
    EXPECT_EQ(p.preempt_mode->mode, PreemptMode::Cancel);
    EXPECT_EQ(print(p.oversubscribe), "YES:4");
    EXPECT_EQ(p.exclusive, PartitionExclusive::User);
    EXPECT_EQ(update(world, "p",
                     {{"AllocNodes", "ALL"},
                      {"Alternate", "NONE"},
                      {"JobDefaults", ""},
                      {"PreemptMode", ""},
                      {"OverSubscribe", "EXCLUSIVE"},
                      {"Nodes", ""}}),
              "");
    const PartitionConfig& again = config_of(world, "p");
    EXPECT_TRUE(again.allow_alloc_nodes.empty() && again.alternate.empty() &&
                print_job_defaults(again).empty());
    EXPECT_TRUE(!again.preempt_mode && again.nodes.empty());
    EXPECT_EQ(again.exclusive, PartitionExclusive::Node);
    EXPECT_EQ(update(world, "p", {{"OverSubscribe", "NO"}}), "");
    EXPECT_EQ(config_of(world, "p").exclusive, PartitionExclusive::No);
}

// Compat: a job that started without sharing keeps its CPUs alone.
TEST(PartitionUpdate, SharingIsForThoseWhoStartFromNowOn) {
    Scenario world;
    ASSERT_EQ(
        world.run("nodes n1 cpus=2\npartition p default\nsubmit a cpus=2\nsubmit b cpus=2\npass\n"
                  "expect a running n1\nexpect b pending"),
        "");
    EXPECT_EQ(update(world, "p", {{"OverSubscribe", "FORCE:2"}}), "");
    EXPECT_EQ(
        world.run("pass\nexpect a running n1\nexpect b pending\nend a\nsubmit c cpus=2\npass\n"
                  "expect b running n1\nexpect c running n1"),
        "");
    EXPECT_EQ(update(world, "p", {{"OverSubscribe", "NO"}}), "");
    EXPECT_EQ(world.run("submit d cpus=2\nend b\npass\nexpect c running n1\nexpect d pending"), "");
}

TEST(PartitionUpdate, NodesForOneUserAtATime) {
    Scenario world;
    ASSERT_EQ(
        world.run(
            "nodes n1 cpus=2\npartition p default state=DOWN\nsubmit a\nsubmit b user=1001\npass"),
        "");
    EXPECT_EQ(update(world, "p", {{"ExclusiveUser", "YES"}, {"State", "UP"}}), "");
    EXPECT_EQ(world.run("pass\nexpect a running n1\nexpect b pending"), "");
}

TEST(PartitionUpdate, WhetherRunningJobsHaveToMakeRoom) {
    Scenario world;
    ASSERT_EQ(world.run("settings preempt=partition mode=REQUEUE\nnodes n1 cpus=1\npartition low "
                        "default tier=1 mode=OFF\n"
                        "partition high tier=2\nsubmit a\npass\nsubmit b partition=high\npass\n"
                        "expect a running n1\nexpect b pending"),
              "");
    EXPECT_EQ(update(world, "low", {{"PreemptMode", "CANCEL"}}), "");
    EXPECT_EQ(world.run("pass\nexpect a completing"), "");
}

// Compat: they wait for as long as it lasts (PartitionConfig); what runs goes on.
TEST(PartitionUpdate, GroupsAreAlsoForThoseWhoWait) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=4\npartition p default\nsubmit r\npass\nexpect r running\n"),
              "");
    EXPECT_EQ(update(world, "p", {{"State", "DOWN"}}), "");
    ASSERT_EQ(
        world.run(
            "submit a\nsubmit b user=1001\nsubmit c user=0\npass\nexpect a pending PartitionDown"),
        "");
    UpdatePartition event{
        RequestId{1}, kRoot, "p",
        parse_partition_change({{"State", "UP"}, {"AllowGroups", "lab"}}).value()};
    event.job_owners = {{UserId{1000}, GroupId{100}, {"users"}},
                        {UserId{1001}, GroupId{100}, {"users", "lab"}},
                        kRoot};
    EXPECT_EQ(change(world, event), "");
    EXPECT_EQ(
        world.run("pass\nexpect r running\nexpect a pending PartitionConfig\nexpect b running\n"
                  "expect c running\nsubmit d groups=users refused=AllowGroups=lab\nsubmit e "
                  "user=1001 groups=lab"),
        "");
    auto why = world.why(std::to_string(world.job("a").value));
    ASSERT_TRUE(why && why->front().partitions.size() == 1);
    EXPECT_EQ(why->front().partitions.front().text, "it is for the groups lab");

    event.change = {};  // the shell has looked again
    event.job_owners = {{UserId{1000}, GroupId{100}, {"lab"}}};
    EXPECT_EQ(change(world, event), "");
    EXPECT_EQ(world.run("pass\nexpect a running"), "");
}

TEST(PartitionUpdate, AReservationOfItsNodesFollows) {
    Scenario world;
    ASSERT_EQ(
        world.run("nodes n[1-2]\npartition p default nodes=n1\n"
                  "reserve r start=10 length=60 partition=p nodes=ALL users=1000 flags=PART_NODES"),
        "");
    EXPECT_EQ(update(world, "p", {{"Nodes", "n2"}}), "");
    EXPECT_EQ(world.cluster().reservations().front().nodes, std::vector<NodeIndex>{NodeIndex{1}});
    EXPECT_EQ(remove(world, "p"), "Partition is in use");
}

TEST(PartitionCreate, TakesJobsAtOnceAndMayBeTheDefault) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\npartition p default nodes=n1\npass"), "");
    EXPECT_EQ(create(world, "fresh", {{"Nodes", "n2"}, {"MaxTime", "30"}, {"Default", "YES"}}), "");
    EXPECT_EQ(
        world.run("submit a\nsubmit b partition=p\npass\nexpect a running n2\nexpect b running n1"),
        "");
    EXPECT_FALSE(config_of(world, "p").is_default);
    EXPECT_EQ(config_of(world, "fresh").min_nodes, 1u);
    EXPECT_EQ(create(world, "empty", {}), "");
    EXPECT_TRUE(config_of(world, "empty").nodes.empty());
}

TEST(PartitionCreate, WhatIsWrongMakesNone) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\npartition p default\npass"), "");
    EXPECT_EQ(create(world, "p", {}), "Invalid partition name specified: p exists");
    EXPECT_EQ(create(world, "new", {{"Nodes", "n9"}}), "Invalid node name specified: n9");
    EXPECT_NE(create(world, "new", {{"State", "ASLEEP"}}).find("State=ASLEEP"), std::string::npos);
    for (const char* name : {"", "DEFAULT", "a,b", "a b", "a=b"})
        EXPECT_NE(create(world, name, {}), "") << name;
    UpdatePartition others{
        RequestId{1}, {UserId{1000}, GroupId{100}}, "new", {}, UpdatePartition::Verb::Create};
    EXPECT_EQ(change(world, others), "Access/permission denied");
    EXPECT_EQ(world.cluster().partitions().size(), 1u);
}

TEST(PartitionDelete, OnlyWhereNobodyWaitsOrRuns) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=2\npartition q\npartition p default\nsubmit a partition=p,q "
                        "hold\nsubmit b cpus=2\n"
                        "submit c\npass\nexpect b running\nexpect c pending"),
              "");
    EXPECT_EQ(remove(world, "q"), "Partition is in use");
    EXPECT_EQ(remove(world, "p"), "Partition is in use");
    EXPECT_EQ(remove(world, "none"), "Invalid partition name specified");
    ASSERT_EQ(world.run("cancel a"), "");
    EXPECT_EQ(remove(world, "q"), "");
    EXPECT_FALSE(world.cluster().find_partition("q"));
    EXPECT_EQ(world.run("pass\nexpect c pending\nend b\npass\nexpect c running n1\nsubmit d "
                        "partition=q refused"),
              "");
}

}  // namespace
}  // namespace sluice
