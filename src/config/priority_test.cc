// config/priority_test.cc: the keys of multifactor priority.
#include <gtest/gtest.h>

#include "config/config.h"

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

TEST(PriorityKeys, WithoutEffectAreSaid) {
    Result<Config> config = with("PriorityFlags=MAX_TRES,INCR_ONLY\n");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->warnings, std::vector<std::string>{
                                    "slurm.conf: PriorityFlags=MAX_TRES has no effect in Sluice"});
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
    };
    for (const auto& [line, expected] : kCases) {
        Result<Config> config = with(line);
        ASSERT_FALSE(config) << line;
        EXPECT_NE(config.error().detail.find(expected), std::string::npos) << config.error().detail;
    }
}

}  // namespace
}  // namespace sluice
