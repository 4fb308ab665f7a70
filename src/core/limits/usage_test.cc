// core/limits/usage_test.cc: what runs add to the usage of associations and QOS.
#include "core/limits/usage.h"

#include <gtest/gtest.h>

#include "core/limits/usage_view.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

Settings site() {
    Settings settings;
    for (const char* name : {"n1", "n2"}) {
        settings.nodes.push_back({.name = name, .cpus = 8, .sockets = 8, .real_memory = 8000});
    }
    PartitionConfig partition{.name = "p", .nodes = {"n1", "n2"}};
    partition.is_default = true;
    settings.partitions = {partition};
    partition.name = "priced";
    partition.is_default = false;
    partition.tres_billing_weights = "CPU=2.0,Mem=0.25G";
    settings.partitions.push_back(partition);
    settings.config_overrides = true;
    settings.priority.multifactor = true;
    settings.priority.decay_half_life = Seconds{0};
    settings.priority.calc_period = Minutes{5};
    return settings;
}

constexpr const char* kMembers = "member 1001 account=a\nmember 1002 account=a\n";

double used(Scenario& scenario, std::string_view account, const std::string& tres,
            std::uint32_t user = 0) {
    const AssociationTree& tree = scenario.cluster().associations();
    const Association* found =
        user ? tree.find(account, UserId{user}, "") : tree.find_account(account);
    const UsedAmounts* amounts = used_by_association(scenario.cluster(), found->id);
    if (!amounts) return 0;
    if (tres == "wall") return amounts->wall_seconds;
    auto each = amounts->tres_seconds.find(tres);
    return each == amounts->tres_seconds.end() ? 0 : each->second;
}

TEST(Usage, OfARunIsCountedAtEachCalculationAndAtItsEnd) {
    Scenario scenario(site());
    ASSERT_EQ(scenario.run(std::string(kMembers) +
                           "submit x user=1001 account=a cpus=4 mem=1000 time=60\npass\nat 4"),
              "");
    EXPECT_EQ(used(scenario, "a", "cpu", 1001), 0);  // before the first calculation
    ASSERT_EQ(scenario.run("at 5"), "");
    EXPECT_EQ(used(scenario, "a", "cpu", 1001), 4 * 300);
    EXPECT_EQ(used(scenario, "a", "wall"), 300);
    EXPECT_EQ(used(scenario, "root", "mem"), 1000.0 * 300);
    EXPECT_EQ(used(scenario, "a", "cpu", 1002), 0);
    ASSERT_EQ(scenario.run("at 7\nend x"), "");
    EXPECT_EQ(used(scenario, "a", "cpu", 1001), 4 * 420);
    EXPECT_EQ(used(scenario, "root", "billing"), 4 * 420);
    ASSERT_EQ(scenario.run("at 20"), "");
    EXPECT_EQ(used(scenario, "a", "cpu", 1001), 4 * 420);
    EXPECT_EQ(scenario.cluster().fair_share()->find("a", UserId{1001}, "p")->raw_usage, 4 * 420);
}

TEST(Usage, IsTheSameAfterRestarts) {
    Scenario once(site()), often(site());
    const std::string start =
        std::string(kMembers) + "submit x user=1001 account=a cpus=2 time=60\npass\n";
    ASSERT_EQ(once.run(start + "at 5\nat 6\nat 10\nat 13\nend x\nat 20"), "");
    ASSERT_EQ(often.run(start + "at 5\nrestart\nat 6\nrestart\nrestart\nat 11\nrestart\nat 13\n"
                                "end x\nrestart\nat 20"),
              "");
    EXPECT_EQ(used(once, "root", "cpu"), 2 * 13 * 60);
    EXPECT_EQ(used(often, "root", "cpu"), 2 * 13 * 60);
    const ShareLine& a = *once.cluster().fair_share()->find("a", UserId{1001}, "p");
    const ShareLine& b = *often.cluster().fair_share()->find("a", UserId{1001}, "p");
    EXPECT_EQ(a.factor, b.factor);
    EXPECT_EQ(a.factor, 0.5);
}

TEST(Usage, OfRequeuedRunsCountsAndSuspensionsDoNot) {
    Scenario scenario(site());
    ASSERT_EQ(scenario.run(std::string(kMembers) +
                           "submit x user=1001 account=a cpus=1 time=60\npass\nat 3\nrequeue x\n"
                           "clean x n1\nat 4\npass\nat 6\nsuspend x\nat 16\nresume x\nat 17\n"
                           "end x\nat 30"),
              "");
    // 3 minutes, then 13 minutes since it started again, 10 of which it was suspended.
    EXPECT_EQ(used(scenario, "a", "wall", 1001), 60 * (3 + 3));
}

TEST(Usage, OfAQosCountsWithItsFactorAndWithBillingWeights) {
    Settings settings = site();
    settings.enforce_qos = true;
    Scenario scenario(settings);
    ASSERT_EQ(scenario.run(std::string("qos fast Priority=1\n") + kMembers +
                           "qoslimit fast UsageFactor=2000\n"
                           "submit x user=1001 account=a cpus=1 mem=3072 partition=priced "
                           "qos=fast time=60\npass\nat 1\nend x"),
              "");
    EXPECT_EQ(used(scenario, "a", "billing"), 2.75 * 60 * 2);
    EXPECT_EQ(used(scenario, "a", "cpu"), 60 * 2);
    const UsedAmounts* of_qos = used_by_qos(scenario.cluster(), "fast");
    ASSERT_NE(of_qos, nullptr);
    EXPECT_EQ(of_qos->wall_seconds, 120);
    EXPECT_EQ(used_by_qos(scenario.cluster(), "normal"), nullptr);
}

TEST(Usage, OfDeletedAssociationsIsForgotten) {
    Scenario scenario(site());
    ASSERT_EQ(scenario.run(std::string(kMembers) +
                           "submit x user=1001 account=a cpus=1 time=60\npass\nat 5\nend x"),
              "");
    const std::uint32_t id = scenario.cluster().associations().find("a", UserId{1001}, "")->id;
    ASSERT_NE(used_by_association(scenario.cluster(), id), nullptr);
    ASSERT_EQ(scenario.run("unmember 1001 account=a"), "");
    (void)scenario.cluster().take_changes();
    EXPECT_EQ(used_by_association(scenario.cluster(), id), nullptr);
    EXPECT_EQ(used(scenario, "a", "wall"), 300);  // the account keeps it
}

TEST(Usage, IsNotKeptWherePrioritiesAreNotCalculated) {
    Settings settings = site();
    settings.priority.multifactor = false;
    Scenario scenario(settings);
    ASSERT_EQ(scenario.run(std::string(kMembers) +
                           "submit x user=1001 account=a cpus=1 time=60\npass\nat 5\nend x"),
              "");
    EXPECT_EQ(used(scenario, "root", "wall"), 0);
    EXPECT_FALSE(scenario.cluster().next_timer() &&
                 scenario.cluster().subjects_of(TimerKind::Priority).size() > 0);
}

TEST(Usage, OfImportedRunsDecaysSinceTheirEndAndCountsOnce) {
    Settings settings = site();
    settings.priority.decay_half_life = Seconds{3600};
    Scenario scenario(settings);
    ASSERT_EQ(scenario.run(std::string("qos fast Priority=1\n") + kMembers +
                           "qoslimit fast UsageFactor=2000\n"),
              "");
    Cluster& cluster = scenario.cluster();
    const std::uint32_t id = cluster.associations().find("a", UserId{1001}, "")->id;
    const Time now = from_unix(1'800'000'000);
    const ImportedUsage old{id, "fast", now - Seconds{7200}, {{{"billing", 100}}, 40}};
    import_usage(cluster, now, {.number = 3, .used = {old}});
    EXPECT_EQ(used(scenario, "a", "billing", 1001), 100 * 2 / 4.0);
    EXPECT_EQ(used(scenario, "root", "wall"), 40 * 2 / 4.0);
    EXPECT_EQ(used_by_qos(cluster, "fast")->wall_seconds, 20);
    import_usage(cluster, now, {.number = 3, .used = {old}});
    import_usage(cluster, now, {.number = 2, .used = {old}});
    EXPECT_EQ(used(scenario, "root", "wall"), 20);
    UsageBook restored;
    restored.restore(cluster.usage().rows());
    EXPECT_EQ(restored.last_import(), 3u);
}

TEST(Usage, OfRunsBeforeTheLastResetIsNotImported) {
    Settings settings = site();
    settings.priority.usage_reset = UsageReset::Daily;
    Scenario scenario(settings);
    ASSERT_EQ(scenario.run(kMembers), "");
    Cluster& cluster = scenario.cluster();
    const std::uint32_t id = cluster.associations().find("a", UserId{1001}, "")->id;
    const Time now = from_unix(1'800'000'000), midnight = start_of_period(UsageReset::Daily, now);
    const UsedAmounts amounts{{{"billing", 10}}, 10};
    import_usage(cluster, now,
                 {.number = 1,
                  .used = {{id, "", midnight - Seconds{1}, amounts}, {id, "", midnight, amounts}}});
    EXPECT_EQ(used(scenario, "root", "wall"), 10);
}

}  // namespace
}  // namespace sluice
