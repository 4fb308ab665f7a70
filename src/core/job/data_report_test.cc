// What nodes report of the checkpoints of a job, and what follows from it.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/stage_in.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

class DataReports : public testing::Test {
protected:
    void run(const std::string& lines) { ASSERT_EQ(world_.run(lines), ""); }
    const Job& job(const std::string& name) { return world_.cluster().job(world_.job(name)); }
    RunId run_of(const std::string& name) {
        return {job(name).id, job(name).run.restarts, kBatchStep};
    }
    NodeIndex node(const std::string& name) { return *world_.cluster().find_node(name); }
    void on(const Event& event) {
        Effects effects;
        apply(world_.cluster(), world_.now(), event, effects);
    }
    void saved(const std::string& name, const std::string& where, Seconds ago) {
        on(DataReported{node(where), run_of(name), world_.now() - ago, {}});
    }

    Scenario world_;
};

TEST_F(DataReports, SetTheTimeOfTheNewestCheckpoint) {
    run("nodes n[1-2] cpus=1\n submit a\n pass\n at 10");
    saved("a", "n1", Seconds{60});
    const Time newest = world_.now() - Seconds{60};
    EXPECT_EQ(job("a").run.last_checkpoint, newest);
    saved("a", "n1", Seconds{120});  // of another pair of directories
    EXPECT_EQ(job("a").run.last_checkpoint, newest);
    saved("a", "n2", Seconds{0});  // it does not run there
    EXPECT_EQ(job("a").run.last_checkpoint, newest);
    saved("a", "n1", Seconds{-60});  // a clock that is ahead
    EXPECT_EQ(job("a").run.last_checkpoint, world_.now());
}

TEST_F(DataReports, OfACheckpointFromBeforeTheRunSaveNothingOfIt) {
    run("nodes n1 cpus=1\n submit a\n at 10\n pass\n at 20");
    saved("a", "n1", Seconds{3600});
    EXPECT_FALSE(job("a").run.last_checkpoint);
    const RunId other{job("a").id, 7, kBatchStep};
    on(DataReported{node("n1"), other, world_.now(), "text"});
    EXPECT_FALSE(job("a").run.last_checkpoint);
    EXPECT_EQ(job("a").run.data_problem, "");
}

TEST_F(DataReports, KeepTheLastProblem) {
    run("nodes n1 cpus=1\n submit a\n pass");
    on(DataReported{node("n1"), run_of("a"), {}, "first"});
    on(DataReported{node("n1"), run_of("a"), {}, "no space left"});
    saved("a", "n1", Seconds{0});
    EXPECT_EQ(job("a").run.data_problem, "no space left");
    run("end a");
    on(DataReported{node("n1"), run_of("a"), {}, "late"});
    EXPECT_EQ(job("a").run.data_problem, "no space left");
}

TEST_F(DataReports, AScriptThatHasEndedIsCompletingWhileItsFilesAreCopied) {
    run("nodes n[1-2] cpus=1\n submit a nodes=2 tasks=2 time=5\n submit b\n pass");
    JobEnded ended{node("n1"), run_of("a"), {.code = 3}, {}};
    ended.is_cleaning = true;
    on(ended);
    run("expect a completing\n clean a n2\n at 10\n expect a completing\n pass\n expect b running "
        "n2");
    on(DataReported{node("n1"), run_of("a"), world_.now(), "late"});
    EXPECT_EQ(job("a").run.data_problem, "late");
    ended.is_cleaning = false;
    on(ended);
    run("expect a failed NonZeroExitCode");
}

// The older job has more to lose, unless it has saved it.
TEST_F(DataReports, PreemptionTakesTheJobThatLosesLeast) {
    for (const bool has_saved : {false, true}) {
        world_ = Scenario();
        run(R"(
            settings  preempt=partition mode=REQUEUE
            nodes     n[1-2] cpus=8
            partition low  default tier=1
            partition high tier=2
            submit    old   tasks=8 partition=low time=600
            pass
            at        30
            submit    young tasks=8 partition=low time=600
            pass
            at        60
        )");
        if (has_saved) saved("old", "n1", Seconds{60});
        run("submit urgent tasks=8 partition=high time=10\n pass");
        run(has_saved ? "expect old completing\n expect young running"
                      : "expect old running\n expect young completing");
    }
}

// Nodes name the datasets of their caches in any order.
TEST_F(DataReports, AJobGoesWhereMostOfItsDatasetsAre) {
    run("nodes n[1-3] cpus=1\n pass");
    const std::uint64_t a = source_hash("/data/a"), b = source_hash("/data/b");
    const std::uint64_t others[] = {source_hash("/data/c"), source_hash("/data/d")};
    on(DataCached{node("n1"), {others[0], others[1]}});
    on(DataCached{node("n2"), {others[0], a, others[1]}});
    on(DataCached{node("n3"), {std::max(a, b), others[0], std::min(a, b), others[1]}});
    const auto first_node_of = [&](std::uint32_t request) {
        auto demand = std::make_shared<JobRequest>();
        demand->shape.ntasks = 1;
        demand->stage_in = "/data/a:a\n/data/b:b";
        Effects effects;
        apply(world_.cluster(), world_.now(),
              SubmitJob{RequestId{request}, {UserId{1000}, GroupId{100}}, demand, "", false},
              effects);
        const JobId id = std::get<Submitted>(std::get<Reply>(effects.front()).answer).job;
        run("pass");
        return world_.cluster().job(id).run.allocation->nodes.front().node;
    };
    EXPECT_EQ(first_node_of(100), node("n3"));
    EXPECT_EQ(first_node_of(101), node("n2"));
    EXPECT_EQ(first_node_of(102), node("n1"));
}

}  // namespace
}  // namespace sluice
