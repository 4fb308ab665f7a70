#include "model/cpu_freq.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Kind = CpuClock::Kind;

TEST(CpuFreq, AllForms) {
    EXPECT_EQ(*parse_cpu_freq("2400000"),
              (CpuFreq{.speed = CpuClock{Kind::Kilohertz, 2400000}, .governor = "UserSpace"}));
    EXPECT_EQ(*parse_cpu_freq("HighM1"),
              (CpuFreq{.speed = CpuClock{Kind::HighMinusOne}, .governor = "UserSpace"}));
    EXPECT_EQ(*parse_cpu_freq("ondemand"), (CpuFreq{.governor = "OnDemand"}));
    EXPECT_EQ(*parse_cpu_freq("low-high"),
              (CpuFreq{.least = CpuClock{Kind::Low}, .most = CpuClock{Kind::High}}));
    EXPECT_EQ(*parse_cpu_freq("1000-high:performance"),
              (CpuFreq{.least = CpuClock{Kind::Kilohertz, 1000},
                       .most = CpuClock{Kind::High},
                       .governor = "Performance"}));
}

TEST(CpuFreq, WhatIsNoneOfThem) {
    for (const char* text : {"", "fast", "0", "-1", "high-low", "2000-1000", "1000-1000", "low-",
                             "low-high:", "low-high:fast", "low:OnDemand", "OnDemand-high"}) {
        EXPECT_FALSE(parse_cpu_freq(text)) << text;
    }
}

TEST(CpuFreq, GovernorsAreAllowedByTheAdministrator) {
    EXPECT_EQ(forbidden_governor({.governor = "PowerSave"}, "OnDemand,Performance"), "PowerSave");
    EXPECT_EQ(forbidden_governor({.governor = "Performance"}, "ondemand, performance"), "");
    EXPECT_EQ(forbidden_governor({}, ""), "");
}

TEST(CpuFreq, NearestOfWhatTheCpuHas) {
    const std::vector<std::uint32_t> all = {3000, 1000, 2000};
    EXPECT_EQ(nearest_frequency({Kind::Low}, all), 1000u);
    EXPECT_EQ(nearest_frequency({Kind::Medium}, all), 2000u);
    EXPECT_EQ(nearest_frequency({Kind::HighMinusOne}, all), 2000u);
    EXPECT_EQ(nearest_frequency({Kind::High}, all), 3000u);
    EXPECT_EQ(nearest_frequency({Kind::Kilohertz, 2600}, all), 3000u);
    EXPECT_EQ(nearest_frequency({Kind::HighMinusOne}, {700}), 700u);
}

}  // namespace
}  // namespace sluice
