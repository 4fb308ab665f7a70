// How runs and jobs end, and what the controller is told.
#include "model/errors.h"
#include "node/testing.h"

namespace sluice {
namespace {

using End = NodeTest;

TEST_F(End, TheStepsOfAScriptEndWithIt) {
    state_.settings.kill_wait = Seconds{7};
    launch_batch(12);
    started(run(12));
    launch_step(12, 0);
    started(run(12, StepId{0}), false);
    EXPECT_EQ(ended(run(12), 5), "end 12.0 within 7 s\n");
    EXPECT_EQ(launch_step(12, 1), "job 12 has ended on this node");
    EXPECT_EQ(known(), "12.0 12.batch ");
    EXPECT_EQ(ended(run(12, StepId{0})),
              "report step end 12.0 0:0\n"
              "report job end 12.batch 5:0\n");
    EXPECT_EQ(step_end_stored(12, 0), "release 12.0\n");
    EXPECT_EQ(job_end_stored(12), "release 12.batch\nremove directory 12\n");
}

TEST_F(End, BetweenTwoStepsAnAllocationStays) {
    launch_step(12, 0);
    EXPECT_EQ(ended(run(12, StepId{0})), "report step end 12.0 0:0\n");
    EXPECT_EQ(end_job(12), "report cleaned 12\n");
    EXPECT_EQ(step_end_stored(12, 0), "release 12.0\n");
    EXPECT_EQ(on(ReportStored{ReportStored::Kind::Cleaned, run(12)}), "remove directory 12\n");
}

TEST_F(End, AnOrderToEndAJobReachesItsRunsAndIsConfirmedWhenTheyAreGone) {
    launch_batch(12);
    started(run(12));
    launch_step(12, 0);
    EXPECT_EQ(on(EndOrdered{.run = run(12), .grace = Seconds{30}, .reason_line = "TIME LIMIT"}),
              "end 12.0 within 30 s TIME LIMIT\nend 12.batch within 30 s TIME LIMIT\n");
    EXPECT_EQ(end_job(12, Seconds{0}), "end 12.0 within 0 s\nend 12.batch within 0 s\n");
    EXPECT_EQ(ended(run(12, StepId{0})), "report step end 12.0 0:0\n");
    EXPECT_EQ(ended(run(12)), "report job end 12.batch 0:0\n");
    EXPECT_EQ(end_job(12), "");  // the report says as much
    job_end_stored(12);
    EXPECT_EQ(end_job(12), "report cleaned 12\n");
}

TEST_F(End, TheEpilogRunsOnceAlsoWhereNothingOfTheJobRan) {
    state_.settings.has_epilog = true;
    const EndOrdered order{.run = run(12), .job = hook(12)};
    EXPECT_EQ(on(order), "epilog 12 of 1000:100\n");
    EXPECT_EQ(on(order), "");
    EXPECT_EQ(launch_step(12, 0), "job 12 has ended on this node");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}, false}), "report cleaned 12 epilog failed\n");
    EXPECT_EQ(on(order), "report cleaned 12\n");  // the controller had not heard of it
    EXPECT_EQ(end_job(13), "report cleaned 13\n");
}

TEST_F(End, NoEpilogForAJobWhoseEndIsReported) {
    state_.settings.has_epilog = true;
    launch_batch(12);
    ended(run(12));
    on(EpilogEnded{{JobId{12}}});
    EXPECT_EQ(on(EndOrdered{.run = run(12), .job = hook(12)}), "");
    job_end_stored(12);
    EXPECT_EQ(on(EndOrdered{.run = run(12), .job = hook(12)}), "report cleaned 12\n");
    // What ended so long ago is forgotten: the order is about another time.
    pass(Seconds{601});
    end_job(13);
    EXPECT_EQ(on(EndOrdered{.run = run(12), .job = hook(12)}), "epilog 12 of 1000:100\n");
}

TEST_F(End, AStepThatIsEndedBeforeItsSrunComesNeverStarts) {
    EXPECT_EQ(end_step(12, 0), "report step end 12.0 0:9\n");
    EXPECT_EQ(end_step(12, 0), "");
    EXPECT_EQ(step_end_stored(12, 0), "");  // the controller has forgotten it, srun has not
    EXPECT_EQ(launch_step(12, 0), "step 12.0 was cancelled before it started");
    EXPECT_EQ(launch_step(12, 1), "spawn 12.1 of 1000:100\n");
    EXPECT_EQ(known(), "12.1 ");
    EXPECT_EQ(end_step(12, 1), "end step 12.1 within 30 s\n");
    end_job(12);
    ended(run(12, StepId{1}));
    pass(Seconds{1});
    EXPECT_TRUE(state_.never_start.empty());
}

TEST_F(End, AnSrunThatComesAfterTheEndOfTheJobIsRefusedUnlessTheJobGotTheNodeBack) {
    end_job(12);
    const Time end = now_.wall;
    const RunKey step = run(12, StepId{0});
    EXPECT_FALSE(may_launch(state_, step, end - Seconds{1}));
    EXPECT_FALSE(may_launch(state_, step, end));
    EXPECT_TRUE(may_launch(state_, step, end + Seconds{1}));
    pass(Seconds{600});
    end_job(13);
    EXPECT_FALSE(may_launch(state_, step, end));
    end_job(12);  // a second end counts anew
    pass(Seconds{1});
    end_job(14);
    EXPECT_FALSE(may_launch(state_, step, end));
    pass(Seconds{600});
    end_job(15);
    EXPECT_TRUE(may_launch(state_, step, end));  // such a credential is no longer valid
}

TEST_F(End, AStepIsRefusedWhileTheControllerDoesNotKnowTheEndOfItsJob) {
    launch_batch(12);
    ended(run(12));
    pass(Seconds{10});
    EXPECT_EQ(launch_step(12, 0), "job 12 has ended on this node");  // its credential is new
    job_end_stored(12);
    EXPECT_EQ(launch_step(12, 0), "spawn 12.0 of 1000:100\n");  // the job got the node back
}

TEST_F(End, TheDirectoryStaysForARequeuedRunAndForAMark) {
    launch_batch(12);
    ended(run(12));
    HookJob again = hook(12);
    again.key.restarts = 1;
    on(BatchOrdered{again});
    EXPECT_EQ(job_end_stored(12), "release 12.batch\n");
    ended(run(12, kBatchStep, 1));
    EXPECT_EQ(job_end_stored(12), "");  // a late repetition: the mark of the second run is there
    EXPECT_EQ(job_end_stored(12, 1), "release 12.batch/1\nremove directory 12\n");
}

TEST_F(End, AStepThatCouldNotStartIsReportedIfTheNodeIsTheCause) {
    launch_step(12, 0);
    const Error unknown{ErrorCode::UserUnknown, "1000"}, missing{ErrorCode::LaunchFailed, "x"};
    EXPECT_EQ(
        on(SupervisorEnded{run(12, StepId{0}), {.exit = {.code = 1}, .launch_error = unknown}}),
        "report launch 12.0: " + to_string(unknown) +
            "\nreport step end 12.0 1:0: " + to_string(unknown) + "\n");
    launch_step(12, 1);
    EXPECT_EQ(
        on(SupervisorEnded{run(12, StepId{1}), {.exit = {.code = 1}, .launch_error = missing}}),
        "report step end 12.1 1:0: " + to_string(missing) + "\n");
}

TEST_F(End, SignalsGoToTheRunsThatAreMeantAndHaveASupervisor) {
    launch_batch(12);
    started(run(12));
    launch_step(12, 0);
    launch_step(12, 1);
    launch_batch(13);
    launch_batch(20, 1001);
    on(StepBrought{run(12, StepId{2}), hook(12, 1001)});  // waits for its user
    const auto sent = [&](SignalOrder order) {
        order.signal = 10;
        std::string runs;
        NodeEffects effects;
        apply(state_, now_, SignalOrdered{{JobId{12}}, order}, effects);
        for (const NodeEffect& effect : effects) {
            const auto& signal = std::get<PassSignal>(effect);
            EXPECT_EQ(signal.order.signal, 10);
            runs += print_run(signal.run) + " ";
        }
        return runs;
    };
    EXPECT_EQ(sent({.batch_shell = true}), "12.batch ");
    EXPECT_EQ(sent({.steps = true}), "12.0 12.1 ");
    EXPECT_EQ(sent({.children = true}), "12.0 12.1 12.batch ");
    EXPECT_EQ(sent({.step = StepId{1}, .steps = true}), "12.1 ");
    EXPECT_EQ(sent({.step = StepId{1}, .batch_shell = true}), "12.batch ");
    EXPECT_EQ(sent({.step = StepId{2}, .steps = true}), "");
    EXPECT_EQ(on(SignalOrdered{{JobId{14}}, {.signal = 10, .children = true}}), "");
}

// ---- supervisors that do not go as they should

TEST_F(End, ASupervisorThatDiesLeavesItsEndOrItsProcesses) {
    launch_batch(12);
    started(run(12));
    EXPECT_EQ(on(SupervisorGone{run(12), RunEnd{.exit = {.code = 4}}}),
              "report job end 12.batch 4:0\n");
    EXPECT_EQ(on(SupervisorGone{run(12)}), "");
    launch_batch(13);
    EXPECT_EQ(on(SupervisorGone{run(13)}), "kill rest of 13.batch\n");
    EXPECT_EQ(known(), "13.batch 12.batch ");
    EXPECT_EQ(on(LeftoversGone{run(13)}), "report job end 13.batch 0:9\n");
    EXPECT_EQ(on(LeftoversGone{run(13)}), "");
    EXPECT_EQ(job_end_stored(13), "release 13.batch\nremove directory 13\n");
}

TEST_F(End, ARunThatCannotBeKilledIsGivenUp) {
    state_.settings.unkillable_step_timeout = Seconds{60};
    launch_step(12, 0);
    EXPECT_FALSE(next_timer(state_));
    end_step(12, 0);  // with 30 s, and 5 s for the supervisor
    EXPECT_EQ(next_timer(state_), now_.steady + Seconds{95});
    pass(Seconds{40});
    on(SupervisorKilling{run(12, StepId{0}), {.exit = {.code = 0, .signal = 15}}});
    EXPECT_EQ(next_timer(state_), now_.steady + Seconds{55});  // the earliest time counts
    pass(Seconds{54});
    EXPECT_EQ(on(NodeTimerDue{}), "");
    pass(Seconds{1});
    EXPECT_EQ(on(NodeTimerDue{}),
              "give up 12.0\nreport kill failed 12.0\nreport step end 12.0 0:15\n");
    EXPECT_EQ(ended(run(12, StepId{0})), "");  // too late
    EXPECT_EQ(on(SupervisorGone{run(12, StepId{0})}), "");
    EXPECT_FALSE(next_timer(state_));
}

TEST_F(End, ARunThatEndsByItselfAndCannotBeKilledIsGivenUp) {
    state_.settings.unkillable_step_timeout = Seconds{60};
    launch_step(12, 0);
    started(run(12, StepId{0}));
    EXPECT_FALSE(next_timer(state_));
    EXPECT_EQ(on(SupervisorKilling{run(12, StepId{0}), {.exit = {.code = 3}}}), "");
    EXPECT_EQ(next_timer(state_), now_.steady + Seconds{65});
    pass(Seconds{65});
    EXPECT_EQ(on(NodeTimerDue{}),
              "give up 12.0\nreport kill failed 12.0\nreport step end 12.0 3:0\n");
}

TEST_F(End, AnUnkillableScriptEndsItsJob) {
    state_.settings = {.has_epilog = true, .unkillable_step_timeout = Seconds{60}};
    launch_batch(12);
    on(SupervisorGone{run(12)});
    pass(Seconds{65});
    EXPECT_EQ(on(NodeTimerDue{}),
              "give up 12.batch\nreport kill failed 12.batch\nepilog 12 of 1000:100\n");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}}), "report job end 12.batch 0:9\n");
}

// ---- after a restart of slurmd

TEST_F(End, RunsOfAnEarlierSlurmdAreKeptOrReported) {
    state_.settings = {.has_prolog = true, .kill_wait = Seconds{7}};
    EXPECT_EQ(on(SpoolRead{{{run(11, StepId{0}), hook(11), true, {}},
                            {run(12), hook(12), false, RunEnd{.exit = {.code = 3}}},
                            {run(12, StepId{0}), hook(12), true, {}},
                            {run(13), hook(13), false, {}}}}),
              "end 12.0 within 7 s\n"  // the script of the job is over
              "kill rest of 13.batch\n");
    EXPECT_EQ(known(), "11.0 12.0 12.batch 13.batch ");
    EXPECT_EQ(on(SupervisorState{run(12, StepId{0}), 1000, 100}), "");
    EXPECT_EQ(ended(run(12, StepId{0})), "report step end 12.0 0:0\nreport job end 12.batch 3:0\n");
    EXPECT_EQ(job_end_stored(12), "release 12.batch\n");  // the mark of 12.0 is still there
    EXPECT_EQ(on(SupervisorState{run(11, StepId{0}), 1000, 100}), "");
    EXPECT_EQ(launch_step(11, 1), "spawn 11.1 of 1000:100\n");  // the Prolog was before
    EXPECT_EQ(on(LeftoversGone{run(13)}), "report job end 13.batch 0:9\n");
}

TEST_F(End, AnEpilogAfterARestartIsToldOfTheUserBySupervisors) {
    state_.settings.has_epilog = true;
    HookJob recalled{.key = {JobId{12}}, .variables = {"A=1"}};
    on(SpoolRead{{{run(12), recalled, true, {}}}});
    on(SupervisorState{run(12), 1000, 100});
    EXPECT_EQ(launch_batch(12), "report launch 12.batch\n");
    EXPECT_EQ(ended(run(12)), "epilog 12 of 1000:100 A=1\n");
}

}  // namespace
}  // namespace sluice
