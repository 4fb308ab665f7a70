// core/node/dynamic_test.cc: nodes that are in no slurm.conf.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(DynamicNodes, ANodeThatRegistersTakesJobs) {
    EXPECT_SCENARIO(R"(
        settings mostnodes=3
        nodes    n1
        dynamic  d1
        shows    d1 state=IDLE+DYNAMIC_NORM
        submit   a nodes=2
        pass
        expect   a running
        dynamic  d2 cpus=2
        submit   b cpus=2
        pass
        expect   b running d2
    )");
}

TEST(DynamicNodes, SurviveRestartAndReconfigurationWithTheirJobs) {
    EXPECT_SCENARIO(R"(
        settings mostnodes=3
        nodes    n1
        dynamic  d1 cpus=2 feature=fast
        node     d1 Comment=x
        submit   a feature=fast
        pass
        expect   a running d1
        settings mostnodes=3
        expect   a running d1
        shows    d1 state=MIXED+DYNAMIC_NORM
        restart
        expect   a running d1
        shows    d1 state=MIXED+DYNAMIC_NORM
        submit   b feature=fast
        pass
        expect   b running d1
    )");
}

TEST(DynamicNodes, NoMoreThanMaxNodeCount) {
    EXPECT_SCENARIO(R"(
        settings mostnodes=2
        nodes    n1
        create   d1
        create   d2 refused
        dynamic  d2 refused
        delete   d1
        dynamic  d2
    )");
    EXPECT_SCENARIO(R"(
        nodes    n1
        create   d1 refused
        dynamic  d1 refused
    )");
}

TEST(DynamicNodes, NamesAreUnique) {
    EXPECT_SCENARIO(R"(
        settings mostnodes=9
        nodes    n1
        create   n1 refused
        dynamic  n1 refused
        create   d1
        create   d1 refused
        shows    d1 state=UNKNOWN+DYNAMIC_NORM+NOT_RESPONDING
        dynamic  d1                    # it was made for this one
        shows    d1 state=IDLE+DYNAMIC_NORM
    )");
}

TEST(DynamicNodes, ANodeWithJobsOrAReservationIsNotDeleted) {
    EXPECT_SCENARIO(R"(
        settings mostnodes=9
        nodes    n1
        delete   n1 refused
        delete   d1 refused
        dynamic  d1
        submit   a nodelist=d1
        pass
        delete   d1 refused
        end      a
        reserve  r start=10 length=10 nodes=d1 users=1000
        delete   d1 refused
        unreserve r
        delete   d1
        submit   b
        pass
        expect   b running n1
    )");
}

// It has its old index, and nothing of the old state.
TEST(DynamicNodes, ANodeThatWasDeletedCanBeMadeAnew) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings mostnodes=9
        nodes    n1
        dynamic  d1 cpus=4
        node     d1 State=DRAIN Reason=old
        delete   d1
        restart
        dynamic  d1 cpus=2
        shows    d1 state=IDLE+DYNAMIC_NORM reason=
        submit   a nodelist=d1 cpus=2
        pass
        expect   a running d1
        end      a
        delete   d1
        dynamic  d1 cpus=2
        restart
        shows    d1 state=IDLE+DYNAMIC_NORM
    )"),
              "");
    EXPECT_EQ(scenario.cluster().node_count(), 2u);
}

TEST(DynamicNodes, ACloudNodeIsSwitchedOn) {
    EXPECT_SCENARIO(R"(
        settings mostnodes=9 power
        nodes    n1
        create   c1 state=CLOUD
        shows    c1 state=IDLE+CLOUD+DYNAMIC_NORM+POWERED_DOWN
        submit   a nodelist=c1
        pass
        expect   a configuring
        rebooted c1
        expect   a running c1
    )");
}

}  // namespace
}  // namespace sluice
