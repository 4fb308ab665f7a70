// Jobs that do not use their GPUs, or hang: when they are warned and ended, by what nodes report.
#include "core/job/gpu_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/partition_keys.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

class GpuPolicy : public testing::Test {
protected:
    // `keys`: of the partition.
    void begin(const std::string& lines, const KeyTexts& keys) {
        ASSERT_EQ(world_.run("nodes n[1-2] cpus=4 gres=gpu:a40:2\n" + lines), "");
        const PartitionChange change = parse_partition_change(keys).value();
        Effects effects;
        apply(world_.cluster(), world_.now(),
              UpdatePartition{RequestId{0}, {UserId{0}, GroupId{0}}, "main", change}, effects);
        const RunId script{job("a").id, 0, kBatchStep};
        const NodeIndex head = job("a").run.allocation->nodes.front().node;
        apply(world_.cluster(), world_.now(), LaunchReported{head, script, {}}, effects);
    }
    // An idle job is warned after 30 minutes and cancelled after 10 more.
    void begin_with_cancel() {
        begin("submit a gres=gpu:1 time=600\n pass",
              {{"GpuIdleWarn", "30"}, {"GpuIdleGrace", "10"}, {"GpuIdleAction", "CANCEL"}});
    }
    const Job& job(const std::string& name) { return world_.cluster().job(world_.job(name)); }
    JobGpuLoad load(const std::string& name, std::uint32_t percent, std::uint64_t io_bytes = 0) {
        return {job(name).id, job(name).run.restarts, 1, percent, io_bytes};
    }
    // What the node says at that minute.
    void report(int minute, const std::string& node, const std::vector<JobGpuLoad>& jobs,
                bool has_health = true) {
        ASSERT_EQ(world_.run("at " + std::to_string(minute)), "");
        effects_.clear();
        apply(world_.cluster(), world_.now(),
              GpusReported{*world_.cluster().find_node(node),
                           {.jobs = jobs, .has_health = has_health}},
              effects_);
    }
    std::size_t lines_to_jobs() const {
        return static_cast<std::size_t>(
            std::count_if(effects_.begin(), effects_.end(), [](const Effect& effect) {
                const auto* order = std::get_if<SignalJob>(&effect);
                return order && !order->message.empty();
            }));
    }
    bool is_warned(const std::string& name) { return job(name).run.gpu_idle_warned.has_value(); }

    Scenario world_;
    Effects effects_;
};

TEST_F(GpuPolicy, AnIdleJobIsWarnedOnceAndThenCancelled) {
    begin_with_cancel();
    report(1, "n1", {load("a", 4)});
    report(30, "n1", {load("a", 4)});
    EXPECT_FALSE(is_warned("a"));
    report(31, "n1", {load("a", 4)});
    EXPECT_TRUE(is_warned("a"));
    EXPECT_EQ(lines_to_jobs(), 1u);
    report(40, "n1", {load("a", 4)});
    EXPECT_EQ(lines_to_jobs(), 0u);
    EXPECT_EQ(job("a").state, JobState::Running);
    report(41, "n1", {load("a", 4)});
    EXPECT_EQ(world_.run("clean a n1\n expect a cancelled"), "");
}

TEST_F(GpuPolicy, AJobThatUsesItsGpusAgainIsNotEnded) {
    begin_with_cancel();
    report(1, "n1", {load("a", 0)});
    report(31, "n1", {load("a", 0)});
    EXPECT_TRUE(is_warned("a"));
    report(41, "n1", {load("a", 5)});
    EXPECT_FALSE(is_warned("a"));
    report(42, "n1", {load("a", 0)});
    report(71, "n1", {load("a", 0)});
    EXPECT_FALSE(is_warned("a"));
    report(72, "n1", {load("a", 0)});
    EXPECT_TRUE(is_warned("a"));
}

TEST_F(GpuPolicy, JobsOfAnExemptQosAreLeftAlone) {
    begin("qos long\n submit a gres=gpu:1 qos=long time=600\n submit b gres=gpu:1 time=600\n pass",
          {{"GpuIdleWarn", "30"}, {"GpuIdleExemptQos", "long,other"}});
    for (const int minute : {1, 31}) report(minute, "n1", {load("a", 0), load("b", 0)});
    EXPECT_FALSE(is_warned("a"));
    EXPECT_TRUE(is_warned("b"));
}

TEST_F(GpuPolicy, AJobWithoutAProcessOnItsNodeIsIdle) {
    begin("submit a gres=gpu:2 time=600\n pass", {{"GpuIdleWarn", "30"}});
    for (const int minute : {1, 31}) report(minute, "n1", {}, false);
    EXPECT_FALSE(is_warned("a")) << "the node does not sample its GPUs";
    for (const int minute : {32, 61}) report(minute, "n1", {});
    EXPECT_FALSE(is_warned("a"));
    report(62, "n1", {});
    EXPECT_TRUE(is_warned("a"));
}

TEST_F(GpuPolicy, AJobWhoseUtilisationIsNotKnownIsNotIdle) {
    begin("submit a gres=gpu:1 time=600\n pass", {{"GpuIdleWarn", "30"}});
    JobGpuLoad unknown = load("a", 0);
    unknown.gpus = 0;
    for (const int minute : {1, 31, 61}) report(minute, "n1", {unknown});
    EXPECT_FALSE(is_warned("a"));
}

TEST_F(GpuPolicy, NodesWhereNothingOfTheJobRunsCountAsIdle) {
    begin("submit a nodes=2 gres=gpu:2 time=600\n submit b nodes=2 time=600\n pass",
          {{"GpuIdleWarn", "30"}});
    JobGpuLoad both = load("a", 0);
    both.gpus = 2;
    for (const int minute : {1, 31}) {
        report(minute, "n1", {both});
        report(minute, "n2", {});
    }
    EXPECT_TRUE(is_warned("a"));
    both.percent_sum = 19;  // of four GPUs: 4 %
    report(32, "n1", {both});
    report(32, "n2", {});
    EXPECT_TRUE(is_warned("a"));
    both.percent_sum = 20;
    report(33, "n1", {both});
    report(33, "n2", {});
    EXPECT_FALSE(is_warned("a"));
    EXPECT_FALSE(is_warned("b")) << "it has no GPUs";
}

TEST_F(GpuPolicy, AHungJobIsReportedUntilItGoesOn) {
    begin("submit a gres=gpu:1 time=600\n pass", {{"GpuHungWarn", "60"}});
    report(1, "n1", {load("a", 100)});
    report(60, "n1", {load("a", 97)});
    EXPECT_FALSE(job("a").run.gpu_hung_warned);
    report(61, "n1", {load("a", 100)});
    EXPECT_TRUE(job("a").run.gpu_hung_warned);
    EXPECT_EQ(lines_to_jobs(), 1u);
    report(62, "n1", {load("a", 100)});
    EXPECT_EQ(lines_to_jobs(), 0u);
    report(63, "n1", {load("a", 100, 1 << 20)});
    EXPECT_FALSE(job("a").run.gpu_hung_warned);
    EXPECT_EQ(job("a").state, JobState::Running);
}

}  // namespace
}  // namespace sluice
