#include "agent/gpu_book.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

const JobKey kJob{JobId{12}, 0}, kOther{JobId{13}, 1};
constexpr StepId kStep{0};

GpuSample sample(std::uint32_t gpu, std::uint32_t percent, std::uint64_t memory_mb) {
    GpuSample sample{.gpu = gpu, .reading = {}, .xids = {}};
    sample.reading.percent = percent;
    sample.reading.memory_mb = memory_mb;
    sample.reading.memory_all_mb = 49152;
    return sample;
}

TEST(GpuBook, AStepOfSrunIsMorePreciseThanTheScript) {
    GpuBook book;
    book.run_begins(batch_of(kJob), 1000, {0, 1});
    book.run_begins({kJob, kStep}, 1000, {1});
    EXPECT_EQ(book.holders_of(0), (std::vector<GpuHolder>{{12, 0, 1000, kBatchStep.value}}));
    EXPECT_EQ(book.holders_of(1), (std::vector<GpuHolder>{{12, 0, 1000, 0}}));
    book.run_ends({kJob, kStep}, {});
    EXPECT_EQ(book.holders_of(1).front().step, kBatchStep.value);
    EXPECT_TRUE(book.holders_of(2).empty());
}

TEST(GpuBook, WhatAJobHasUsedIsCountedAndSurvivesARestart) {
    GpuBook book;
    book.run_begins(batch_of(kJob), 1000, {0});
    book.run_begins(batch_of(kOther), 1001, {1});
    book.count({.problem = {}, .gpus = {sample(0, 4, 100), sample(1, 90, 1)}});
    book.count({.problem = {}, .gpus = {sample(0, 96, 300), sample(1, 90, 1)}});
    book.run_ends(batch_of(kJob), {.cpu_user = Microseconds{2'000'000}, .rss_max_kb = 77});
    GpuBook read = GpuBook::parse(book.print());
    EXPECT_EQ(read.print(), book.print());
    const NodeUse use = read.job_leaves(kJob);
    EXPECT_EQ(
        use,
        (NodeUse{.cpu_ms = 2000, .memory_kb = 77, .gpus = {{0, 2, 100, 96, 1, 400, 300, 49152}}}));
    EXPECT_EQ(read.jobs().size(), 1u);
    EXPECT_EQ(read.job_leaves(kJob), NodeUse{});
}

TEST(GpuBook, ADamagedFileIsNoJob) {
    EXPECT_TRUE(GpuBook::parse("run 1 2\ngpu 1 2 3\njob 1 2\n\n job").jobs().empty());
}

TEST(GpuBook, OnlyGpusWithoutAJobMustBeClean) {
    const CleanRules rules{.checks = true, .memory_mb_most = 1024, .fatal_xids = {79}};
    GpuBook book;
    book.run_begins(batch_of(kJob), 1000, {0});
    Sample now{.problem = {},
               .gpus = {sample(0, 50, 2000), sample(1, 0, 1025), sample(2, 0, 1024)}};
    now.gpus[2].reading.processes = {{4711, 0, 0}};
    GpuReport report = book.report(now, rules);
    EXPECT_TRUE(report.has_health);
    EXPECT_EQ(report.unfit, (std::vector<UnfitGpu>{{1, "1025 MB of its memory are in use"},
                                                   {2, "process 4711 uses it"}}));
    EXPECT_EQ(report.jobs, (std::vector<JobGpuLoad>{{JobId{12}, 0, 1, 50, 0}}));
    now.gpus[0].xids = {31, 79};
    report = book.report(now, rules);
    EXPECT_EQ(report.unfit.front(), (UnfitGpu{0, "XID 79", true}));
    EXPECT_FALSE(book.report(now, {.checks = false}).has_health);
    now.gpus[0] = {.gpu = 0, .failure = "GPU is lost"};  // it takes no other one with it
    report = book.report(now, rules);
    EXPECT_TRUE(report.has_health);
    ASSERT_EQ(report.unfit.size(), 3u);
    EXPECT_EQ(report.unfit.front(), (UnfitGpu{0, "GPU is lost"}));
    EXPECT_EQ(report.jobs, (std::vector<JobGpuLoad>{{JobId{12}, 0, 0, 0, 0}}));
    book.count(now);
    EXPECT_EQ(book.job_leaves(kJob), NodeUse{});
    now.problem = "no driver";
    EXPECT_FALSE(book.report(now, rules).has_health);
}

}  // namespace
}  // namespace sluice
