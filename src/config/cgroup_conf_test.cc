// config/cgroup_conf_test.cc: cgroup.conf: what is read, what is warned of, what is refused.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

TEST(CgroupConf, EveryKeyWithAnEffect) {
    std::vector<std::string> warnings;
    auto config = parse_cgroup_conf(
        "CgroupAutomount=yes\nCgroupPlugin=cgroup/v2\nConstrainCores=yes ConstrainDevices=yes\n"
        "ConstrainRAMSpace=yes\nAllowedRAMSpace=98.5\nMinRAMSpace=40\nMemorySwappiness=0\n"
        "CgroupMountpoint=/cg\nIgnoreSystemd=yes\nMaxRAMPercent=90\nEnableControllers=yes\n",
        "cgroup.conf", warnings);
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_EQ(config->plugin, "cgroup/v2");
    EXPECT_TRUE(config->constrain_cores && config->constrain_devices);
    EXPECT_FALSE(config->constrain_swap_space);
    EXPECT_EQ(config->allowed_ram_space, 98.5);
    EXPECT_EQ(config->max_ram_percent, 90);
    EXPECT_EQ(config->min_ram_space, 40u);
    EXPECT_EQ(config->mountpoint, "/cg");
    EXPECT_TRUE(config->ignore_systemd);
    EXPECT_EQ(config->memory_swappiness, 0u);
    EXPECT_EQ(warnings, (std::vector<std::string>{
                            "cgroup.conf line 11: EnableControllers=yes has no effect in Sluice"}));
}

TEST(CgroupConf, ErrorsNameLineKeyAndValue) {
    std::vector<std::string> warnings;
    EXPECT_EQ(parse_cgroup_conf("ConstrainCores=perhaps", "cgroup.conf", warnings).error().detail,
              "cgroup.conf line 1: ConstrainCores=perhaps: expected yes or no");
    EXPECT_EQ(parse_cgroup_conf("ConstrainCore=yes", "cgroup.conf", warnings).error().detail,
              "cgroup.conf line 1: unrecognized key 'ConstrainCore' (did you mean "
              "'ConstrainCores'?)");
    EXPECT_TRUE(parse_cgroup_conf("MemorySwappiness=100", "cgroup.conf", warnings));
    EXPECT_EQ(parse_cgroup_conf("MemorySwappiness=101", "cgroup.conf", warnings).error().detail,
              "cgroup.conf line 1: MemorySwappiness=101: expected 0 to 100");
}

}  // namespace
}  // namespace sluice
