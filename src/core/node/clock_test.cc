// Nodes whose clock differs from the controller's.
#include <gtest/gtest.h>

#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

void register_with(Scenario& world, Seconds ahead) {
    Effects effects;
    apply(world.cluster(), world.now(), NodeRegistered{"n1", {}, {}, ahead}, effects);
}

void heartbeat_with(Scenario& world, Seconds steps) {
    Effects effects;
    apply(world.cluster(), world.now(), NodeHeartbeat{NodeIndex{0}, 0, 0, steps}, effects);
}

TEST(NodeClock, ANodeWhoseClockDiffersTakesNoJobsUntilItIsRight) {
    for (Seconds ahead : {Seconds{31}, Seconds{-31}}) {
        Scenario world;
        ASSERT_EQ(world.run("nodes n[1-2]"), "");
        ASSERT_EQ(world.run("pass"), "");
        register_with(world, ahead);
        EXPECT_EQ(world.run("submit a\n pass\n expect a running n2\n shows n1 state=IDLE+DRAIN"),
                  "");
        EXPECT_EQ(world.cluster().node(NodeIndex{0}).reason,
                  std::string("Clock differs from the controller's: 31 s ") +
                      (ahead > Seconds{0} ? "ahead" : "behind"));
        ASSERT_EQ(world.run("submit b\n pass\n expect b pending"), "");
        heartbeat_with(world, -ahead);  // its clock has been set
        EXPECT_EQ(world.run("pass\n expect b running n1\n shows n1 state=ALLOCATED reason="), "");
    }
}

// A job that another controller has sent it, or one that was on its way.
TEST(NodeClock, ALaunchThatItRefusesMeanwhileDoesNotDrainIt) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2]\n submit a\n pass\n expect a running n1"), "");
    register_with(world, Seconds{-3600});
    const Job& job = world.cluster().job(world.job("a"));
    Effects effects;
    apply(world.cluster(), world.now(),
          JobEnded{NodeIndex{0}, RunId{job.id, job.run.restarts, kBatchStep},
                   ExitStatus{0, 53, false}, Error{ErrorCode::ClockSkew, "too old"}},
          effects);
    EXPECT_TRUE(job.refused_by.empty());
    EXPECT_EQ(world.run("at 1\n expect a running n2"), "");
    heartbeat_with(world, Seconds{3600});
    EXPECT_EQ(world.run("shows n1 state=IDLE reason="), "");
}

TEST(NodeClock, ASmallDifferenceDoesNoHarm) {
    for (Seconds ahead : {Seconds{30}, Seconds{-30}}) {
        Scenario world;
        ASSERT_EQ(world.run("nodes n1\n pass"), "");
        register_with(world, ahead);
        EXPECT_EQ(world.run("submit a\n pass\n expect a running n1"), "");
    }
}

TEST(NodeClock, JobsThatRunThereGoOn) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\n submit a\n pass\n expect a running n1"), "");
    heartbeat_with(world, Seconds{7200});
    EXPECT_EQ(world.run("shows n1 state=ALLOCATED+DRAIN\n expect a running n1"), "");
    heartbeat_with(world, Seconds{0});
    EXPECT_EQ(world.run("shows n1 state=ALLOCATED reason="), "");
}

// With ReturnToService=1 only a node that did not respond returns by itself.
TEST(NodeClock, ANodeThatWasSilentMeanwhileReturns) {
    Scenario world;
    ASSERT_EQ(world.run("settings return=1\n nodes n1\n pass"), "");
    register_with(world, Seconds{100});
    ASSERT_EQ(world.run("lost n1\n at 6"), "");
    EXPECT_EQ(world.cluster().node(NodeIndex{0}).reason, "Not responding");
    register_with(world, Seconds{0});
    EXPECT_EQ(world.run("shows n1 state=IDLE reason="), "");
}

TEST(NodeClock, TheReasonOfAnAdministratorStays) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\n pass\n node n1 State=DRAIN Reason=fan"), "");
    register_with(world, Seconds{100});
    register_with(world, Seconds{0});
    EXPECT_EQ(world.run("shows n1 state=IDLE+DRAIN reason=fan"), "");
}

TEST(NodeClock, TheControllersOwnMistakeIsNoReasonForEver) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2]
        submit  a nodelist=n1
        pass
        clock   +180
        shows   n1 state=ALLOCATED+DRAIN
        shows   n2 state=IDLE+DRAIN
        submit  b nodelist=n2
        pass
        expect  b pending
        clock   -180
        shows   n1 state=ALLOCATED reason=
        pass
        expect  a running n1
        expect  b running n2
    )");
}

}  // namespace
}  // namespace sluice
