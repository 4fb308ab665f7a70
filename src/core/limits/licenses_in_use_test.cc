#include "core/limits/licenses_in_use.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

Job holder_of(const std::string& licenses) {
    Job job{.id = JobId{1}, .state = JobState::Running};
    job.run.allocation = std::make_shared<Allocation>();
    job.run.licenses_held = licenses;
    return job;
}

TEST(LicensesInUse, CountsByName) {
    LicensesInUse licenses;
    licenses.take({{"matlab", 2}, {"ansys", 1}});
    licenses.take({{"matlab", 1}});
    EXPECT_EQ(licenses.of("matlab"), 3u);
    licenses.give_back({{"matlab", 1}, {"ansys", 1}});
    EXPECT_EQ(licenses.all(), (LicensesInUse::Counts{{"matlab", 2}}));
    EXPECT_EQ(licenses.of("ansys"), 0u);
}

TEST(LicensesInUse, AreThoseOfTheRunningJobs) {
    CowTable<Job> jobs;
    LicensesInUse licenses;
    EXPECT_EQ(licenses.broken(jobs), std::nullopt);
    jobs.insert(1, holder_of("matlab:2"));
    EXPECT_NE(licenses.broken(jobs), std::nullopt);
    licenses.take({{"matlab", 2}});
    EXPECT_EQ(licenses.broken(jobs), std::nullopt);
    jobs.edit(1)->state = JobState::Completed;
    EXPECT_EQ(licenses.broken(jobs), "2 licences matlab are in use, jobs hold 0");
}

}  // namespace
}  // namespace sluice
