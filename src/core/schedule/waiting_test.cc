#include "core/schedule/waiting.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

class WaitingTest : public testing::Test {
protected:
    void run(const std::string& lines) { ASSERT_EQ(scenario.run(lines), ""); }
    const WaitingJobs& waiting() { return scenario.cluster().waiting(); }
    WaitsIn place_of(const std::string& name) {
        return waiting().place_of(scenario.cluster().job(scenario.job(name)));
    }

    Scenario scenario;
};

TEST_F(WaitingTest, EveryJobWaitsInOnePlace) {
    run(R"(
        settings licenses=matlab:1
        nodes    n1 cpus=4
        submit   runs     cpus=3 licenses=matlab
        submit   queued   cpus=4
        submit   parked   licenses=matlab
        submit   later    begin=60
        submit   depends  depend=afterok:runs
        submit   held
        hold     held
        pass
    )");
    EXPECT_EQ(place_of("runs"), WaitsIn::Nothing);
    EXPECT_EQ(place_of("queued"), WaitsIn::Queue);
    EXPECT_EQ(place_of("parked"), WaitsIn::Parked);
    EXPECT_EQ(place_of("later"), WaitsIn::BeginTime);
    EXPECT_EQ(place_of("depends"), WaitsIn::Dependency);
    EXPECT_EQ(place_of("held"), WaitsIn::Hold);
    EXPECT_EQ(waiting().broken(scenario.cluster()), std::nullopt);
}

TEST_F(WaitingTest, AJobThatWaitsNowhereIsFound) {
    run("nodes n1 cpus=4\nsubmit runs cpus=4\npass\nsubmit lost cpus=4\npass");
    Cluster& cluster = scenario.cluster();
    const JobId lost = scenario.job("lost");
    cluster.waiting().queue().remove({cluster.priority(lost), lost});
    EXPECT_EQ(waiting().broken(cluster), "job 2 is pending, and waits nowhere");
}

TEST_F(WaitingTest, AJobThatRunsAndWaitsIsFound) {
    run("nodes n1 cpus=4\nsubmit runs cpus=4\npass");
    Cluster& cluster = scenario.cluster();
    cluster.waiting().parked().add(cluster.job(scenario.job("runs")), Reason::PartitionDown);
    EXPECT_EQ(waiting().broken(cluster), "job 1 is not pending, and waits");
}

TEST(Parked, JobsLeaveWhenWhatTheyWaitForHasCome) {
    Parked parked;
    const JobId array{10};
    parked.add(Job{.id = JobId{11}, .array_job = array}, Reason::JobArrayTaskLimit);
    parked.add(Job{.id = JobId{12}}, Reason::Licenses);
    parked.add(Job{.id = JobId{13}}, Reason::PartitionDown);
    EXPECT_TRUE(parked.take_tasks(JobId{12}).empty());
    EXPECT_EQ(parked.take_tasks(array), std::vector{JobId{11}});
    EXPECT_EQ(parked.take_for_licenses(), std::vector{JobId{12}});
    EXPECT_EQ(parked.take_all(), std::vector{JobId{13}});
    EXPECT_TRUE(parked.empty());
}

TEST(Parked, AJobThatIsParkedAgainWaitsForTheNewReason) {
    Parked parked;
    const Job job{.id = JobId{11}};
    parked.add(job, Reason::Licenses);
    parked.add(job, Reason::PartitionDown);
    EXPECT_EQ(parked.size(), 1u);
    EXPECT_TRUE(parked.take_for_licenses().empty());
    EXPECT_TRUE(parked.remove(JobId{11}));
    EXPECT_FALSE(parked.remove(JobId{11}));
}

TEST(Singletons, TheFirstOfANameMayRun) {
    CowTable<Job> jobs;
    const auto details = std::make_shared<const PackedDetails>(JobDetails{});
    for (std::uint32_t id : {1u, 2u})
        jobs.insert(id, Job{.id = JobId{id}, .details = details, .state = JobState::Pending});
    Singletons singletons;
    EXPECT_FALSE(singletons.may_run(*jobs.peek(2), jobs));
    EXPECT_TRUE(singletons.next(*jobs.peek(1)).empty());
    EXPECT_EQ(singletons.broken(jobs), std::nullopt);
    jobs.edit(1)->state = JobState::Completed;
    EXPECT_NE(singletons.broken(jobs), std::nullopt);
    singletons.drop(*jobs.peek(1));
    EXPECT_EQ(singletons.next(*jobs.peek(1)), std::vector{JobId{2}});
    EXPECT_TRUE(singletons.may_run(*jobs.peek(2), jobs));
    EXPECT_EQ(singletons.broken(jobs), std::nullopt);
}

}  // namespace
}  // namespace sluice
