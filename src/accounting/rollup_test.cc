// accounting/rollup_test.cc
//
// Usage by hour, day and month: sums, late facts, time zones, and how a cluster's time is divided.
#include <fmt/format.h>

#include "accounting/periods.h"
#include "accounting/policy_rows.h"
#include "accounting/testing.h"
#include "model/reservation.h"

namespace sluice {
namespace {

using namespace testing_accounting;

class AccountingRollup : public testing::Test {
protected:
    void roll_up(Time now) {
        const auto done = accounting_->roll_up("c1", now);
        ASSERT_TRUE(done) << done.error().detail;
    }
    UsageQuestion question(RollupPeriod period) const {
        return {"c1", period, kMidnight - Seconds(86400 * 40), kMidnight + Seconds(86400 * 400)};
    }
    // CPU seconds of association 7, as "hour:seconds".
    std::string cpu_hours() {
        std::string text;
        for (const UsageRow& row : accounting_->usage(question(RollupPeriod::Hour)).value()) {
            if (row.id != 7 || row.tres != "cpu") continue;
            text += fmt::format("{}:{} ", (row.start - kMidnight).count() / 3600, row.seconds);
        }
        return text;
    }
    ClusterUsageRow cluster_cpus(Time start, RollupPeriod period = RollupPeriod::Hour) {
        for (const auto& row : accounting_->cluster_usage(question(period)).value()) {
            if (row.tres == "cpu" && row.start == start) return row;
        }
        return {};
    }
    void send_cluster(std::uint64_t cpus, Time from = at(0)) {
        c1_.send(AccountedEvent{.start = from, .tres = {{"cpu", cpus}}, .cluster_nodes = "n[1-4]"});
    }

    const TimeZone zone_{"UTC"};
    std::unique_ptr<Accounting> accounting_ = open_accounting({.path = ":memory:"}).value();
    Sender c1_{*accounting_, "c1"};
};

TEST_F(AccountingRollup, CountsOnlyCompleteHours) {
    c1_.send(ran(1, at(1, 30), at(3, 15)));  // 2 CPUs
    roll_up(at(2, 59));
    EXPECT_EQ(cpu_hours(), "1:3600 ");
    roll_up(at(3));
    EXPECT_EQ(cpu_hours(), "1:3600 2:7200 ");
    roll_up(at(9));
    EXPECT_EQ(cpu_hours(), "1:3600 2:7200 3:1800 ");
    roll_up(at(9));
    EXPECT_EQ(cpu_hours(), "1:3600 2:7200 3:1800 ");
}

TEST_F(AccountingRollup, RunningJobsCount) {
    AccountedJob running = ran(1, at(1), at(9));
    running.end.reset();
    running.state = ShownState::Running;
    c1_.send(running);
    roll_up(at(3));
    EXPECT_EQ(cpu_hours(), "1:7200 2:7200 ");
}

TEST_F(AccountingRollup, AnEndThatIsReportedLateChangesThePast) {
    AccountedJob running = ran(1, at(1), at(9));
    running.end.reset();
    running.state = ShownState::Running;
    c1_.send(running);
    roll_up(at(5));
    EXPECT_EQ(cpu_hours(), "1:7200 2:7200 3:7200 4:7200 ");
    c1_.send(ran(1, at(1), at(2, 30)));
    roll_up(at(5));
    EXPECT_EQ(cpu_hours(), "1:7200 2:3600 ");
    // One that was not known at all, in another month and day.
    c1_.send(ran(2, at(0) - Minutes(30), at(0)));
    roll_up(at(5));
    EXPECT_EQ(cpu_hours(), "-1:3600 1:7200 2:3600 ");
}

TEST_F(AccountingRollup, AJobThatMovesToAnotherAssociationTakesItsUsageWithIt) {
    c1_.send(ran(1, at(1), at(2)));
    roll_up(at(5));
    AccountedJob moved = ran(1, at(1), at(2));
    moved.association = 8;
    c1_.send(moved);
    roll_up(at(5));
    EXPECT_EQ(cpu_hours(), "");
    EXPECT_EQ(accounting_->usage(question(RollupPeriod::Hour)).value()[0].id, 8u);
}

TEST_F(AccountingRollup, SuspendedTimeIsNotCounted) {
    AccountedJob each = ran(1, at(1), at(9));
    each.end.reset();
    each.state = ShownState::Running;
    c1_.send(each);
    each.state = ShownState::Suspended;
    each.suspend_time = at(1, 30);
    c1_.send(each);
    roll_up(at(3));
    EXPECT_EQ(cpu_hours(), "1:3600 ");
    each.state = ShownState::Running;
    each.suspend_time.reset();
    each.suspended = Minutes(45);  // until 2:15
    c1_.send(each);
    roll_up(at(3));
    EXPECT_EQ(cpu_hours(), "1:3600 2:5400 ");
}

TEST_F(AccountingRollup, DaysAndMonthsAreSumsOfLocalTime) {
    const TimeZone zone("Europe/Berlin");  // UTC+1 in winter
    c1_.send(ran(1, at(22), at(24)));      // ends at 1:00 local time of the next day
    roll_up(at(24 * 40));
    const auto days = accounting_->usage(question(RollupPeriod::Day)).value();
    ASSERT_EQ(days.size(), 4u);  // cpu and mem on both days
    EXPECT_EQ(days[0].start, at(-1));
    EXPECT_EQ(days[0].seconds, 7200u);
    EXPECT_EQ(days[2].start, at(23));
    EXPECT_EQ(days[2].seconds, 7200u);
    const auto months = accounting_->usage(question(RollupPeriod::Month)).value();
    ASSERT_EQ(months.size(), 2u);
    EXPECT_EQ(months[0].start, at(-1));
    EXPECT_EQ(months[0].seconds, 14400u);
}

TEST_F(AccountingRollup, LateFactsChangeDaysAndMonths) {
    c1_.send(ran(1, at(1), at(2)));
    roll_up(at(24 * 40));
    c1_.send(ran(2, at(3), at(4)));
    roll_up(at(24 * 40));
    EXPECT_EQ(accounting_->usage(question(RollupPeriod::Day)).value()[0].seconds, 14400u);
    EXPECT_EQ(accounting_->usage(question(RollupPeriod::Month)).value()[0].seconds, 14400u);
}

TEST_F(AccountingRollup, TheTimeOfAClusterIsDivided) {
    send_cluster(10);
    AccountedJob waited = ran(1, at(1, 30), at(2));  // 2 CPUs for half an hour, after another half
    waited.eligible = at(1);
    c1_.send_all(
        waited,
        AccountedEvent{
            .node = "n1", .start = at(1), .end = at(1, 15), .state = "DOWN*", .tres = {{"cpu", 4}}},
        AccountedEvent{
            .node = "n2", .start = at(1), .end = at(2), .state = "IDLE~", .tres = {{"cpu", 1}}});
    roll_up(at(3));
    const ClusterUsageRow row = cluster_cpus(at(1));
    EXPECT_EQ(row.count, 10u);
    EXPECT_EQ(row.allocated, 3600u);
    EXPECT_EQ(row.planned, 3600u);
    EXPECT_EQ(row.down, 3600u);
    EXPECT_EQ(row.planned_down, 3600u);
    EXPECT_EQ(row.over, 0u);
    EXPECT_EQ(row.idle, 36000u - 4 * 3600);
    EXPECT_EQ(cluster_cpus(at(0)).idle, 36000u);
}

TEST_F(AccountingRollup, WaitingJobsBeyondTheClusterAreOverCommitted) {
    send_cluster(4);
    AccountedJob running = ran(1, at(1), at(2));
    running.tres_allocated["cpu"] = 3;
    AccountedJob waiting = job(2);
    waiting.eligible = at(1);
    waiting.tres_requested["cpu"] = 6;
    c1_.send_all(running, waiting);
    roll_up(at(2));
    const ClusterUsageRow row = cluster_cpus(at(1));
    EXPECT_EQ(row.allocated, 3 * 3600u);
    EXPECT_EQ(row.planned, 3600u);
    EXPECT_EQ(row.over, 5 * 3600u);
    EXPECT_EQ(row.idle, 0u);
}

TEST_F(AccountingRollup, ReservationsCountAsAllocatedOrPlannedDown) {
    send_cluster(10);
    AccountedReservation reserved{.id = 1, .name = "r", .start = at(1), .end = at(2)};
    reserved.tres = {{"cpu", 4}};
    AccountedReservation maintenance{.id = 2, .name = "m", .start = at(2), .end = at(3)};
    maintenance.tres = {{"cpu", 5}};
    maintenance.flags = kResvMaint;
    maintenance.node_names = "n[1-2]";
    AccountedReservation ignored = maintenance;
    ignored.id = 3;
    ignored.start = at(3);
    ignored.end = at(4);
    ignored.flags |= kResvIgnoreJobs;
    AccountedJob inside = ran(1, at(1), at(2));  // 2 of the 4 CPUs
    inside.reservation = "r";
    const AccountedEvent down{
        .node = "n1", .start = at(2), .end = at(3), .state = "DOWN", .tres = {{"cpu", 3}}};
    c1_.send_all(reserved, maintenance, ignored, inside, down);
    roll_up(at(4));
    EXPECT_EQ(cluster_cpus(at(1)).allocated, 4 * 3600u);
    EXPECT_EQ(cluster_cpus(at(2)).planned_down, 5 * 3600u);
    EXPECT_EQ(cluster_cpus(at(2)).down, 0u);  // part of the maintenance
    EXPECT_EQ(cluster_cpus(at(3)).idle, 10 * 3600u);
}

TEST_F(AccountingRollup, AClusterThatGrowsHasMoreFromThenOn) {
    send_cluster(10);
    send_cluster(20, at(1, 30));
    roll_up(at(24));
    EXPECT_EQ(cluster_cpus(at(0)).idle, 36000u);
    EXPECT_EQ(cluster_cpus(at(1)).count, 15u);
    EXPECT_EQ(cluster_cpus(at(2)).count, 20u);
    const ClusterUsageRow day = cluster_cpus(at(0), RollupPeriod::Day);
    EXPECT_EQ(day.idle, (10 + 15 + 22 * 20) * 3600u);
    EXPECT_EQ(day.count, 19u);
}

TEST_F(AccountingRollup, UsageOfWckeys) {
    Policy policy;
    policy.version = 1;
    policy.wckeys = {{.id = 5, .name = "k", .cluster = "c1", .user = "u", .uid = UserId{1000}},
                     {.id = 6, .name = "k", .cluster = "c1", .user = "v", .uid = UserId{1001}}};
    ASSERT_TRUE(accounting_->set_policy(policy, 0, {}));
    AccountedJob with = ran(1, at(1), at(2));
    with.wckey = "*k";
    AccountedJob unknown = ran(2, at(1), at(2));
    unknown.wckey = "other";
    c1_.send_all(with, unknown);
    roll_up(at(2));
    const auto rows = accounting_->wckey_usage(question(RollupPeriod::Hour)).value();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].id, 5u);
    EXPECT_EQ(rows[0].seconds, 7200u);
}

TEST_F(AccountingRollup, WithoutRowsThereIsNothingToDo) {
    roll_up(at(5));
    EXPECT_TRUE(accounting_->usage(question(RollupPeriod::Hour)).value().empty());
}

TEST(AccountingPeriods, FollowTheClockOfTheZone) {
    using accounting::next_period;
    using accounting::period_start;
    const TimeZone zone("Asia/Kolkata");  // UTC+5:30
    EXPECT_EQ(period_start(RollupPeriod::Hour, at(0)), at(0, -30));
    EXPECT_EQ(period_start(RollupPeriod::Day, at(0)), at(-5, -30));
    const TimeZone berlin("Europe/Berlin");
    const Time spring = from_unix(1'774'738'800);  // 2026-03-29T00:00 in Berlin: a day of 23 hours
    EXPECT_EQ(period_start(RollupPeriod::Day, spring + Seconds(7200)), spring);
    EXPECT_EQ(next_period(RollupPeriod::Day, spring) - spring, Seconds(23 * 3600));
    const Time autumn = from_unix(1'792'879'200);  // 2026-10-25T00:00: 25 hours
    EXPECT_EQ(next_period(RollupPeriod::Day, autumn) - autumn, Seconds(25 * 3600));
    int hours = 0;
    for (Time hour = autumn; hour < next_period(RollupPeriod::Day, autumn); ++hours) {
        hour = next_period(RollupPeriod::Hour, hour);
    }
    EXPECT_EQ(hours, 25);
}

}  // namespace
}  // namespace sluice
