// core/job/life_test.cc: from submission to the end, by every road.
#include <gtest/gtest.h>

#include "core/job/verbs.h"
#include "model/errors.h"
#include "model/job_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(JobLife, ExitCodesDecideTheState) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=2
        submit  good
        submit  bad
        pass
        end     good
        end     bad code=3
        expect  good completed
        expect  bad  failed NonZeroExitCode
    )");
}

TEST(JobLife, NodesAreFreeOnlyWhenTheyAreClean) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=1
        submit  wide nodes=2 tasks=2
        submit  next nodes=2 tasks=2
        pass
        end     wide
        pass
        expect  wide completing
        expect  next pending
        clean   wide n2
        pass
        expect  wide completed
        expect  next running n[1-2]
    )");
}

TEST(JobLife, TheTimeLimitEndsAJob) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  slow time=10
        pass
        at      9
        expect  slow running
        at      10
        expect  slow completing
        end     slow
        expect  slow timeout TimeLimit
    )");
}

TEST(JobLife, ACancelledJobLeavesAtOnceWhenPendingAndWhenCleanOtherwise) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  runs
        submit  waits
        pass
        cancel  waits
        expect  waits cancelled
        cancel  runs
        expect  runs completing
        end     runs code=0
        expect  runs cancelled
    )");
}

TEST(JobLife, FrequenciesThatMeanNothingAreRefused) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=4\n pass"), "");
    for (const char* demand : {"gpu:foo", "low", "nic:low"}) {
        auto request = std::make_shared<JobRequest>();
        request->tres_freq = demand;
        Effects effects;
        apply(world.cluster(), world.now(),
              SubmitJob{RequestId{1}, {UserId{1000}, GroupId{100}}, request, {}}, effects);
        const auto* error = std::get_if<Error>(&std::get<Reply>(effects.back()).answer);
        ASSERT_NE(error, nullptr) << demand;
        EXPECT_NE(error->detail.find("Invalid --gpu-freq argument"), std::string::npos);
    }
}

// The node says that its Prolog failed, for the script or for a step.
void fail_prolog(Scenario& world, const std::string& name, const std::string& node, StepId step) {
    const Job& job = world.cluster().job(world.job(name));
    const NodeIndex index = *world.cluster().find_node(node);
    const RunId run{job.id, job.run.restarts, step};
    const Error error{ErrorCode::PrologFailed, {}};
    Effects effects;
    if (step == kBatchStep) {
        apply(world.cluster(), world.now(), JobEnded{index, run, {1, 0, false}, error}, effects);
    } else {
        apply(world.cluster(), world.now(), LaunchReported{index, run, error}, effects);
    }
}

TEST(JobLife, AFailedPrologDrainsTheNodeAndHoldsTheJob) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=1\n submit a nodelist=n1\n pass\n expect a running n1"),
              "");
    fail_prolog(world, "a", "n1", kBatchStep);
    ASSERT_EQ(world.run(R"(
        shows   n1 state=IDLE+DRAIN reason=Prolog_error
        expect  a pending JobHeldUser
        update  a ReqNodeList=n2
        release a
        pass
        expect  a running n2
    )"),
              "");
    EXPECT_EQ(world.cluster().job(world.job("a")).run.restarts, 1u);
}

TEST(JobLife, AJobHeldAfterAFailedPrologSaysSo) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=1\n submit a nodes=2 tasks=2\n pass"), "");
    fail_prolog(world, "a", "n1", kBatchStep);
    ASSERT_EQ(world.run("expect a completing\n clean a n2\n expect a pending JobHeldUser"), "");
    const Job& job = world.cluster().job(world.job("a"));
    EXPECT_EQ(print_reason(job.reason, job.reason_detail), "launch failed requeued held");
    EXPECT_EQ(job.priority, 0u);
}

TEST(JobLife, WithNoholdAJobWhosePrologFailedRunsElsewhere) {
    for (StepId step : {kBatchStep, StepId{0}}) {
        Scenario world;
        ASSERT_EQ(
            world.run(
                "settings nohold\n nodes n[1-2] cpus=1\n submit a\n pass\n expect a running n1"),
            "");
        fail_prolog(world, "a", "n1", step);
        if (step != kBatchStep) {
            ASSERT_EQ(world.run("clean a n1"), "");
        }
        EXPECT_EQ(world.run(R"(
            shows   n1 state=IDLE+DRAIN reason=Prolog_error
            at      1
            pass
            expect  a running n2
        )"),
                  "");
    }
}

TEST(JobLife, AFailedEpilogDrainsTheNodeAndTheJobEndsAsItWould) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=1\n submit a nodes=2 tasks=2\n pass"), "");
    const RunId run{world.job("a"), 0, kBatchStep};
    Effects effects;
    apply(world.cluster(), world.now(), JobEnded{NodeIndex{0}, run, {}, {}, true}, effects);
    ASSERT_EQ(world.run("expect a completing\n shows n1 state=IDLE+DRAIN reason=Epilog_error"), "");
    apply(world.cluster(), world.now(), NodeCleaned{NodeIndex{1}, run, true}, effects);
    EXPECT_EQ(world.run("expect a completed\n shows n2 state=IDLE+DRAIN reason=Epilog_error"), "");
}

std::vector<TerminateJob> orders_for(const Scenario& world, NodeIndex node) {
    std::vector<TerminateJob> orders;
    for (const Effect& effect : world.effects()) {
        const auto* order = std::get_if<TerminateJob>(&effect);
        if (order && order->node == node) orders.push_back(*order);
    }
    return orders;
}

TEST(JobLife, TheEpilogOfEveryNodeIsToldOfTheJob) {
    for (const char* end :
         {"end wide", "cancel wide", "update wide NumNodes=1", "lost n2\n end wide\n back n2"}) {
        Scenario world;
        ASSERT_EQ(
            world.run("settings epilog\n nodes n[1-2] cpus=1\n submit wide nodes=2 tasks=2\n pass"),
            "");
        ASSERT_EQ(world.run(end), "");
        const std::vector<TerminateJob> orders = orders_for(world, NodeIndex{1});
        ASSERT_FALSE(orders.empty()) << end;
        ASSERT_NE(orders.back().for_epilog, nullptr) << end;
        EXPECT_EQ(orders.back().for_epilog->id, world.job("wide"));
        EXPECT_NE(orders.back().for_epilog->run.allocation->find(NodeIndex{1}), nullptr);
    }
}

TEST(JobLife, WithoutAnEpilogNoNodeIsToldOfTheJob) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=1\n submit wide nodes=2 tasks=2\n pass\n end wide"), "");
    const std::vector<TerminateJob> orders = orders_for(world, NodeIndex{1});
    ASSERT_EQ(orders.size(), 1u);
    EXPECT_EQ(orders[0].for_epilog, nullptr);
}

TEST(JobLife, AJobThatMayNotRunAgainFailsWithItsProlog) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=1\n submit a norequeue\n pass"), "");
    fail_prolog(world, "a", "n1", kBatchStep);
    EXPECT_EQ(world.run(R"(
        expect  a failed JobLaunchFailure
        shows   n1 state=IDLE+DRAIN reason=Prolog_error
    )"),
              "");
}

TEST(JobLife, TheDrainThatAFailedPrologFindsKeepsItsReason) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=1\n submit a\n pass\n node n1 State=DRAIN Reason=disk"), "");
    fail_prolog(world, "a", "n1", kBatchStep);
    EXPECT_EQ(world.run("shows n1 state=IDLE+DRAIN reason=disk"), "");
}

TEST(JobLife, AStepsFailedPrologHoldsABatchJobToo) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n[1-2] cpus=1\n submit a nodes=2 tasks=2\n pass"), "");
    fail_prolog(world, "a", "n2", StepId{0});
    ASSERT_EQ(
        world.run("expect a completing\n clean a n2\n end a code=1\n expect a pending JobHeldUser"),
        "");
    const Job& job = world.cluster().job(world.job("a"));
    EXPECT_EQ(print_reason(job.reason, job.reason_detail), "launch failed requeued held");
    EXPECT_EQ(world.run("shows n2 state=IDLE+DRAIN reason=Prolog_error\n shows n1 state=IDLE"), "");
}

TEST(JobLife, AnInteractiveJobOutlivesAStepsFailedProlog) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1 cpus=1\n submit a interactive\n pass"), "");
    fail_prolog(world, "a", "n1", StepId{0});
    EXPECT_EQ(world.run("expect a running n1\n shows n1 reason=Prolog_error"), "");
}

TEST(JobLife, HeldJobsWaitForTheirRelease) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  a hold
        pass
        expect  a pending JobHeldUser
        release a
        pass
        expect  a running n1
    )");
}

TEST(JobLife, BeginTimesAreKept) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=1
        submit  a begin=5
        pass
        expect  a pending BeginTime
        at      4
        expect  a pending BeginTime
        at      5
        expect  a running n1
    )");
}

TEST(JobLife, ARequeuedJobRunsAgainUnderTheSameId) {
    Scenario scenario;
    EXPECT_EQ(scenario.run(R"(
        nodes   n1 cpus=1
        submit  a
        pass
        requeue a
        expect  a completing
        end     a code=1
        pass
        expect  a running n1
    )"),
              "");
    EXPECT_EQ(scenario.cluster().job(scenario.job("a")).run.restarts, 1u);
}

TEST(JobLife, ANodeThatStaysSilentLosesItsJobs) {
    EXPECT_SCENARIO(R"(
        nodes   n[1-2] cpus=1
        submit  again nodelist=n1
        submit  gone  nodelist=n2 norequeue
        pass
        lost    n1
        lost    n2
        at      4
        expect  again running n1
        at      5
        expect  again pending
        expect  gone  node_fail
        back    n1
    )");
}

TEST(JobLife, AnEndThatIsReportedTwiceLeavesItsNodeUsable) {
    Scenario scenario;
    EXPECT_EQ(scenario.run("nodes n1 cpus=1\nsubmit a\nsubmit b\npass\nend a"), "");
    Cluster& cluster = scenario.cluster();
    Effects effects;
    RunId run{scenario.job("a"), 0, kBatchStep};
    // The acknowledgement was lost: the node lists the run again, then repeats its end.
    apply(cluster, scenario.now(), NodeRegistered{"n1", {}, {run}}, effects);
    EXPECT_EQ(cluster.node(NodeIndex{0}).orphans.size(), 1u);
    apply(cluster, scenario.now(), JobEnded{NodeIndex{0}, run, {}, {}}, effects);
    EXPECT_EQ(scenario.run("pass\nexpect b running n1"), "");
}

TEST(JobLife, ArraysStayOneRecordUntilTasksStart) {
    Scenario scenario;
    EXPECT_EQ(scenario.run(R"(
        nodes   n1 cpus=2
        submit  sweep array=0-999%1
        pass
        expect  sweep_0 running n1
        expect  sweep_1 pending JobArrayTaskLimit
        end     sweep_0
        pass
        expect  sweep_1 running n1
    )"),
              "");
    EXPECT_EQ(scenario.cluster().jobs().size(), 3u);
}

TEST(JobLife, TheLastTaskKeepsTheArraysId) {
    Scenario scenario;
    EXPECT_EQ(scenario.run(R"(
        nodes   n1 cpus=2
        submit  pair array=1-2
        pass
        expect  pair_1 running n1
        expect  pair_2 running n1
        cancel  pair
        end     pair_1
        end     pair_2
        expect  pair_1 cancelled
        expect  pair_2 cancelled
    )"),
              "");
    EXPECT_EQ(scenario.cluster().job(scenario.job("pair")).array_task, 2u);
}

TEST(JobLife, TheSameSubmissionTwiceIsOneJob) {
    Scenario scenario;
    EXPECT_EQ(
        scenario.run("nodes n1 cpus=1\nsubmit a key=0123\nsubmit b key=0123\nsubmit c key=4567"),
        "");
    EXPECT_EQ(scenario.job("a"), scenario.job("b"));
    EXPECT_NE(scenario.job("a"), scenario.job("c"));
}

TEST(JobLife, ATaskThatIsChangedAloneKeepsItsBeginTime) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=8
        submit  a array=0-2 begin=10
        update  a_1 TimeLimit=5
        pass
        expect  a_1 pending BeginTime
        at      10
        pass
        expect  a_1 running
        expect  a_0 running
    )");
}

// The pass that --immediate asks for may start others; their orders go out whatever becomes of it.
TEST(JobLife, ARefusedImmediateJobTakesNothingFromOthers) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n1 cpus=1\nsubmit a"), "");
    auto demand = std::make_shared<JobRequest>();
    demand->immediate = true;
    demand->kind = JobKind::Interactive;
    Effects effects;
    SubmitJob event{RequestId{77}, {UserId{1}, GroupId{1}}, demand, "key", false};
    apply(scenario.cluster(), scenario.now(), event, effects);
    EXPECT_EQ(scenario.cluster().job(scenario.job("a")).state, JobState::Running);
    std::size_t launches = 0, answers = 0;
    for (const Effect& effect : effects) {
        launches += std::holds_alternative<LaunchBatch>(effect);
        const auto* reply = std::get_if<Reply>(&effect);
        if (!reply || reply->request != RequestId{77}) continue;
        ++answers;
        EXPECT_TRUE(std::holds_alternative<Error>(reply->answer));
    }
    EXPECT_EQ(launches, 1u);
    EXPECT_EQ(answers, 1u);

    Effects again;  // the answer was lost, and the client asks once more
    apply(scenario.cluster(), scenario.now(), event, again);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<Error>(std::get<Reply>(again[0]).answer));
}

TEST(JobUpdate, NamesThatNothingHasAreRefusedAsAtSubmission) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4 feature=fast gres=gpu:2
        nodes   n2 cpus=4
        submit  a hold
        update  a ExcNodeList=nope refused=nope
        update  a ReqNodeList=nope refused=nope
        update  a Features=nofeat refused=feature
        update  a Prefer=nofeat refused=preferred
        update  a Gres=foo:1 refused=gres/foo
        update  a NumTasks=0 refused=Task
        update  a Partition= refused=partition
        update  a Partition=, refused=partition
        update  a ExcNodeList=n2 Features=fast Gres=gpu:1
        release a
        pass
        expect  a running n1
        update  a ExcNodeList=n1 refused=pending
        end     a
        update  a Comment=late refused=finished
    )");
}

TEST(JobUpdate, TheEndOfARunningJobIsSet) {
    Scenario world;
    ASSERT_EQ(
        world.run(
            "nodes n1 cpus=2\nsubmit a time=30\nsubmit b time=30\nsubmit c time=30\npass\nat 10\n"
            "update a EndTime=now+10minutes\nupdate b EndTime=now+1hour\n"
            "update a EndTime=now refused=time\nupdate a EndTime=soon refused=EndTime=soon\n"
            "update c EndTime=now+1hour refused=running"),
        "");
    EXPECT_EQ(world.cluster().job(world.job("a")).time_limit, TimeLimit(Minutes{20}));
    EXPECT_EQ(
        world.run(
            "at 19\nexpect a running\nat 20\nexpect a completing\nat 69\nexpect b running n1\n"
            "at 70\nexpect b completing"),
        "");
}

TEST(JobUpdate, OnlyAnOperatorPutsTheEndOff) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\nsubmit a time=30\npass\nexpect a running n1"), "");
    const JobId id = world.job("a");
    auto limit_after = [&](const char* end) {
        Effects effects;
        const JobRef ref{.job = id, .tasks = {}, .het_component = {}, .step = {}};
        apply(world.cluster(), world.now(),
              UpdateJob{RequestId{1},
                        {UserId{1000}, GroupId{100}},
                        ref,
                        parse_job_change({{"EndTime", end}}, world.now()).value()},
              effects);
        return world.cluster().job(id).time_limit;
    };
    EXPECT_EQ(limit_after("now+1hour"), TimeLimit(Minutes{30}));
    EXPECT_EQ(limit_after("now+5minutes"), TimeLimit(Minutes{5}));
}

TEST(JobControl, AHoldOfAJobThatIsOverIsRefused) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\nsubmit a\npass\nexpect a running n1"), "");
    auto refusal = [&](JobVerb verb) {
        Effects effects;
        const JobRef ref{.job = world.job("a"), .tasks = {}, .het_component = {}, .step = {}};
        apply(world.cluster(), world.now(),
              ControlJobs{RequestId{1}, {UserId{0}, GroupId{0}}, verb, {ref}}, effects);
        const auto& results =
            std::get<std::vector<JobResult>>(std::get<Reply>(effects.back()).answer);
        return results.at(0).error ? results.at(0).error->code : ErrorCode::None;
    };
    EXPECT_EQ(refusal(JobVerb::Hold), ErrorCode::None);
    ASSERT_EQ(world.run("end a"), "");
    EXPECT_EQ(refusal(JobVerb::Hold), ErrorCode::JobIsOver);
    EXPECT_EQ(refusal(JobVerb::Release), ErrorCode::JobIsOver);
}

TEST(JobControl, ARefusedRequestSplitsNoArray) {
    Scenario world;
    ASSERT_EQ(world.run("nodes n1\nsubmit a array=0-9 hold user=1000\npass"), "");
    const JobId array = world.job("a");
    const JobRef ref{
        .job = array, .tasks = TaskSet::parse("3").value(), .het_component = {}, .step = {}};
    const Caller owner{UserId{1000}, GroupId{100}};
    auto records = [&] { return world.cluster().jobs().size(); };
    for (JobVerb verb : {JobVerb::Requeue, JobVerb::Suspend, JobVerb::Resume}) {
        Effects effects;
        const Caller caller = verb == JobVerb::Requeue ? owner : Caller{UserId{0}, GroupId{0}};
        apply(world.cluster(), world.now(), ControlJobs{RequestId{1}, caller, verb, {ref}},
              effects);
        const auto& answer = std::get<Reply>(effects.back()).answer;
        EXPECT_EQ(std::get<std::vector<JobResult>>(answer).at(0).error->code,
                  ErrorCode::JobPending);
        EXPECT_EQ(records(), 1u);
    }
    Effects effects;
    const UpdateJob bad{RequestId{1}, owner, ref, {.end_time = world.now()}};
    apply(world.cluster(), world.now(), bad, effects);
    EXPECT_TRUE(std::holds_alternative<Error>(std::get<Reply>(effects.back()).answer));
    EXPECT_EQ(records(), 1u);
    apply(world.cluster(), world.now(), ControlJobs{RequestId{1}, owner, JobVerb::Release, {ref}},
          effects);
    EXPECT_EQ(records(), 2u);  // what is allowed splits
}

TEST(JobControl, ARunningJobThatIsHeldWaitsHeldOnceItIsRequeued) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=2
        submit  a
        submit  b
        pass
        hold    a
        hold    b
        release b
        expect  a running n1
        requeue a
        requeue b
        end     a code=1
        end     b code=1
        pass
        expect  a pending JobHeldAdmin
        expect  b running n1
        release a
        pass
        expect  a running n1
    )");
}

TEST(JobLife, TheLimitOfAnArrayIsTheSameForAllItsTasks) {
    EXPECT_SCENARIO(R"(
        nodes   n1 cpus=4
        submit  big array=0-5 hold
        update  big_1 ArrayTaskThrottle=2
        release big
        pass
        expect  big pending JobArrayTaskLimit
        submit  one
        update  one ArrayTaskThrottle=2 refused
    )");
}

}  // namespace
}  // namespace sluice
