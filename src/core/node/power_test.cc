// core/node/power_test.cc: nodes are switched off when they are idle, and on when jobs need them.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

// "suspend n1,n2; resume n1": what programs were asked for, in their order.
std::string programs_of(const Scenario& scenario) {
    constexpr const char* kNames[] = {"suspend", "resume", "fail"};
    std::string all;
    for (const Effect& effect : scenario.effects()) {
        const auto* order = std::get_if<RunPowerProgram>(&effect);
        if (!order) continue;
        all += all.empty() ? "" : "; ";
        all += kNames[static_cast<std::size_t>(order->program)];
        for (const std::string& node : order->nodes) all += " " + node;
    }
    return all;
}

TEST(Power, AnIdleNodeIsSwitchedOffAfterSuspendTime) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power suspend=5 suspendtimeout=2
        nodes    n[1-2]
        submit   a nodelist=n2
        pass
        at       4
        shows    n1 state=IDLE
        at       5
        shows    n1 state=IDLE+POWERING_DOWN
        shows    n2 state=ALLOCATED
        at       6
        shows    n1 state=IDLE+POWERING_DOWN
        at       7
        shows    n1 state=IDLE+POWERED_DOWN
        end      a
        at       11
        shows    n2 state=IDLE
        at       12
        shows    n2 state=IDLE+POWERING_DOWN
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "suspend n1; suspend n2");
}

TEST(Power, WithoutProgramsOrSuspendTimeNothingIsSwitchedOff) {
    EXPECT_SCENARIO(R"(
        settings suspend=1
        nodes    n1
        at       10
        shows    n1 state=IDLE
        node     n1 State=POWER_DOWN refused
    )");
    EXPECT_SCENARIO(R"(
        settings power
        nodes    n1
        at       10
        shows    n1 state=IDLE
    )");
}

TEST(Power, AJobWaitsUntilAllItsNodesAreUp) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power resume=5
        nodes    c[1-2] state=CLOUD
        shows    c1 state=IDLE+CLOUD+POWERED_DOWN
        submit   a nodes=2 time=1
        pass
        expect   a configuring
        at       0
        shows    c1 state=ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP
        at       2                     # its time has not begun
        expect   a configuring
        rebooted c1
        shows    c1 state=ALLOCATED+CLOUD
        expect   a configuring
        at       3
        rebooted c2
        expect   a running c[1-2]
        at       3
        expect   a running
        at       4
        expect   a completing
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "resume c1 c2");
}

TEST(Power, AProgramIsToldForWhichJobsNodesAreResumed) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power
        nodes    n1
        nodes    c[1-2] state=CLOUD
        submit   a nodes=3
        pass
        at       0
    )"),
              "");
    const auto* order = std::get_if<RunPowerProgram>(&scenario.effects().back());
    ASSERT_TRUE(order);
    ASSERT_EQ(order->jobs.size(), 1u);
    EXPECT_EQ(order->jobs[0].job->id, scenario.job("a"));
    EXPECT_EQ(order->jobs[0].nodes, (std::vector<std::string>{"c1", "c2"}));
    EXPECT_EQ(order->limit, Seconds{60});
}

TEST(Power, ANodeThatDoesNotComeUpIsDownAndItsJobRunsElsewhere) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power resume=5 resumefail
        nodes    c[1-3] state=CLOUD
        submit   a nodes=2
        submit   b nodelist=c1 norequeue
        pass
        at       0
        rebooted c2
        at       4
        expect   a configuring
        at       5
        shows    c1 state=DOWN+CLOUD+POWERED_DOWN reason=ResumeTimeout_reached
        expect   a completing
        clean    a c2
        at       5
        at       5
        expect   a configuring         # c2 and c3
        shows    c2 state=ALLOCATED+CLOUD
        rebooted c3
        expect   a running c[2-3]
        node     c1 State=RESUME
        at       5
        expect   b configuring
        at       5
        at       10
        expect   b node_fail
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "resume c1 c2; fail c1; resume c3; resume c1; fail c1");
}

TEST(Power, ARunThatIsCancelledWhileItsNodesBootFreesThemAtOnce) {
    EXPECT_SCENARIO(R"(
        settings power resume=5
        nodes    c1 state=CLOUD
        submit   a
        pass
        at       0
        cancel   a
        expect   a cancelled
        shows    c1 state=IDLE+CLOUD+NOT_RESPONDING+POWERING_UP
        submit   b
        pass
        expect   b configuring
        rebooted c1
        expect   b running c1
    )");
}

TEST(Power, NodesThatAreSwitchedOnAreUsedFirst) {
    EXPECT_SCENARIO(R"(
        settings power suspend=5 suspendtimeout=1
        nodes    n[1-2] cpus=2
        node     n1 State=POWER_DOWN
        at       0
        at       1
        shows    n1 state=IDLE+POWERED_DOWN
        submit   a
        pass
        expect   a running n2
        submit   b exclusive
        pass
        expect   b configuring
    )");
}

TEST(Power, TheSameSlurmdDoesNotCountAsABoot) {
    EXPECT_SCENARIO(R"(
        settings power suspend=5 resume=5
        nodes    n1
        at       5
        lost     n1
        at       6
        shows    n1 state=IDLE+POWERED_DOWN
        back     n1                    # SuspendProgram has not stopped it
        shows    n1 state=IDLE+POWERED_DOWN
        submit   a
        pass
        at       6
        back     n1
        expect   a configuring
        at       8
        rebooted n1
        expect   a running n1
    )");
}

TEST(Power, ANodeThatIsSwitchedOnBySomebodyElseIsUp) {
    EXPECT_SCENARIO(R"(
        settings power
        nodes    c1 state=CLOUD
        at       1
        rebooted c1
        shows    c1 state=IDLE+CLOUD
    )");
}

TEST(Power, CommandsOfAdministrators) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power suspendtimeout=1
        nodes    n[1-2] cpus=2
        submit   a nodelist=n1
        pass
        node     n1 State=POWER_DOWN
        shows    n1 state=MIXED+POWER_DOWN
        submit   b nodelist=n1         # not yet without jobs
        pass
        expect   b running n1
        node     n1 State=POWER_DOWN_ASAP
        shows    n1 state=ALLOCATED+DRAIN+POWER_DOWN+POWER_DRAIN
        submit   c nodelist=n1
        pass
        expect   c pending
        end      a
        end      b
        at       0
        shows    n1 state=IDLE+DRAIN+POWER_DRAIN+POWERING_DOWN
        expect   c pending
        at       1
        expect   c configuring
        node     n2 State=POWER_DOWN_FORCE
        at       1
        at       2
        shows    n2 state=IDLE+POWERED_DOWN
        node     n2 State=POWER_UP
        at       2
        shows    n2 state=IDLE+NOT_RESPONDING+POWERING_UP
        rebooted n2
        shows    n2 state=IDLE
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "suspend n1; suspend n2; resume n1; resume n2");
}

TEST(Power, ForceEndsTheJobsOfTheNode) {
    EXPECT_SCENARIO(R"(
        settings power suspendtimeout=1
        nodes    n1
        submit   a
        pass
        node     n1 State=POWER_DOWN_FORCE
        expect   a pending
        at       0
        shows    n1 state=IDLE+DRAIN+POWER_DOWN+POWER_DRAIN
        back     n1                    # nothing of the job is left
        at       1
        shows    n1 state=IDLE+DRAIN+POWER_DRAIN+POWERING_DOWN
    )");
}

TEST(Power, RatesLimitHowManyNodesAProgramGets) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power suspend=5 suspendtimeout=1 suspendrate=2 resumerate=1 resume=5
        nodes    n[1-3]
        at       5
        shows    n2 state=IDLE+POWERING_DOWN
        shows    n3 state=IDLE
        at       6
        shows    n3 state=IDLE+POWERING_DOWN
        at       7
        submit   a nodes=2
        pass
        at       7
        at       8
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "suspend n1 n2; suspend n3; resume n1; resume n2");
}

TEST(Power, ExceptionsStaySwitchedOn) {
    EXPECT_SCENARIO(R"(
        settings power suspend=5 excnodes=n[1-3]:2
        nodes    n[1-4]
        at       5
        shows    n1 state=IDLE
        shows    n2 state=IDLE
        shows    n3 state=IDLE+POWERING_DOWN
        shows    n4 state=IDLE+POWERING_DOWN
    )");
    EXPECT_SCENARIO(R"(
        settings power suspend=5 excnodes=n[1-4]:1
        nodes    n[1-4]
        node     n2 State=DRAIN Reason=test
        submit   busy nodelist=n1 time=60
        pass
        at       5
        shows    n1 state=ALLOCATED
        shows    n2 state=IDLE+DRAIN+POWERING_DOWN    # neither it nor n1 is one that stays for jobs
        shows    n3 state=IDLE
        shows    n4 state=IDLE+POWERING_DOWN
    )");
    EXPECT_SCENARIO(R"(
        settings  power suspend=5 excparts=keep excdrain excdown
        nodes     n[1-4]
        partition keep nodes=n1
        partition main nodes=n[1-4] default
        node      n2 State=DRAIN Reason=test
        down      n3
        at        5
        shows     n1 state=IDLE
        shows     n2 state=IDLE+DRAIN
        shows     n3 state=DOWN
        shows     n4 state=IDLE+POWERING_DOWN
    )");
}

TEST(Power, TimesOfPartitionsAndNodes) {
    EXPECT_SCENARIO(R"(
        settings  power suspend=5 suspendtimeout=1
        nodes     n[1-3]
        nodes     n4 suspend=2
        nodes     n5 suspend=never
        partition main nodes=n[1-5] default
        partition slow nodes=n2 suspend=8 suspendtimeout=3
        partition on nodes=n3 suspend=never
        at        2
        shows     n4 state=IDLE+POWERING_DOWN
        at        5
        shows     n1 state=IDLE+POWERING_DOWN
        shows     n2 state=IDLE
        at        8
        shows     n2 state=IDLE+POWERING_DOWN
        at        10
        shows     n2 state=IDLE+POWERING_DOWN
        at        11
        shows     n2 state=IDLE+POWERED_DOWN
        at        99
        shows     n3 state=IDLE
        shows     n5 state=IDLE
    )");
}

TEST(Power, APartitionSwitchesItsNodesOffAfterTheLastJob) {
    EXPECT_SCENARIO(R"(
        settings  power
        nodes     n1 cpus=2
        partition main nodes=n1 default
        partition once nodes=n1 downonidle
        submit    a
        submit    b partition=once
        pass
        end       b
        at        1
        shows     n1 state=MIXED+POWER_DOWN
        end       a
        at        1
        shows     n1 state=IDLE+POWERING_DOWN
    )");
}

TEST(Power, ANodeThatWasDrainedForItIsIdleAfterwards) {
    EXPECT_SCENARIO(R"(
        settings power suspend=5 idleonsuspend suspendtimeout=1
        nodes    n[1-2]
        down     n1
        node     n2 State=DRAIN Reason=test
        at       5
        at       6
        shows    n1 state=IDLE+POWERED_DOWN
        shows    n2 state=IDLE+POWERED_DOWN
    )");
}

// What the program of an order has done is unknown only until it is known to have started.
TEST(Power, StatesSurviveARestartAndProgramsAreRepeatedIfTheyHadNotStarted) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings power suspend=5 suspendtimeout=2 resume=5
        nodes    n1
        nodes    c[1-2] state=CLOUD
        submit   a nodelist=c1
        pass
        at       0
    )"),
              "");
    const auto started = [&](PowerProgram program, const char* node) {
        Effects none;
        apply(scenario.cluster(), scenario.now(), PowerProgramStarted{program, {node}}, none);
    };
    started(PowerProgram::Resume, "c1");
    ASSERT_EQ(scenario.run(R"(
        at       1
        restart
        shows    c1 state=ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP
        shows    c2 state=IDLE+CLOUD+POWERED_DOWN
        expect   a configuring
        rebooted c1
        expect   a running c1
        node     c2 State=POWER_UP
        at       2
        restart                        # its program had not started
        at       2
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "resume c1; resume c2; resume c2");
    ASSERT_EQ(scenario.run(R"(
        at       7
        shows    n1 state=IDLE+POWERING_DOWN
    )"),
              "");
    started(PowerProgram::Suspend, "n1");
    ASSERT_EQ(scenario.run(R"(
        restart
        at       8
        shows    n1 state=IDLE+POWERING_DOWN
        restart
        at       9
        shows    n1 state=IDLE+POWERED_DOWN
        restart
        shows    n1 state=IDLE+POWERED_DOWN
    )"),
              "");
    EXPECT_EQ(programs_of(scenario), "resume c1; resume c2; resume c2; suspend n1");
}

TEST(Power, ANodeReturnsAfterTheTimeOfResumeAfter) {
    EXPECT_SCENARIO(R"(
        nodes    n[1-3]
        node     n1 State=DRAIN Reason=test ResumeAfter=120
        node     n2 State=DOWN Reason=test ResumeAfter=120
        node     n3 State=DRAIN Reason=test ResumeAfter=120
        node     n3 ResumeAfter=INFINITE
        at       1
        shows    n1 state=IDLE+DRAIN reason=test
        restart
        shows    n2 state=DOWN
        at       2
        shows    n1 state=IDLE reason=
        shows    n2 state=IDLE reason=
        shows    n3 state=IDLE+DRAIN reason=test
    )");
}

TEST(Power, WithoutPowerSavingCloudNodesAreUpWhenTheyRegister) {
    EXPECT_SCENARIO(R"(
        settings power
        nodes    c1 state=CLOUD
        shows    c1 state=IDLE+CLOUD+POWERED_DOWN
        settings
        shows    c1 state=UNKNOWN+CLOUD+NOT_RESPONDING
        back     c1
        shows    c1 state=IDLE+CLOUD
    )");
}

TEST(Power, AClockStepChangesNoDuration) {
    EXPECT_SCENARIO(R"(
        settings power suspend=5 suspendtimeout=2
        nodes    n1
        at       5
        clock    +600
        at       6
        shows    n1 state=IDLE+DRAIN+POWERING_DOWN
        at       7
        shows    n1 state=IDLE+POWERED_DOWN
    )");
}

}  // namespace
}  // namespace sluice
