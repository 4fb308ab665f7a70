// model/used_test.cc: when the periods of PriorityUsageResetPeriod begin.
#include "model/used.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "model/times.h"

namespace sluice {
namespace {

class UsagePeriod : public testing::Test {
protected:
    void in_zone(const char* zone) {
        setenv("TZ", zone, 1);
        tzset();
    }
    std::string start(UsageReset period, const char* now) {
        return print_moment(start_of_period(period, parse_moment(now, Time{}).value()));
    }
    void TearDown() override { in_zone("UTC"); }
};

TEST_F(UsagePeriod, BeginsAtMidnightOfItsFirstDay) {
    in_zone("UTC");
    const char* now = "2026-11-18T06:50:00";  // a Wednesday
    EXPECT_EQ(start(UsageReset::Daily, now), "2026-11-18T00:00:00");
    EXPECT_EQ(start(UsageReset::Weekly, now), "2026-11-15T00:00:00");
    EXPECT_EQ(start(UsageReset::Monthly, now), "2026-11-01T00:00:00");
    EXPECT_EQ(start(UsageReset::Quarterly, now), "2026-10-01T00:00:00");
    EXPECT_EQ(start(UsageReset::Yearly, now), "2026-01-01T00:00:00");
}

TEST_F(UsagePeriod, HasTwoSidesOfItsBoundary) {
    in_zone("UTC");
    EXPECT_EQ(start(UsageReset::Weekly, "2026-11-15T00:00:00"), "2026-11-15T00:00:00");
    EXPECT_EQ(start(UsageReset::Weekly, "2026-11-14T23:59:59"), "2026-11-08T00:00:00");
    EXPECT_EQ(start(UsageReset::Monthly, "2026-02-28T23:59:59"), "2026-02-01T00:00:00");
    EXPECT_EQ(start(UsageReset::Monthly, "2026-03-01T00:00:00"), "2026-03-01T00:00:00");
    EXPECT_EQ(start(UsageReset::Quarterly, "2026-12-31T23:59:59"), "2026-10-01T00:00:00");
    EXPECT_EQ(start(UsageReset::Quarterly, "2027-01-01T00:00:00"), "2027-01-01T00:00:00");
    EXPECT_EQ(start(UsageReset::Yearly, "2026-12-31T23:59:59"), "2026-01-01T00:00:00");
}

// The week and the month begin in another offset than they end in.
TEST_F(UsagePeriod, FollowsTheLocalClock) {
    in_zone("Europe/Berlin");
    EXPECT_EQ(start(UsageReset::Weekly, "2026-03-31T12:00:00"), "2026-03-29T00:00:00");
    EXPECT_EQ(start(UsageReset::Monthly, "2026-10-31T12:00:00"), "2026-10-01T00:00:00");
}

TEST_F(UsagePeriod, KeysOfRowsDiffer) {
    EXPECT_EQ(usage_key({}), "clock");
    EXPECT_EQ(usage_key({.of = UsageOf::Association, .id = 12}), "association 12");
    EXPECT_EQ(usage_key({.of = UsageOf::Qos, .id = 12}), "qos 12");
    EXPECT_FALSE(is_gone({}));
    EXPECT_TRUE(is_gone({.of = UsageOf::Qos, .id = 12}));
}

}  // namespace
}  // namespace sluice
