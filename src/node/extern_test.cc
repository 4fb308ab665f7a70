// PrologFlags=Alloc and Contain: what a node does for a job before it gets anything to run.
#include "model/errors.h"
#include "node/testing.h"

namespace sluice {
namespace {

class Extern : public NodeTest {
protected:
    std::string prepare(std::uint32_t job, bool contain = true) {
        return on(PrepareOrdered{hook(job), contain});
    }
    static RunKey container(std::uint32_t job) { return run(job, kExternStep); }
};

TEST_F(Extern, AContainerIsStartedOnceHoweverOftenItIsOrdered) {
    EXPECT_EQ(prepare(12), "spawn 12.extern of 1000:100\n");
    EXPECT_EQ(prepare(12), "");
    EXPECT_EQ(started(container(12)), "report launch 12.extern\n");
    EXPECT_EQ(prepare(12), "report launch 12.extern\n");
    EXPECT_EQ(known(), "12.extern ");
}

TEST_F(Extern, ItEndsWithTheScriptAndBeforeTheEndOfTheJobIsReported) {
    prepare(12);
    started(container(12));
    EXPECT_EQ(launch_batch(12), "spawn 12.batch of 1000:100 (known)\n");
    EXPECT_EQ(ended(run(12)), "end 12.extern within 0 s\n");
    EXPECT_EQ(ended(container(12)), "report step end 12.extern 0:0\nreport job end 12.batch 0:0\n");
    EXPECT_EQ(prepare(12), "");  // the order was late
}

TEST_F(Extern, ProcessesOfAJobThatIsKilledHaveTimeWhileOtherRunsOfItHave) {
    prepare(12);
    started(container(12));
    launch_batch(12);
    EXPECT_EQ(on(EndOrdered{.run = run(12), .grace = Seconds{30}, .reason_line = "TIME"}),
              "end 12.batch within 30 s TIME\nend 12.extern within 30 s TIME\n");
    EXPECT_EQ(ended(run(12)), "end 12.extern within 0 s\n");
}

TEST_F(Extern, ItEndsAtOnceOnANodeThatHasNothingElse) {
    prepare(12);
    started(container(12));
    EXPECT_EQ(end_job(12), "end 12.extern within 0 s\n");
    EXPECT_EQ(ended(container(12)), "report step end 12.extern 0:0\nreport cleaned 12\n");
}

TEST_F(Extern, ItsLossIsNoLossOfTheJob) {
    prepare(12);
    started(container(12));
    launch_batch(12);
    EXPECT_EQ(on(SupervisorGone{container(12)}), "kill rest of 12.extern\n");
    EXPECT_EQ(on(LeftoversGone{container(12)}), "report step end 12.extern 0:9\n");
    EXPECT_EQ(known(), "12.batch 12.extern ");
    EXPECT_EQ(ended(run(12)), "report job end 12.batch 0:0\n");
}

TEST_F(Extern, SignalsToTheJobAreNotForItsProcesses) {
    prepare(12);
    started(container(12));
    EXPECT_EQ(on(SignalOrdered{{JobId{12}}, {.signal = 10, .steps = true}}), "");
    EXPECT_EQ(on(SignalOrdered{{JobId{12}}, {.signal = 10, .step = kExternStep, .steps = true}}),
              "12.extern signal 10 to step extern steps\n");
    EXPECT_EQ(on(SignalOrdered{{JobId{12}}, {.signal = 19, .steps = true, .suspension = true}}),
              "12.extern signal 19 steps suspension\n");
}

TEST_F(Extern, ThePrologRunsBeforeItAndForAllRuns) {
    state_.settings.has_prolog = true;
    EXPECT_EQ(prepare(12), "prolog 12 of 1000:100\n");
    EXPECT_EQ(launch_batch(12), "");
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}), "spawn 12.batch of 1000:100\n");
    EXPECT_EQ(started(run(12)), "spawn 12.extern of 1000:100 (known)\nreport launch 12.batch\n");
}

TEST_F(Extern, AFailedPrologIsReportedOfTheContainer) {
    state_.settings.has_prolog = true;
    prepare(12);
    EXPECT_EQ(on(PrologEnded{{JobId{12}}, false}),
              "refuse 12.extern: Job prolog failed\n"
              "report launch 12.extern: Job prolog failed\n"
              "report step end 12.extern 1:0\n");
}

TEST_F(Extern, WithoutAContainerThePrologAloneIsReported) {
    state_.settings.has_prolog = true;
    EXPECT_EQ(prepare(12, false), "prolog 12 of 1000:100\n");
    EXPECT_EQ(prepare(12, false), "");
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}), "report launch 12.extern\n");
    EXPECT_EQ(prepare(12, false), "report launch 12.extern\n");
    EXPECT_EQ(known(), "");
    EXPECT_EQ(launch_batch(12), "spawn 12.batch of 1000:100\n");  // no second prolog
}

TEST_F(Extern, AJobThatIsEndedDuringItsPrologHasItsEpilogAfterIt) {
    state_.settings = {.has_prolog = true, .has_epilog = true};
    prepare(12, false);
    EXPECT_EQ(end_job(12), "");
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}), "report launch 12.extern\nepilog 12 of 1000:100\n");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}}), "report cleaned 12\n");
}

TEST_F(Extern, AFailedPrologAloneLeavesNothing) {
    state_.settings.has_prolog = true;
    prepare(12, false);
    EXPECT_EQ(on(PrologEnded{{JobId{12}}, false}), "report launch 12.extern: Job prolog failed\n");
    EXPECT_EQ(prepare(12, false), "prolog 12 of 1000:100\n");
}

TEST_F(Extern, AnOrderThatIsRefusedIsAnsweredWhateverTheReason) {
    const Error error{ErrorCode::UserUnknown, "no such user"};
    EXPECT_EQ(on(PrepareOrdered{hook(12), true, error}),
              "refuse 12.extern: Invalid user id: no such user\n"
              "report launch 12.extern: Invalid user id: no such user\n"
              "report step end 12.extern 1:0\n");
}

TEST_F(Extern, ARestartedSlurmdFindsIt) {
    EXPECT_EQ(on(SpoolRead{{{container(12), hook(12), true, {}}}}), "");
    EXPECT_EQ(on(SupervisorState{container(12), 1000, 100}), "");
    EXPECT_EQ(known(), "12.extern ");
    EXPECT_EQ(end_job(12), "end 12.extern within 0 s\n");
}

}  // namespace
}  // namespace sluice
