// stepd/sampler_test.cc: a table of processes stands for /proc.
#include "stepd/sampler.h"

#include <gtest/gtest.h>

#include "protocol/convert.h"

namespace sluice {
namespace {

class SamplerTest : public testing::Test {
protected:
    static SamplingDemand two_tasks() {
        SamplingDemand demand;
        demand.enabled = true;
        demand.node = "n1";
        demand.tasks = {4, 5};
        return demand;
    }
    explicit SamplerTest(SamplingDemand demand = two_tasks())
        : sampler_(std::move(demand), [this](pid_t pid) -> std::optional<ProcessUsage> {
              const auto found = processes_.find(pid);
              if (found == processes_.end()) return {};
              return found->second;
          }) {}

    void process(pid_t pid, pid_t parent, std::uint64_t cpu_ms, std::uint64_t rss_kb) {
        processes_[pid] = {.parent = parent,
                           .cpu_ms = cpu_ms,
                           .pages = 1,
                           .read_bytes = 10,
                           .written_bytes = 20,
                           .rss_kb = rss_kb,
                           .vm_kb = 2 * rss_kb,
                           .cpu = 100000};
    }
    void sample(const CgroupCount& cgroup = {}) {
        std::vector<pid_t> pids;
        for (const auto& [pid, usage] : processes_) pids.push_back(pid);
        sampler_.sample(tasks_, pids, cgroup);
    }
    void exit(pid_t pid, long cpu_ms, long rss_kb, ProcessBytes bytes = {}) {
        rusage usage{};
        usage.ru_utime = {cpu_ms / 1000, cpu_ms % 1000 * 1000};
        usage.ru_maxrss = rss_kb;
        sampler_.on_exit(tasks_, pid, usage, bytes);
        processes_.erase(pid);
    }

    std::map<pid_t, ProcessUsage> processes_;
    std::vector<TaskProcess> tasks_ = {{4, 40}, {5, 50}};
    Sampler sampler_;
};

TEST_F(SamplerTest, AddsTheProcessesOfATask) {
    process(40, 1, 100, 1000);
    process(41, 40, 10, 500);
    process(42, 41, 1, 1);
    process(50, 1, 7, 200);
    sample();
    const TaskUsage usage = sampler_.usage();
    EXPECT_EQ(usage.tasks, 2u);
    EXPECT_EQ(usage.cpu_ms, (TaskAmounts{118, 111, "n1", 4, 7, "n1", 5}));
    EXPECT_EQ(usage.rss_kb, (TaskAmounts{1701, 1501, "n1", 4, 200, "n1", 5}));
    EXPECT_EQ(usage.read_bytes.total, 40u);
    EXPECT_EQ(usage.written_bytes.most, 60u);
    EXPECT_EQ(sampler_.memory_kb(), 1701u);
}

TEST_F(SamplerTest, KeepsThePeakOfMemoryAndForgetsNoTime) {
    process(40, 1, 100, 1000);
    process(41, 40, 50, 9000);
    sample();
    processes_.erase(41);  // its parent ignores SIGCHLD: its time is counted nowhere
    process(40, 1, 110, 10);
    sample();
    EXPECT_EQ(sampler_.usage().cpu_ms.most, 150u);
    EXPECT_EQ(sampler_.usage().rss_kb.most, 10000u);
    EXPECT_EQ(sampler_.memory_kb(), 10u);
}

TEST_F(SamplerTest, AnOrphanStaysWithItsTask) {
    process(50, 1, 5, 100);
    process(51, 50, 5, 100);
    sample();
    exit(50, 20, 100);
    tasks_.pop_back();
    process(51, 1, 300, 100);  // adopted by the supervisor
    sample();
    EXPECT_EQ(sampler_.usage().cpu_ms, (TaskAmounts{320, 320, "n1", 5, 0, "n1", 4}));
    exit(51, 400, 5000, {1000, 1});
    EXPECT_EQ(sampler_.usage().cpu_ms.most, 420u);
    EXPECT_EQ(sampler_.usage().rss_kb.most, 5000u);
    EXPECT_EQ(sampler_.usage().read_bytes.most_task, 5u);
}

TEST_F(SamplerTest, CountsAtTheEndWithoutAnySample) {
    exit(50, 1500, 4096, {11, 22});
    const TaskUsage usage = sampler_.usage();
    EXPECT_EQ(usage.cpu_ms, (TaskAmounts{1500, 1500, "n1", 5, 0, "n1", 4}));
    EXPECT_EQ(usage.rss_kb.most, 4096u);
    EXPECT_EQ(usage.read_bytes.most, 11u);
    EXPECT_EQ(usage.written_bytes.most, 22u);
}

TEST_F(SamplerTest, DoesNotAskTheCgroupOfSeveralTasks) {
    process(40, 1, 1, 1000);
    sampler_ = Sampler(
        [] {
            SamplingDemand demand = two_tasks();
            demand.by_cgroup = true;
            return demand;
        }(),
        [this](pid_t pid) { return std::optional(processes_.at(pid)); });
    sample({.memory_kb = 7777, .cpu_ms = 8888});
    EXPECT_EQ(sampler_.usage().rss_kb.most, 1000u);
    EXPECT_EQ(sampler_.usage().cpu_ms.most, 1u);
}

TEST_F(SamplerTest, AveragesTheTimeOfGpusAndKeepsThePeaks) {
    process(40, 1, 1, 1);
    process(41, 40, 1, 1);
    process(50, 1, 1, 1);
    EXPECT_EQ(sampler_.usage().gpu_percent, TaskAmounts{}) << "not measured";
    sample();
    sampler_.note_gpus({{40, {1000, 50}}, {41, {500, 100}}, {50, {10, 20}}, {99, {7, 7}}});
    sample();
    sampler_.note_gpus({{50, {30, 0}}});
    const TaskUsage usage = sampler_.usage();
    EXPECT_EQ(usage.gpu_percent, (TaskAmounts{85, 150, "n1", 4, 10, "n1", 5}));
    EXPECT_EQ(usage.gpu_memory_kb, (TaskAmounts{1530, 1500, "n1", 4, 30, "n1", 5}));
}

class OneTaskByCgroup : public SamplerTest {
protected:
    static SamplingDemand demand() {
        SamplingDemand demand = two_tasks();
        demand.tasks = {4};
        demand.by_cgroup = true;
        return demand;
    }
    OneTaskByCgroup() : SamplerTest(demand()) {}
};

TEST_F(OneTaskByCgroup, TakesWhatTheCgroupHasCounted) {
    process(40, 1, 100, 1000);
    sample({.memory_kb = 1200, .cpu_ms = 130});
    EXPECT_EQ(sampler_.usage().rss_kb.most, 1200u);
    EXPECT_EQ(sampler_.usage().cpu_ms.most, 130u);
    sample({});  // the cgroup does not say
    EXPECT_EQ(sampler_.memory_kb(), 1000u);
    sampler_.note_peak(5000);
    EXPECT_EQ(sampler_.usage().rss_kb.most, 5000u);
}

TEST(SamplingDemand, ComesFromTheStepThenFromTheConfiguration) {
    wire::StepOrder order;
    order.set_node("n1");
    order.mutable_sampling()->set_type("jobacct_gather/linux");
    order.mutable_sampling()->set_frequency("task=10");
    order.mutable_share()->set_memory(3);
    order.mutable_tasks()->add_task_ids(7);
    EXPECT_EQ(sampling_of(order).interval, Seconds{10});
    EXPECT_EQ(sampling_of(order).tasks, std::vector<std::uint32_t>{7});
    EXPECT_EQ(sampling_of(order).memory_kb_max, 0u);
    wire::NodeShare::Devices& devices = *order.mutable_share()->add_gres();
    devices.set_name("gpu");
    devices.add_indexes(2);
    EXPECT_EQ(sampling_of(order).gpus, std::vector<std::uint32_t>{2});
    order.mutable_sampling()->set_params("DisableGPUAcct");
    EXPECT_TRUE(sampling_of(order).gpus.empty());
    order.mutable_tasks()->mutable_spec()->set_acctg_freq("task=2");
    order.mutable_sampling()->set_params("UsePss,OverMemoryKill");
    EXPECT_EQ(sampling_of(order).interval, Seconds{2});
    EXPECT_EQ(sampling_of(order).memory_count, MemoryCount::Proportional);
    EXPECT_EQ(sampling_of(order).memory_kb_max, 3072u);
    order.mutable_sampling()->set_params("NoShared,NoOverMemoryKill");
    EXPECT_EQ(sampling_of(order).memory_count, MemoryCount::Unshared);
    EXPECT_EQ(sampling_of(order).memory_kb_max, 0u);
    JobRequest request;
    request.acctg_freq = "0";
    order.mutable_batch()->mutable_job()->set_request(encode(request));
    EXPECT_EQ(sampling_of(order).interval, Seconds{10}) << "no less often than slurm.conf says";
    order.mutable_sampling()->set_frequency("0");
    EXPECT_EQ(sampling_of(order).interval, Seconds{0});
    request.acctg_freq = "60";
    order.mutable_batch()->mutable_job()->set_request(encode(request));
    EXPECT_EQ(sampling_of(order).interval, Seconds{60});
    EXPECT_EQ(sampling_of(order).tasks, std::vector<std::uint32_t>{0});
    order.mutable_sampling()->set_type("jobacct_gather/none");
    EXPECT_FALSE(sampling_of(order).enabled);
}

}  // namespace
}  // namespace sluice
