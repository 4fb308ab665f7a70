// Checkpoints: what is restored before the script, and the last synchronisation after it.
#include "model/errors.h"
#include "node/testing.h"

namespace sluice {
namespace {

class Checkpoints : public NodeTest {
protected:
    static HookJob syncing(std::uint32_t job) {
        HookJob made = hook(job);
        made.syncs = true;
        return made;
    }
    std::string synchronised(std::uint32_t job) { return on(FinalSyncEnded{{JobId{job}}}); }
};

TEST_F(Checkpoints, AreSynchronisedBeforeTheEpilog) {
    state_.settings.has_epilog = true;
    on(BatchOrdered{syncing(12)});
    started(run(12));
    EXPECT_EQ(ended(run(12), 3), "report job end 12.batch 3:0 and synchronises\nsynchronise 12\n");
    EXPECT_EQ(known(), "12.batch ");
    EXPECT_EQ(on(BatchOrdered{syncing(12)}), "");
    EXPECT_EQ(end_job(12), "");  // the controller has heard of the end
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}}), "");
    EXPECT_EQ(synchronised(12), "epilog 12 of 1000:100 syncs\n");
    EXPECT_EQ(synchronised(12), "");
    EXPECT_EQ(on(EpilogEnded{{JobId{12}}}), "report job end 12.batch 3:0\n");
    EXPECT_EQ(job_end_stored(12), "release 12.batch\nremove directory 12\n");
}

TEST_F(Checkpoints, AreSynchronisedWhenTheJobWasTold) {
    on(BatchOrdered{syncing(12)});
    started(run(12));
    end_job(12);
    EXPECT_EQ(ended(run(12)), "report job end 12.batch 0:0 and synchronises\nsynchronise 12\n");
    EXPECT_EQ(synchronised(12), "report job end 12.batch 0:0\n");
}

// The steps of srun on the script's node name no synchronisation: it came with the script.
TEST_F(Checkpoints, AreSynchronisedAlsoAfterStepsOfTheScript) {
    on(BatchOrdered{syncing(12)});
    started(run(12));
    launch_step(12, 0);
    started(run(12, StepId{0}));
    ended(run(12, StepId{0}));
    EXPECT_EQ(ended(run(12)), "report job end 12.batch 0:0 and synchronises\nsynchronise 12\n");
}

TEST_F(Checkpoints, OfANodeWithoutTheScript) {
    on(StepBrought{run(12, StepId{0}), syncing(12)});
    started(run(12, StepId{0}));
    ended(run(12, StepId{0}));
    EXPECT_EQ(end_job(12), "synchronise 12\n");
    EXPECT_EQ(synchronised(12), "report cleaned 12\n");
}

TEST_F(Checkpoints, OfAJobThatNeverRanHere) {
    EXPECT_EQ(on(EndOrdered{.run = run(12), .job = syncing(12)}), "report cleaned 12\n");
    on(BatchOrdered{syncing(13)});
    EXPECT_EQ(on(SpawnFailed{run(13), {ErrorCode::NodeUnable, "no space left"}}),
              "refuse 13.batch: Job launch failure: no space left\n"
              "report job end 13.batch 0:53: Job launch failure: no space left\n");
}

TEST_F(Checkpoints, AreSynchronisedAgainByTheNextSlurmd) {
    EXPECT_EQ(
        on(SpoolRead{{{.run = run(12), .job = syncing(12), .end = RunEnd{.exit = {.code = 2}}}}}),
        "report job end 12.batch 2:0 and synchronises\nsynchronise 12\n");
    EXPECT_EQ(known(), "12.batch ");
    EXPECT_EQ(synchronised(12), "report job end 12.batch 2:0\n");
}

TEST_F(Checkpoints, AreRestoredBeforeTheScript) {
    HookJob job = syncing(12);
    job.data = {{DataKind::Restore, "a:b\n"}};
    EXPECT_EQ(on(BatchOrdered{job}), "data 12 1 a:b\n\n");
    EXPECT_EQ(on(DataTaskEnded{{JobId{12}}}), "spawn 12.batch of 1000:100 syncs\n");
}

TEST_F(Checkpoints, AreRestoredAlsoWhereTheAllocationWasPrepared) {
    HookJob prepared = hook(12);
    prepared.data = {{DataKind::StageIn, "a"}};
    EXPECT_EQ(on(PrepareOrdered{.job = prepared}), "data 12 0 a\n");
    EXPECT_EQ(on(DataTaskEnded{{JobId{12}}}), "report launch 12.extern\n");
    HookJob job = syncing(12);
    job.data = {{DataKind::StageIn, "a"}, {DataKind::Restore, "a:b"}};
    EXPECT_EQ(on(BatchOrdered{job}), "data 12 1 a:b\n");
    const Error error{ErrorCode::DataUnavailable, "restore: no such file"};
    const std::string refused = on(DataTaskEnded{{JobId{12}}, error});
    EXPECT_EQ(refused.substr(0, refused.find(':')), "refuse 12.batch") << refused;
    EXPECT_NE(refused.find("report job end 12.batch"), std::string::npos);
}

TEST_F(Checkpoints, AreNotRestoredToAScriptThatIsStopped) {
    HookJob job = syncing(12);
    job.data = {{DataKind::Restore, "a:b"}};
    on(BatchOrdered{job});
    EXPECT_EQ(end_job(12), "stop data 12\n");
    const std::string refused = on(DataTaskEnded{{JobId{12}}});
    EXPECT_NE(refused.find("report job end 12.batch"), std::string::npos) << refused;
    EXPECT_EQ(refused.find("spawn"), std::string::npos) << refused;
}

}  // namespace
}  // namespace sluice
