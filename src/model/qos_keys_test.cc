// model/qos_keys_test.cc: the keys of sacctmgr add and modify qos.
#include "model/qos_keys.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

Qos changed(const KeyTexts& keys, Qos qos = {}) {
    parse_qos_change(keys).value().apply_to(qos);
    return qos;
}

TEST(QosKeys, ListsAreReplacedExtendedAndShortened) {
    Qos before;
    before.preempt = {"low", "mid"};
    before.flags = kQosDenyOnLimit;
    const Qos more = changed({{"Preempt+", "Top,low"}, {"Flags+", "OverPartQOS"}}, before);
    EXPECT_EQ(more.preempt, (std::vector<std::string>{"mid", "top", "low"}));
    EXPECT_TRUE(more.has(kQosDenyOnLimit) && more.has(kQosOverPartQos));
    EXPECT_EQ(changed({{"Preempt-", "low"}}, before).preempt, std::vector<std::string>{"mid"});
    const Qos fresh = changed({{"Preempt", "x"}, {"Flags", "OverPartQOS"}}, before);
    EXPECT_EQ(fresh.preempt, std::vector<std::string>{"x"});
    EXPECT_EQ(fresh.flags, kQosOverPartQos + 0u);
    EXPECT_TRUE(changed({{"Preempt", ""}}, before).preempt.empty());
}

TEST(QosKeys, LimitsAreSetOneByOneAndRemovedByMinusOne) {
    const Qos before =
        changed({{"GrpTRES", "cpu=8,mem=2G"}, {"GrpJobs", "3"}, {"MaxWall", "1:30"}});
    EXPECT_EQ(before.of_all.tres.at("mem"), 2048u);
    EXPECT_EQ(before.max_wall, Seconds{120});
    const Qos after = changed({{"GrpTRES", "mem=-1,node=2"}, {"grpjobs", "-1"}}, before);
    EXPECT_EQ(after.of_all.tres, (Tres{{"cpu", 8}, {"node", 2}}));
    EXPECT_FALSE(after.of_all.running);
    EXPECT_EQ(after.max_wall, before.max_wall);
}

TEST(QosKeys, WhatIsWrongIsNamed) {
    auto refusal = [](const char* key, const char* value) {
        const Result<QosChange> change = parse_qos_change({{key, value}});
        return change ? "" : change.error().detail;
    };
    EXPECT_EQ(refusal("grptres", "frob=4"), "GrpTRES=frob=4: no TRES known by type frob");
    EXPECT_EQ(refusal("Priority", "x"), "Invalid value for Priority (x)");
    EXPECT_NE(refusal("PreemptMode", "HARD"), "");
    EXPECT_NE(refusal("MaxTRESPerNode", "node=2"), "");
    EXPECT_EQ(parse_qos_change({{"Frobs", "1"}}).error().code, ErrorCode::NotFound);
    EXPECT_EQ(parse_qos_change({{"UsageFactor", "1"}}).error().code, ErrorCode::NotSupported);
    EXPECT_EQ(parse_qos_change({{"Priority+", "1"}}).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sluice
