#include "core/edit.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Edit, OneRecordOfATableIsChangedAtATime) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2] cpus=4\nsubmit a\nsubmit b"), "");
    Cluster& cluster = scenario.cluster();
    cluster.edit_job(JobId{1})->reason_detail = "first";
    {
        const Edit<Job> job = cluster.edit_job(JobId{2});
        job->reason_detail = "second";
        cluster.edit_node(NodeIndex{0})->comment = "another table";
    }
    cluster.edit_job(JobId{1})->priority = 7;
    EXPECT_EQ(cluster.job(JobId{1}).reason_detail, "first");
    EXPECT_EQ(cluster.job(JobId{2}).reason_detail, "second");
}

TEST(EditDeathTest, AnEditEndsBeforeTheNextBegins) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2] cpus=4\nsubmit a\nsubmit b"), "");
    Cluster& cluster = scenario.cluster();
    const Edit<Job> job = cluster.edit_job(JobId{1});
    EXPECT_DEATH((void)cluster.edit_job(JobId{2}), "is_held_");
    EXPECT_DEATH(cluster.forget_job(JobId{1}), "is_held_");
    EXPECT_DEATH((void)cluster.take_snapshot(scenario.now()), "is_held_");
}

}  // namespace
}  // namespace sluice
