// config/partitions_test.cc: PartitionName lines.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

using Names = std::vector<std::string>;

PartitionConfig partition(std::string_view keys) {
    Config config = small_with("PartitionName=p " + std::string(keys));
    const PartitionConfig* found = config.find_partition("p");
    return found ? *found : PartitionConfig{};
}

TEST(Partitions, WithoutKeysEverythingIsOpen) {
    PartitionConfig p = partition("Nodes=n1");
    EXPECT_TRUE(p.max_time.unlimited());
    EXPECT_EQ(p.default_time, std::nullopt);
    EXPECT_EQ(p.max_nodes, std::nullopt);
    EXPECT_EQ(p.state, PartitionState::Up);
    EXPECT_EQ(p.oversubscribe, OverSubscription{});
    EXPECT_EQ(p.node_sets, Names{});
}

TEST(Partitions, EveryKeyWithAnEffect) {
    PartitionConfig p = partition(
        "Nodes=n[1-2] MaxTime=2-0 DefaultTime=30 MinNodes=1 MaxNodes=2 MaxCPUsPerNode=3 "
        "MaxCPUsPerSocket=2 DefMemPerCPU=100 MaxMemPerNode=2G State=drain Hidden=yes RootOnly=YES "
        "ReqResv=yes DisableRootJobs=yes LLN=yes AllowGroups=a,b AllowAccounts=x DenyQos=y "
        "AllocNodes=l[1-2] Alternate=all QOS=q PreemptMode=requeue GraceTime=9 PriorityTier=3 "
        "PriorityJobFactor=4 OverTimeLimit=5 TRESBillingWeights=CPU=1.0 DefCpuPerGPU=2 "
        "Exclusive=user OverSubscribe=force:2");
    EXPECT_EQ(p.max_time, TimeLimit{Seconds{2 * 86400}});
    EXPECT_EQ(p.default_time, TimeLimit{Seconds{1800}});
    EXPECT_EQ(p.max_nodes, 2u);
    EXPECT_EQ(p.max_cpus_per_node, 3u);
    EXPECT_EQ(p.def_mem_per_cpu, 100u);
    EXPECT_EQ(p.max_mem_per_node, 2048u);
    EXPECT_EQ(p.state, PartitionState::Drain);
    EXPECT_TRUE(p.hidden && p.root_only && p.req_resv && p.disable_root_jobs && p.lln);
    EXPECT_EQ(p.allow_groups, (Names{"a", "b"}));
    EXPECT_EQ(p.allow_alloc_nodes, (Names{"l1", "l2"}));
    EXPECT_EQ(p.preempt_mode->mode, PreemptMode::Requeue);
    EXPECT_EQ(p.grace_time, Seconds{9});
    EXPECT_EQ(p.priority_tier, 3u);
    EXPECT_EQ(p.over_time_limit, 5u);
    EXPECT_EQ(print_job_defaults(p), "DefCpuPerGPU=2");
    EXPECT_EQ(p.exclusive, PartitionExclusive::User);
    EXPECT_EQ(print(p.oversubscribe), "FORCE:2");
}

TEST(Partitions, OldWordsForExclusive) {
    EXPECT_EQ(partition("Nodes=n1 OverSubscribe=EXCLUSIVE").exclusive, PartitionExclusive::Node);
    EXPECT_EQ(partition("Nodes=n1 Shared=EXCLUSIVE").oversubscribe, OverSubscription{});
    EXPECT_EQ(partition("Nodes=n1 ExclusiveUser=YES").exclusive, PartitionExclusive::User);
    EXPECT_EQ(print(partition("Nodes=n1 OverSubscribe=FORCE").oversubscribe), "FORCE:4");
    EXPECT_EQ(partition("Nodes=n1 MaxNodes=UNLIMITED AllowGroups=ALL").allow_groups, Names{});
}

TEST(Partitions, NodesInTableOrderFromNamesAndSets) {
    EXPECT_EQ(partition("Nodes=n[3,1]").nodes, (Names{"n1", "n3"}));
    EXPECT_EQ(partition("Nodes=ALL").node_sets, Names{"ALL"});
    EXPECT_EQ(partition("Nodes=\"\"").nodes, Names{});
    Config config = small_with(
        "NodeName=g[1-2] Feature=gpu\nPartitionName=p Nodes=fast,n[2-3]\n"
        "NodeSet=fast Nodes=n1 Feature=gpu\n");
    EXPECT_EQ(config.find_partition("p")->nodes, (Names{"n1", "n2", "n3", "g1", "g2"}));
    EXPECT_EQ(config.find_partition("p")->node_sets, Names{"fast"});
    EXPECT_EQ(config.find_partition("p")->nodes_text, "fast,n[2-3]");
}

TEST(Partitions, DefaultsApplyToTheLinesBelow) {
    Config config = small_with(
        "PartitionName=DEFAULT MaxTime=60 Nodes=n1\nPartitionName=a\n"
        "PartitionName=b MaxTime=30 Default=YES");
    EXPECT_EQ(config.find_partition("a")->max_time, TimeLimit{Seconds{3600}});
    EXPECT_EQ(config.find_partition("a")->nodes, Names{"n1"});
    EXPECT_EQ(config.find_partition("b")->max_time, TimeLimit{Seconds{1800}});
    EXPECT_FALSE(config.find_partition("all")->is_default);
    EXPECT_EQ(config.warnings,
              (std::vector<std::string>{
                  "slurm.conf line 7: Default=YES: partition 'b' replaces 'all' as the default"}));
}

TEST(Partitions, ErrorsNameLineKeyAndValue) {
    const std::pair<const char*, const char*> cases[] = {
        {"PartitionName=all Nodes=n1",
         "slurm.conf line 5: partition 'all' is defined twice, first in slurm.conf line 4"},
        {"PartitionName=p Nodes=n[4-5]",
         "slurm.conf line 5: Nodes=n[4-5]: no NodeName line defines 'n5'"},
        {"PartitionName=p Nodes=n[1", "Nodes=n[1: expected hosts"},
        {"PartitionName=a,b", "PartitionName=a,b: expected one name"},
        {"PartitionName=p MaxTime=soon", "MaxTime=soon: expected a time"},
        {"PartitionName=p State=SIDEWAYS", "State=SIDEWAYS: expected one of UP"},
        {"PartitionName=p OverSubscribe=FOO", "OverSubscribe=FOO: expected NO, EXCLUSIVE"},
        {"PartitionName=p PriorityTier=70000", "PriorityTier=70000: expected a number from 0"},
        {"PartitionName=p MinNodes=3 MaxNodes=2", "MinNodes=3 is more than MaxNodes=2"},
        {"PartitionName=p AllowQos=a DenyQos=b", "exclude each other"},
        {"PartitionName=p AllowAccounts=a DenyAccounts=b", "exclude each other"},
        {"PartitionName=p Alternate=zz", "Alternate=zz: no such partition"},
        {"PartitionName=p PreemptMode=HARD", "'HARD' is unknown"},
        {"PartitionName=p Foo=1", "unrecognized key 'Foo'"},
        {"NodeSet=s Nodes=zz\nPartitionName=p Nodes=s", "line 5: Nodes=zz: no NodeName line"},
    };
    for (const auto& [line, expected] : cases) {
        EXPECT_NE(error_with(line).find(expected), std::string::npos)
            << line << " gives: " << error_with(line);
    }
}

}  // namespace
}  // namespace sluice
