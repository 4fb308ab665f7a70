// core/schedule/accrual_test.cc: how many waiting jobs gain priority by age.
#include "core/schedule/accrual.h"

#include <gtest/gtest.h>

#include "core/schedule/priority.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

std::vector<bool> gains(Scenario& scenario, std::vector<std::string> names) {
    const auto times = accrue_times(scenario.cluster(), scenario.now(), nullptr);
    std::vector<bool> found;
    for (const std::string& name : names)
        found.push_back(!times || times->contains(scenario.job(name).value));
    return found;
}

constexpr const char* kJobs = R"(
    settings  limits
    qos       q Priority=1
    nodes     n1 cpus=1
    account   lab QOS=normal,q
    member    1000 account=lab default
    member    1001 account=lab default
    submit    runs user=1000
    pass
    submit    a1 user=1000
    submit    a2 user=1000
    submit    a3 user=1000 qos=q
    submit    b1 user=1001
    submit    b2 user=1001 hold
    submit    b3 user=1001 qos=q
)";
const std::vector<std::string> kNames = {"a1", "a2", "a3", "b1", "b2", "b3"};
using Gains = std::vector<bool>;

TEST(Accrual, WithoutLimitsAllJobsGain) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(kJobs), "");
    EXPECT_EQ(accrue_times(scenario.cluster(), scenario.now(), nullptr), nullptr);
}

TEST(Accrual, OfAnAccountAndOfEachUser) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(kJobs), "");
    ASSERT_EQ(scenario.run("account lab GrpJobsAccrue=3"), "");
    EXPECT_EQ(gains(scenario, kNames), (Gains{true, true, true, false, false, false}));
    ASSERT_EQ(scenario.run("account lab MaxJobsAccrue=1"), "");
    EXPECT_EQ(gains(scenario, kNames), (Gains{true, false, false, true, false, false}));
    ASSERT_EQ(scenario.run("account lab GrpJobsAccrue=1"), "");
    EXPECT_EQ(gains(scenario, kNames), (Gains{true, false, false, false, false, false}));
}

TEST(Accrual, OfAQosReplacesThatOfAssociations) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(kJobs), "");
    ASSERT_EQ(scenario.run("account lab MaxJobsAccrue=1\nqoslimit q MaxJobsAccruePU=1"), "");
    EXPECT_EQ(gains(scenario, kNames), (Gains{true, false, true, true, false, true}));
}

TEST(Accrual, BeginsWhenTheJobComesWithinTheLimit) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(kJobs), "");
    ASSERT_EQ(scenario.run("account lab MaxJobsAccrue=1"), "");
    Cluster& cluster = scenario.cluster();
    const Time start = scenario.now();
    const AccrueTimes first = *accrue_times(cluster, start, nullptr);
    EXPECT_EQ(first.at(scenario.job("a1").value), start);
    ASSERT_EQ(scenario.run("cancel a1"), "");
    const AccrueTimes later = *accrue_times(cluster, start + Minutes{10}, &first);
    EXPECT_EQ(later.at(scenario.job("a2").value), start + Minutes{10});
    EXPECT_EQ(later.at(scenario.job("b1").value), start) << "it gains as before";
}

TEST(Accrual, AJobBeyondTheLimitHasNoAge) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(kJobs), "");
    const Cluster& cluster = scenario.cluster();
    PriorityScale scale = cluster.priority_scale();
    Settings settings = cluster.settings();
    settings.priority.multifactor = true;
    settings.priority.weight_age = 1000;
    settings.priority.max_age = Minutes{10};
    scale.settings = std::make_shared<const Settings>(settings);
    scale.time = scenario.now() + Minutes{5};
    const Job& job = cluster.job(scenario.job("a1"));
    EXPECT_DOUBLE_EQ(factors_of(scale, job, "main").age.weighted, 500);
    scale.accrues = std::make_shared<const AccrueTimes>();
    EXPECT_DOUBLE_EQ(factors_of(scale, job, "main").age.weighted, 0);
    scale.accrues = std::make_shared<const AccrueTimes>(
        AccrueTimes{{job.id.value, scenario.now() + Minutes{4}}});
    EXPECT_DOUBLE_EQ(factors_of(scale, job, "main").age.weighted, 100);
}

}  // namespace
}  // namespace sluice
