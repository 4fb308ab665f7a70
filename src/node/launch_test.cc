// How runs start, and what keeps them from it.
#include "model/errors.h"
#include "node/testing.h"

namespace sluice {
namespace {

using Launch = NodeTest;

TEST_F(Launch, ABatchScriptIsStartedOnceHoweverOftenItIsOrdered) {
    EXPECT_EQ(launch_batch(12), "spawn 12.batch of 1000:100\n");
    EXPECT_EQ(launch_batch(12), "");  // it will be reported when it has started
    EXPECT_EQ(started(run(12)), "report launch 12.batch\n");
    EXPECT_EQ(launch_batch(12), "report launch 12.batch\n");
    EXPECT_EQ(ended(run(12), 3), "report job end 12.batch 3:0\n");
    EXPECT_EQ(launch_batch(12), "");  // its end is on the way
    EXPECT_EQ(known(), "12.batch ");
    EXPECT_EQ(job_end_stored(12), "release 12.batch\nremove directory 12\n");
    EXPECT_EQ(known(), "");
}

TEST_F(Launch, AnOrderThatComesDuringTheEpilogStartsNothing) {
    state_.settings.has_epilog = true;
    launch_batch(12);
    EXPECT_EQ(ended(run(12)), "epilog 12 of 1000:100\n");
    EXPECT_EQ(launch_batch(12), "");
    EXPECT_EQ(launch_step(12, 0), "job 12 has ended on this node");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}, false}), "report job end 12.batch 0:0 epilog failed\n");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}}), "");
}

TEST_F(Launch, TheRunsOfAJobWaitForOneProlog) {
    state_.settings.has_prolog = true;
    EXPECT_EQ(launch_batch(12), "prolog 12 of 1000:100\n");
    EXPECT_EQ(launch_batch(12), "");
    EXPECT_EQ(launch_step(12, 0), "report launch 12.0\n");  // it is here, though it waits
    EXPECT_EQ(launch_step(12, 0), "step 12.0 was launched before");
    // The second one waits for the first to look up the user.
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}), "spawn 12.0 of 1000:100\n");
    EXPECT_EQ(started(run(12, StepId{0})),
              "spawn 12.batch of 1000:100 (known)\nreport launch 12.0\n");
    EXPECT_EQ(launch_step(12, 1), "spawn 12.1 of 1000:100 (known)\n");
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}), "");
}

TEST_F(Launch, AStepThatTheNodeCannotRunIsReportedAsItsFault) {
    const RunKey key = run(12, StepId{0});
    EXPECT_EQ(on(StepBrought{key, hook(12), Error{ErrorCode::NodeUnable, "no disk"}}),
              "refuse 12.0: Job launch failure: no disk\n"
              "report launch 12.0: Job launch failure: no disk\nreport step end 12.0 1:0\n");
    EXPECT_EQ(known(), "12.0 ");
}

TEST_F(Launch, AFailedPrologEndsTheJobAfterItsEpilog) {
    state_.settings = {.has_prolog = true, .has_epilog = true};
    launch_batch(12);
    EXPECT_EQ(on(PrologEnded{{JobId{12}}, false}),
              "refuse 12.batch: Job prolog failed\n"
              "epilog 12 of 1000:100\n");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}}), "report job end 12.batch 0:53: Job prolog failed\n");
    EXPECT_EQ(job_end_stored(12), "remove directory 12\n");
}

TEST_F(Launch, AFailedPrologOfAStepIsReportedAndTheNextStepTriesAgain) {
    state_.settings.has_prolog = true;
    launch_step(12, 0);
    EXPECT_EQ(on(PrologEnded{{JobId{12}}, false}),
              "refuse 12.0: Job prolog failed\n"
              "report launch 12.0: Job prolog failed\n"
              "report step end 12.0 1:0\n");
    EXPECT_EQ(launch_step(12, 0), "step 12.0 was launched before");
    EXPECT_EQ(launch_step(12, 1), "prolog 12 of 1000:100\nreport launch 12.1\n");
}

TEST_F(Launch, AStepThatIsCancelledDuringThePrologDoesNotStart) {
    state_.settings.has_prolog = true;
    launch_step(12, 0);
    EXPECT_EQ(end_step(12, 0), "");
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}),
              "refuse 12.0: Job launch failure: the step was cancelled before it started\n"
              "report step end 12.0 1:0\n");
    EXPECT_EQ(known(), "12.0 ");
}

TEST_F(Launch, AJobThatIsEndedDuringThePrologDoesNotStart) {
    state_.settings = {.has_prolog = true, .has_epilog = true};
    launch_batch(12);
    EXPECT_EQ(end_job(12), "");
    EXPECT_EQ(on(PrologEnded{{JobId{12}}}),
              "refuse 12.batch: Job launch failure: the job was ended before it started\n"
              "epilog 12 of 1000:100\n");
}

// Otherwise it would run beside nothing that could end it.
TEST_F(Launch, AStepThatWaitsWhileItsScriptEndsDoesNotStart) {
    launch_batch(11, 1000);  // looks up the user, and takes long
    launch_batch(12, 1001);
    EXPECT_EQ(on(StepBrought{run(12, StepId{0}), hook(12, 1000)}), "report launch 12.0\n");
    EXPECT_EQ(ended(run(12)), "");  // the step is still here
    EXPECT_EQ(started(run(11)),
              "refuse 12.0: Job launch failure: the job was ended before it started\n"
              "report step end 12.0 1:0\n"
              "report job end 12.batch 0:0\n"
              "report launch 11.batch\n");
}

TEST_F(Launch, ASupervisorThatCannotBeStartedIsTheEndOfItsRun) {
    launch_batch(12);
    const Error full{ErrorCode::NodeUnable, "no space left"};
    EXPECT_EQ(on(SpawnFailed{run(12), full}),
              "refuse 12.batch: Job launch failure: no space left\n"
              "report job end 12.batch 0:53: Job launch failure: no space left\n");
    EXPECT_EQ(launch_step(13, 0), "spawn 13.0 of 1000:100\n");
    EXPECT_EQ(on(SpawnFailed{run(13, StepId{0}), full}),
              "refuse 13.0: Job launch failure: no space left\n"
              "report launch 13.0: Job launch failure: no space left\n"
              "report step end 13.0 1:0\n");
    EXPECT_EQ(known(), "12.batch 13.0 ");
}

TEST_F(Launch, ABatchScriptWithoutAValidCredentialIsReportedAtOnce) {
    const Error forged{ErrorCode::LaunchFailed, "forged"};
    EXPECT_EQ(on(BatchOrdered{hook(12), forged}),
              "refuse 12.batch: Job launch failure: forged\n"
              "report job end 12.batch 0:53: Job launch failure: forged\n");
    EXPECT_EQ(on(BatchOrdered{hook(12), forged}), "");
    // A repeated order of one that runs may repeat its credential, which is used up.
    launch_batch(13);
    started(run(13));
    EXPECT_EQ(on(BatchOrdered{hook(13), forged}), "report launch 13.batch\n");
}

// Where a step of the job has been before, the job is here, and needs its Epilog.
TEST_F(Launch, AScriptThatIsRefusedBetweenTwoStepsClosesTheJob) {
    state_.settings.has_epilog = true;
    launch_step(12, 0);
    ended(run(12, StepId{0}));
    const Error forged{ErrorCode::LaunchFailed, "forged"};
    EXPECT_EQ(on(BatchOrdered{hook(12), forged}),
              "refuse 12.batch: Job launch failure: forged\nepilog 12 of 1000:100\n");
}

TEST_F(Launch, TheProgramsAreToldOfTheDevicesOfAllRuns) {
    state_.settings.has_epilog = true;
    HookJob news = hook(12);
    news.gpus = {3};
    news.variables = {"A=1"};
    EXPECT_EQ(on(StepBrought{run(12, StepId{0}), news}), "spawn 12.0 of 1000:100 gpus 3 A=1\n");
    started(run(12, StepId{0}));
    news.gpus = {1};
    news.variables = {"A=2"};
    EXPECT_EQ(on(StepBrought{run(12, StepId{1}), news}),
              "spawn 12.1 of 1000:100 gpus 1,3 A=2 (known)\n");
}

TEST_F(Launch, OneRunLooksUpTheUserAndTheOthersWait) {
    EXPECT_EQ(launch_batch(11), "spawn 11.batch of 1000:100\n");
    EXPECT_EQ(launch_batch(12), "");
    EXPECT_EQ(launch_step(13, 0), "report launch 13.0\n");
    EXPECT_EQ(launch_batch(14, 1001), "spawn 14.batch of 1001:100\n");  // another user
    EXPECT_EQ(started(run(11)),
              "spawn 12.batch of 1000:100 (known)\n"
              "spawn 13.0 of 1000:100 (known)\n"
              "report launch 11.batch\n");
}

TEST_F(Launch, WithoutAnAnswerEachRunLooksUpTheUserItself) {
    launch_batch(11);
    launch_batch(12);
    launch_batch(13);
    EXPECT_EQ(ended(run(11)),
              "spawn 12.batch of 1000:100\n"
              "spawn 13.batch of 1000:100\n"
              "report job end 11.batch 0:0\n");
}

TEST_F(Launch, AUserIsKnownForATimeAndByTheJobsGroup) {
    launch_batch(11);
    started(run(11));
    pass(Seconds{599});
    EXPECT_EQ(launch_batch(12), "spawn 12.batch of 1000:100 (known)\n");
    HookJob other = hook(13);
    other.group = 200;
    EXPECT_EQ(on(BatchOrdered{other}), "spawn 13.batch of 1000:200\n");
    pass(Seconds{1});
    EXPECT_EQ(launch_batch(14), "spawn 14.batch of 1000:100\n");
    state_.settings.group_update_time = Seconds{0};  // always ask
    started(run(14));
    EXPECT_EQ(launch_batch(15), "spawn 15.batch of 1000:100\n");
}

}  // namespace
}  // namespace sluice
