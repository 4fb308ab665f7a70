// model/partition_keys_test.cc: the keys of scontrol create and update PartitionName=.
#include "model/partition_keys.h"

#include <gtest/gtest.h>

#include "model/errors.h"
#include "model/field_text.h"

namespace sluice {
namespace {

PartitionConfig changed(const KeyTexts& keys, PartitionConfig partition = {}) {
    parse_partition_change(keys).value().apply_to(partition);
    return partition;
}

std::string refusal(const std::string& key, const std::string& value) {
    const Result<PartitionChange> change = parse_partition_change({{key, value}});
    return change ? "" : change.error().detail;
}

TEST(PartitionKeys, OnlyMembersThatAreNamedChange) {
    PartitionConfig before;
    before.max_nodes = 5;
    before.lln = true;
    const PartitionConfig after = changed({{"State", "down"}, {"Nodes", "n[1-2]"}}, before);
    EXPECT_EQ(after.state, PartitionState::Down);
    EXPECT_EQ(after.nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(after.max_nodes, 5u);
    EXPECT_TRUE(after.lln);
}

TEST(PartitionKeys, AnExclusivityEndsOnlyWhereItIsInForce) {
    PartitionConfig whole, own;
    whole.exclusive = PartitionExclusive::Node;
    own.exclusive = PartitionExclusive::User;
    EXPECT_EQ(changed({{"ExclusiveUser", "NO"}}, whole).exclusive, PartitionExclusive::Node);
    EXPECT_EQ(changed({{"ExclusiveUser", "NO"}}, own).exclusive, PartitionExclusive::No);
    EXPECT_EQ(changed({{"OverSubscribe", "FORCE"}}, whole).exclusive, PartitionExclusive::No);
    EXPECT_EQ(changed({{"OverSubscribe", "FORCE"}}, own).exclusive, PartitionExclusive::User);
    EXPECT_EQ(changed({{"Exclusive", "NODE"}, {"OverSubscribe", "NO"}}).exclusive,
              PartitionExclusive::Node);
}

TEST(PartitionKeys, ALimitPerNodeReplacesTheOnePerCpu) {
    PartitionConfig before;
    before.max_mem_per_cpu = 100;
    const PartitionConfig after = changed({{"MaxMemPerNode", "2G"}}, before);
    EXPECT_EQ(after.max_mem_per_node, Megabytes{2048});
    EXPECT_FALSE(after.max_mem_per_cpu);
    EXPECT_FALSE(changed({{"MaxMemPerNode", "0"}}, after).max_mem_per_node);
}

TEST(PartitionKeys, ARefusalSaysWhatIsNeeded) {
    EXPECT_EQ(refusal("maxnodes", "many"), "MaxNodes=many: a number or UNLIMITED is needed");
    EXPECT_EQ(refusal("Hidden", "1"), "Hidden=1: YES or NO is needed");
    EXPECT_EQ(refusal("State", "ASLEEP"), "State=ASLEEP: UP, DOWN, DRAIN or INACTIVE is needed");
    EXPECT_EQ(refusal("Exclusive", "TOPO"), "Exclusive=TOPO: NO, NODE or USER is needed");
    for (const char* of_the_file : {"OverTimeLimit", "PartitionName", "CpuBind"}) {
        const Result<PartitionChange> change = parse_partition_change({{of_the_file, "1"}});
        EXPECT_EQ(change.error().code, ErrorCode::UnknownField) << of_the_file;
    }
}

TEST(PartitionKeys, AChangeIsPrintedByItsKeys) {
    const auto change = parse_partition_change(
        {{"OverSubscribe", "force:2"}, {"PreemptMode", ""}, {"AllowGroups", "a,b"}});
    EXPECT_EQ(print_fields(*change),
              " AllowGroups=a,b OverSubscribe=FORCE:2 PreemptMode= Exclusive-=NODE");
}

TEST(PreemptWords, ArePrintedInSlurmsOrder) {
    EXPECT_EQ(print(parse_preempt_words("suspend,gang")), "GANG,SUSPEND");
    EXPECT_EQ(print(parse_preempt_words("REQUEUE,WITHIN")), "WITHIN,REQUEUE");
    EXPECT_EQ(print(parse_preempt_words("off")), "OFF");
}

}  // namespace
}  // namespace sluice
