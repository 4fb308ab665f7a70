#include "core/job/clients.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr JobId kJob{7};
constexpr UserId kUser{1000};

TEST(Clients, AWaiterIsAnsweredOnce) {
    Clients clients;
    clients.add(kJob, {RequestId{1}, WaitFor::Allocated, kUser});
    clients.add(kJob, {RequestId{2}, WaitFor::Ended, kUser});
    EXPECT_TRUE(clients.any_awaits_end_of(kJob));
    clients.answer(kJob, [](const Waiter& waiter) { return waiter.until == WaitFor::Ended; });
    EXPECT_FALSE(clients.any_awaits_end_of(kJob));
    EXPECT_TRUE(clients.any_waits());
    EXPECT_EQ(clients.drop(RequestId{1}), (std::vector{std::pair(kJob, kUser)}));
    EXPECT_FALSE(clients.any_waits());
}

TEST(Clients, ASallocThatReturnsIsNotLost) {
    Clients clients;
    clients.client_is_gone(kJob, Time{Seconds{60}});
    EXPECT_FALSE(clients.take_lost(kJob, Time{Seconds{59}}));
    clients.shift(Seconds{10});
    EXPECT_FALSE(clients.take_lost(kJob, Time{Seconds{60}}));
    EXPECT_TRUE(clients.take_lost(kJob, Time{Seconds{70}}));
    EXPECT_FALSE(clients.take_lost(kJob, Time{Seconds{70}})) << "told once";
    clients.client_is_gone(kJob, Time{Seconds{60}});
    clients.add(kJob, {RequestId{1}, WaitFor::Ended, kUser});
    EXPECT_FALSE(clients.take_lost(kJob, Time{Seconds{60}}));
}

TEST(Clients, NoneWaitsForAJobThatIsOver) {
    CowTable<Job> jobs;
    jobs.insert(kJob.value, Job{.id = kJob, .state = JobState::Running});
    Clients clients;
    clients.add(kJob, {RequestId{1}, WaitFor::Ended, kUser});
    EXPECT_EQ(clients.broken(jobs), std::nullopt);
    jobs.edit(kJob.value)->state = JobState::Completed;
    EXPECT_EQ(clients.broken(jobs), "a client waits for job 7, which is over");
}

}  // namespace
}  // namespace sluice
