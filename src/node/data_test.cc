// The work on a job's data: after the Prolog, before the first run.
#include "model/errors.h"
#include "node/testing.h"

namespace sluice {
namespace {

class Data : public NodeTest {
protected:
    static HookJob job_with_data(std::uint32_t job) {
        HookJob made = hook(job);
        made.data = {{DataKind::StageIn, "first"}, {DataKind::StageIn, "second"}};
        return made;
    }
    std::string prepare(std::uint32_t job) { return on(PrepareOrdered{job_with_data(job)}); }
    std::string data_ended(std::uint32_t job, std::optional<Error> error = {}) {
        return on(DataTaskEnded{{JobId{job}}, std::move(error)});
    }
    const Error missing_{ErrorCode::DataUnavailable, "no such file"};
};

TEST_F(Data, TasksRunOneAfterTheOtherBeforeTheNodeIsReady) {
    EXPECT_EQ(prepare(7), "data 7 0 first\n");
    EXPECT_EQ(prepare(7), "");  // the order comes again
    EXPECT_EQ(data_ended(7), "data 7 0 second\n");
    EXPECT_EQ(data_ended(7), "report launch 7.extern\n");
    EXPECT_EQ(data_ended(7), "");
    EXPECT_EQ(prepare(7), "report launch 7.extern\n");  // it is not done twice
    EXPECT_EQ(on(BatchOrdered{job_with_data(7)}), "spawn 7.batch of 1000:100\n");
}

TEST_F(Data, ComesAfterTheProlog) {
    state_.settings.has_prolog = true;
    EXPECT_EQ(prepare(7), "prolog 7 of 1000:100\n");
    EXPECT_EQ(on(PrologEnded{{JobId{7}}, true}), "data 7 0 first\n");
}

TEST_F(Data, IsNotBegunWhenThePrologFails) {
    state_.settings.has_prolog = true;
    prepare(7);
    EXPECT_EQ(on(PrologEnded{{JobId{7}}, false}), "report launch 7.extern: Job prolog failed\n");
}

TEST_F(Data, AScriptThatCameWithoutPreparationWaitsForIt) {
    EXPECT_EQ(on(BatchOrdered{job_with_data(7)}), "data 7 0 first\n");
    data_ended(7);
    EXPECT_EQ(data_ended(7), "spawn 7.batch of 1000:100\n");
}

TEST_F(Data, WhatIsMissingIsReportedAndNothingStays) {
    prepare(7);
    EXPECT_EQ(data_ended(7, missing_),
              "report launch 7.extern: Data of the job is not available: no such file\n");
    EXPECT_TRUE(state_.jobs.empty());
}

TEST_F(Data, IsStoppedOnceWhenTheJobEnds) {
    prepare(7);
    EXPECT_EQ(end_job(7), "stop data 7\n");
    EXPECT_EQ(end_job(7), "");
    // The controller no longer waits for the preparation, but it is answered.
    EXPECT_EQ(data_ended(7, missing_),
              "report launch 7.extern: Data of the job is not available: no such file\n"
              "report cleaned 7\n");
}

TEST_F(Data, TheNextTaskIsNotBegunWhenTheJobHasEndedMeanwhile) {
    prepare(7);
    end_job(7);
    EXPECT_EQ(data_ended(7), "report launch 7.extern\nreport cleaned 7\n");
}

TEST_F(Data, IsDoneForRunsThatARestartedSlurmdFinds) {
    on(SpoolRead{{{.run = run(7), .job = job_with_data(7), .is_supervised = true}}});
    const RunKey step = run(7, StepId{0});
    EXPECT_EQ(on(StepBrought{step, job_with_data(7)}), "spawn 7.0 of 1000:100\n");
}

}  // namespace
}  // namespace sluice
