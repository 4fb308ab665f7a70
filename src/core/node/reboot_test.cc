// core/node/reboot_test.cc: scontrol reboot, from the demand to the node that is back.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

std::size_t orders_in(const Scenario& scenario) {
    std::size_t count = 0;
    for (const Effect& effect : scenario.effects())
        count += std::holds_alternative<RebootNode>(effect) ? 1 : 0;
    return count;
}

TEST(Reboot, AnIdleNodeIsToldAtOnceAndReturnsWithANewBoot) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings reboot=/sbin/reboot
        nodes    n[1-2]
        reboot   n1
        shows    n1 state=DOWN+REBOOT_ISSUED reason=reboot_requested_:_reboot_issued
        submit   a nodelist=n1
        pass
        expect   a pending
        lost     n1
        shows    n1 state=DOWN+REBOOT_ISSUED+NOT_RESPONDING
        rebooted n1
        shows    n1 state=IDLE reason=
        pass
        expect   a running n1
    )"),
              "");
    EXPECT_EQ(orders_in(scenario), 1u);
}

TEST(Reboot, WaitsForJobsAndWithAsapTakesNoNewOnes) {
    EXPECT_SCENARIO(R"(
        settings reboot=/sbin/reboot
        nodes    n1 cpus=2
        submit   a
        pass
        reboot   n1
        shows    n1 state=MIXED+REBOOT_REQUESTED reason=reboot_requested
        submit   b
        pass
        expect   b running n1
        end      b
        reboot   n1 asap
        shows    n1 state=MIXED+DRAIN+REBOOT_REQUESTED reason=reboot_requested
        submit   c
        pass
        expect   c pending
        end      a
        shows    n1 state=DOWN+DRAIN+REBOOT_ISSUED
        rebooted n1
        shows    n1 state=IDLE reason=
        pass
        expect   c running n1
    )");
}

TEST(Reboot, NextStateAndReasonAreHonoured) {
    EXPECT_SCENARIO(R"(
        settings reboot=/sbin/reboot
        nodes    n[1-3]
        reboot   n1 asap next=down reason=new_kernel
        node     n2 State=DRAIN Reason=broken
        reboot   n2
        node     n3 State=DRAIN Reason=broken
        reboot   n3 next=resume
        at       1
        shows    n3 state=DOWN reason=broken_:_reboot_issued_:_reboot_timed_out
        node     n1 State=RESUME
        node     n2 State=RESUME
        node     n3 State=RESUME
        reboot   n1 asap next=down reason=new_kernel
        node     n2 State=DRAIN Reason=broken
        reboot   n2
        node     n3 State=DRAIN Reason=broken
        reboot   n3 next=resume
        rebooted n1
        rebooted n2
        rebooted n3
        shows    n1 state=DOWN reason=new_kernel_:_reboot_issued_:_reboot_complete
        shows    n2 state=IDLE+DRAIN reason=broken_:_reboot_issued
        shows    n3 state=IDLE reason=
    )");
}

TEST(Reboot, CanBeCancelledUntilTheNodeWasTold) {
    EXPECT_SCENARIO(R"(
        settings reboot=/sbin/reboot
        nodes    n[1-2]
        node     n1 State=CANCEL_REBOOT refused
        submit   a nodelist=n1
        pass
        reboot   n1 asap
        node     n1 State=CANCEL_REBOOT
        shows    n1 state=ALLOCATED reason=
        node     n1 State=DRAIN Reason=broken
        reboot   n1 asap
        node     n1 State=CANCEL_REBOOT
        shows    n1 state=ALLOCATED+DRAIN reason=broken
        reboot   n2
        node     n2 State=CANCEL_REBOOT refused
        node     n2 State=IDLE refused
        node     n2 State=RESUME
        shows    n2 state=IDLE reason=
    )");
}

TEST(Reboot, SurvivesARestartOfTheController) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings reboot=/sbin/reboot
        nodes    n[1-2]
        submit   a nodelist=n1
        pass
        reboot   n1 asap
        reboot   n2
        restart
        shows    n1 state=ALLOCATED+DRAIN+REBOOT_REQUESTED reason=Reboot_ASAP
        shows    n2 state=DOWN+REBOOT_ISSUED
        end      a
        shows    n1 state=DOWN+DRAIN+REBOOT_ISSUED
        rebooted n2
        shows    n2 state=IDLE reason=
        at       2
        shows    n1 state=DOWN reason=Reboot_ASAP_:_reboot_issued_:_reboot_timed_out
    )"),
              "");
    EXPECT_EQ(orders_in(scenario), 3u);  // n2's was repeated when it registered with its old boot
}

TEST(Reboot, ReturnToServiceDoesNotUndoNextState) {
    EXPECT_SCENARIO(R"(
        settings reboot=/sbin/reboot return=2
        nodes    n1
        reboot   n1 next=down
        rebooted n1
        shows    n1 state=DOWN reason=reboot_requested_:_reboot_issued_:_reboot_complete
    )");
}

TEST(Reboot, ANodeThatIsResumedMeanwhileIsWatchedAgain) {
    EXPECT_SCENARIO(R"(
        settings reboot=/sbin/reboot
        nodes    n[1-2]
        reboot   n1
        lost     n1
        node     n1 State=RESUME
        shows    n1 state=IDLE+NOT_RESPONDING
        at       10
        shows    n1 state=DOWN+NOT_RESPONDING reason=Not_responding
    )");
}

TEST(Reboot, NeedsAProgramAndKnownNodes) {
    EXPECT_SCENARIO(R"(
        nodes    n1
        reboot   n1 refused
        settings reboot=/sbin/reboot
        reboot   n9 refused
        reboot   ALL
        shows    n1 state=DOWN+REBOOT_ISSUED
    )");
}

TEST(Reboot, SilenceIsExpectedUntilResumeTimeout) {
    EXPECT_SCENARIO(R"(
        settings reboot=/sbin/reboot resume=20
        nodes    n[1-2]
        reboot   n1
        lost     n1
        at       15                # SlurmdTimeout is 5 minutes
        shows    n1 state=DOWN+REBOOT_ISSUED+NOT_RESPONDING reason=reboot_requested_:_reboot_issued
        rebooted n1
        shows    n1 state=IDLE reason=
        reboot   n1
        lost     n1
        at       34
        shows    n1 state=DOWN+REBOOT_ISSUED+NOT_RESPONDING
        at       35
        shows    n1 state=DOWN+NOT_RESPONDING
    )");
}

TEST(Reboot, TimesOutWhateverTheClockIsSetTo) {
    for (const char* clock : {"clock +180", "clock -180"}) {
        EXPECT_SCENARIO(std::string(R"(
            settings reboot=/sbin/reboot resume=20
            nodes    n[1-2]
            reboot   n1
            lost     n1
            at       5
        )") + clock + R"(
            at       19
            shows    n1 state=DOWN+DRAIN+REBOOT_ISSUED+NOT_RESPONDING
            at       20
            shows    n1 state=DOWN+DRAIN+NOT_RESPONDING
        )");
    }
}

}  // namespace
}  // namespace sluice
