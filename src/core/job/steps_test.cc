#include "core/job/steps.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr JobId kJob{7};
constexpr StepId kStep{0};

std::shared_ptr<Step> running_step() {
    auto step = std::make_shared<Step>();
    step->id = kStep;
    step->state = StepState::Running;
    step->nodes_left = {NodeIndex{1}, NodeIndex{2}};
    return step;
}

CowTable<Job> one_job() {
    CowTable<Job> jobs;
    Job job{.id = kJob, .state = JobState::Running};
    job.run.steps.push_back(running_step());
    jobs.insert(kJob.value, job);
    return jobs;
}

TEST(Steps, AWaiterIsRemovedWhenItIsAnswered) {
    Steps steps;
    steps.await({RequestId{1}, {}, StepDemand{.job = kJob}});
    steps.await({RequestId{2}, {}, StepDemand{.job = kJob}});
    steps.answer(kJob, [](const StepWaiter& waiter) { return waiter.request == RequestId{1}; });
    EXPECT_TRUE(steps.are_awaited(kJob));
    EXPECT_TRUE(steps.drop_waiters(RequestId{2}, Time{}).empty());
    EXPECT_FALSE(steps.are_awaited(kJob));
    EXPECT_FALSE(steps.are_awaited());
}

TEST(Steps, ANumberIsKeptWhileAnSrunWaitsAndSomeTimeAfterIt) {
    Steps steps;
    steps.keep_number(kJob, kStep, Time{Seconds{60}});
    steps.await({RequestId{1}, {}, StepDemand{.job = kJob, .number = kStep}});
    steps.forget_numbers(kJob, Time{Seconds{60}});
    EXPECT_TRUE(steps.any_numbered(kJob));
    EXPECT_EQ(steps.drop_waiters(RequestId{1}, Time{Seconds{120}}), std::vector{kJob});
    steps.forget_numbers(kJob, Time{Seconds{119}});
    EXPECT_TRUE(steps.any_numbered(kJob));
    steps.shift(Seconds{5});
    steps.forget_numbers(kJob, Time{Seconds{124}});
    EXPECT_TRUE(steps.any_numbered(kJob));
    steps.forget_numbers(kJob, Time{Seconds{125}});
    EXPECT_FALSE(steps.any_numbered(kJob));
}

TEST(Steps, AGrantAwaitsTheLaunchOnEachNode) {
    Steps steps;
    steps.grant(kJob, *running_step(), RequestId{1}, Time{Seconds{60}});
    steps.is_launched(kJob, kStep, NodeIndex{1});
    ASSERT_EQ(steps.grants(kJob).size(), 1u);
    EXPECT_EQ(steps.grants(kJob)[0].awaited, std::vector{NodeIndex{2}});
    const StepGrant& again = steps.grant(kJob, *running_step(), RequestId{2}, Time{Seconds{90}});
    EXPECT_EQ(again.awaited, std::vector{NodeIndex{2}}) << "what was launched stays so";
    steps.shift(Seconds{5});
    EXPECT_EQ(steps.grants(kJob)[0].until, Time{Seconds{95}});
    EXPECT_TRUE(steps.granted_to(RequestId{1}).empty());
    EXPECT_EQ(steps.granted_to(RequestId{2}), (std::vector{std::pair(kJob, kStep)}));
}

TEST(Steps, OnlyRunningStepsAreGranted) {
    CowTable<Job> jobs = one_job();
    Steps steps;
    steps.grant(kJob, *running_step(), RequestId{1}, Time{});
    EXPECT_EQ(steps.broken(jobs), std::nullopt);
    auto ended = running_step();
    ended->state = StepState::Completed;
    jobs.edit(kJob.value)->run.steps = {ended};
    EXPECT_EQ(steps.broken(jobs), "step 7.0 is granted and does not run");
    steps.forget_ended(*jobs.peek(kJob.value));
    EXPECT_EQ(steps.broken(jobs), std::nullopt);
}

TEST(Steps, NoneIsAwaitedOfAJobThatHasEnded) {
    CowTable<Job> jobs = one_job();
    Steps steps;
    steps.await({RequestId{1}, {}, StepDemand{.job = kJob}});
    EXPECT_EQ(steps.broken(jobs), std::nullopt);
    jobs.edit(kJob.value)->state = JobState::Cancelled;
    EXPECT_NE(steps.broken(jobs), std::nullopt);
}

}  // namespace
}  // namespace sluice
