#include "core/job/arrays.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr JobId kArray{10}, kTask{11};

Job running_task() {
    Job job{.id = kTask, .state = JobState::Running, .array_job = kArray, .array_task = 3};
    job.run.allocation = std::make_shared<Allocation>();
    return job;
}

TEST(Arrays, ListTheTasksThatHaveARecord) {
    Arrays arrays;
    EXPECT_TRUE(arrays.tasks(kArray).empty());
    arrays.add_task(kArray, kTask);
    arrays.add_task(kArray, kArray);
    ASSERT_EQ(arrays.tasks(kArray).size(), 2u);
    EXPECT_EQ(arrays.tasks(kArray).back(), kArray);
    arrays.remove_task(kArray, kTask);
    arrays.remove_task(kArray, kArray);
    EXPECT_TRUE(arrays.tasks(kArray).empty());
}

TEST(Arrays, AnArrayBeginsOnce) {
    Arrays arrays;
    EXPECT_TRUE(arrays.note_begin(kArray));
    EXPECT_FALSE(arrays.note_begin(kArray));
    arrays.forget_news(kArray);
    EXPECT_TRUE(arrays.note_begin(kArray));
}

TEST(Arrays, CountTheTasksThatHoldNodes) {
    CowTable<Job> jobs;
    jobs.insert(kTask.value, running_task());
    Arrays arrays;
    EXPECT_EQ(arrays.broken(jobs), "job 11 is not among the tasks of its array");
    arrays.add_task(kArray, kTask);
    EXPECT_EQ(arrays.broken(jobs), "running tasks of arrays do not add up");
    arrays.task_started(kArray);
    EXPECT_EQ(arrays.running(kArray), 1u);
    EXPECT_EQ(arrays.broken(jobs), std::nullopt);
    jobs.edit(kTask.value)->state = JobState::Completed;
    arrays.task_left(kArray);
    EXPECT_EQ(arrays.broken(jobs), std::nullopt);
    jobs.erase(kTask.value);
    EXPECT_EQ(arrays.broken(jobs), "an array has a task that does not exist");
}

}  // namespace
}  // namespace sluice
