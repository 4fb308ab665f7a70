// config/priority_test.cc: the keys of multifactor priority.
#include <gtest/gtest.h>

#include "config/config.h"
#include "config/settings.h"

namespace sluice {
namespace {

Result<Config> with(const std::string& lines) {
    return parse_config(
        "ClusterName=c\nSlurmctldHost=h\nNodeName=n1\nPartitionName=p Nodes=n1\n" + lines,
        "/etc/slurm/slurm.conf");
}

TEST(PriorityKeys, AreRead) {
    Result<Config> config = with(
        "PriorityWeightAge=1000\nPriorityWeightTRES=CPU=1000,Mem=-2.5,GRES/gpu:a40=3000,license/"
        "Sim=1\n"
        "PriorityFlags=accrue_always,NO_NORMAL_ALL\nPriorityMaxAge=14-0\nPriorityCalcPeriod=2\n"
        "PriorityFavorSmall=YES\n");
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_EQ(config->priority_weight_age, 1000u);
    EXPECT_EQ(config->priority_tres_weights,
              (std::vector<std::pair<std::string, double>>{
                  {"cpu", 1000}, {"mem", -2.5}, {"gres/gpu:a40", 3000}, {"license/Sim", 1}}));
    EXPECT_EQ(config->priority_flag_words,
              (std::vector<std::string>{"ACCRUE_ALWAYS", "NO_NORMAL_ALL", "NO_NORMAL_ASSOC",
                                        "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES"}));
    EXPECT_EQ(config->priority_max_age, Seconds{14 * 24 * 3600});
    EXPECT_EQ(config->priority_calc_period, Seconds{120});
    EXPECT_TRUE(config->priority_favor_small);
    EXPECT_TRUE(config->warnings.empty());
}

TEST(PriorityKeys, OfFairShareAreRead) {
    Result<Config> config = with(
        "PriorityFlags=MAX_TRES,DEPTH_OBLIVIOUS,FAIR_TREE\nPriorityDecayHalfLife=1-0\n"
        "PriorityUsageResetPeriod=quarterly\nFairShareDampeningFactor=5\n"
        "PriorityWeightFairShare=10\nPriorityWeightAssoc=20\n");
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_TRUE(config->warnings.empty());
    const PrioritySettings settings = settings_from(*config, UserId{0}).value().priority;
    EXPECT_EQ(settings.billing, BillingRule::MaxTres);
    EXPECT_TRUE(settings.has_flag("DEPTH_OBLIVIOUS"));
    EXPECT_EQ(settings.decay_half_life, Seconds{24 * 3600});
    EXPECT_EQ(settings.usage_reset, UsageReset::Quarterly);
    EXPECT_EQ(settings.dampening, 5);
    EXPECT_EQ(settings.weight_fairshare, 10u);
    EXPECT_EQ(settings.weight_assoc, 20u);
}

TEST(PriorityKeys, BadValuesAreNamed) {
    const std::pair<const char*, const char*> kCases[] = {
        {"PriorityFlags=FOO", "PriorityFlags=FOO: 'FOO' is unknown"},
        {"PriorityWeightTRES=cpu", "PriorityWeightTRES: cpu: expected"},
        {"PriorityWeightTRES=foo=1", "PriorityWeightTRES: foo=1: expected"},
        {"PriorityWeightTRES=gres/=1", "PriorityWeightTRES: gres/=1: expected"},
        {"PriorityWeightTRES=cpu=x", "PriorityWeightTRES: cpu=x: expected a number"},
        {"PriorityWeightTRES=cpu=--1", "PriorityWeightTRES: cpu=--1: expected a number"},
        {"PriorityMaxAge=UNLIMITED", "PriorityMaxAge: expected"},
        {"PriorityCalcPeriod=0", "PriorityCalcPeriod: expected"},
        {"FairShareDampeningFactor=0", "FairShareDampeningFactor=0: expected"},
        {"PriorityUsageResetPeriod=HOURLY", "PriorityUsageResetPeriod=HOURLY"},
    };
    for (const auto& [line, expected] : kCases) {
        Result<Config> config = with(line);
        ASSERT_FALSE(config) << line;
        EXPECT_NE(config.error().detail.find(expected), std::string::npos) << config.error().detail;
    }
}

}  // namespace
}  // namespace sluice
