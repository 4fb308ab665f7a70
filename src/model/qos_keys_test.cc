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
    EXPECT_EQ(refusal("UsageFactor", "-2"), "Invalid value for UsageFactor (-2)");
    EXPECT_EQ(refusal("GrpWall", "x"), "Bad GrpWall time format: GrpWall=x");
    EXPECT_EQ(parse_qos_change({{"Priority+", "1"}}).error().code, ErrorCode::NotFound);
}

TEST(QosKeys, LimitsOnUseAndFactorsAreKept) {
    const Qos qos = changed({{"GrpTRESMins", "cpu=100"},
                             {"MaxTRESRunMinsPU", "cpu=5"},
                             {"MaxJobsAccruePA", "4"},
                             {"GrpWall", "90"},
                             {"UsageFactor", "2.5"},
                             {"UsageThreshold", "0.25"},
                             {"LimitFactor", "2"},
                             {"MinPrio", "10"},
                             {"Flags", "NoDecay,relative"}});
    EXPECT_EQ(qos.of_all.minutes.at("cpu"), 100u);
    EXPECT_EQ(qos.of_user.run_minutes.at("cpu"), 5u);
    EXPECT_EQ(qos.of_account.accruing, 4u);
    EXPECT_EQ(qos.of_all.wall, Seconds{5400});
    EXPECT_EQ(qos.usage_factor, 2500u);
    EXPECT_EQ(qos.usage_threshold, 250u);
    EXPECT_EQ(qos.limit_factor, 2000u);
    EXPECT_EQ(qos.min_priority, 10u);
    EXPECT_EQ(qos.flags, kQosNoDecay | kQosRelative);
    const Qos cleared = changed({{"UsageFactor", "-1"}, {"LimitFactor", "-1"}}, qos);
    EXPECT_EQ(cleared.usage_factor, kUnitFactor);
    EXPECT_FALSE(cleared.limit_factor);
}

}  // namespace
}  // namespace sluice
