// The parts of slurmd that decide without touching the machine.
#include <gtest/gtest.h>

#include "agent/confinement.h"
#include "agent/options.h"
#include "agent/outbox.h"
#include "agent/run_key.h"

namespace sluice {
namespace {

wire::AgentReport report_for(std::uint32_t job) {
    wire::AgentReport report;
    report.mutable_job_ended()->mutable_run()->set_job(job);
    return report;
}

TEST(Outbox, KeepsReportsUntilTheyAreOnDisk) {
    Outbox outbox;
    EXPECT_EQ(outbox.add(report_for(1)).sequence(), 1u);
    outbox.add(report_for(2));
    outbox.add(report_for(3));
    std::vector<wire::AgentReport> done = outbox.acknowledge(2);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[1].job_ended().run().job(), 2u);
    ASSERT_EQ(outbox.pending().size(), 1u);
    EXPECT_TRUE(outbox.acknowledge(2).empty());
    EXPECT_EQ(outbox.add(report_for(4)).sequence(), 4u);
}

TEST(RunKey, FileNamesRoundTrip) {
    for (StepId step : {kBatchStep, StepId{0}, StepId{17}}) {
        RunKey key{{JobId{12}, 3}, step};
        std::string path = run_path("/spool", key);
        std::string name = path.substr(path.rfind('/') + 1);
        std::optional<RunFile> file = parse_run_file("job00012", name + ".end");
        ASSERT_TRUE(file) << path;
        EXPECT_EQ(file->key, key);
        EXPECT_EQ(file->kind, "end");
    }
    EXPECT_EQ(run_path("/spool", {{JobId{12}, 0}, kBatchStep}), "/spool/job00012/batch.0");
}

TEST(RunKey, OtherFilesAreNotRuns) {
    for (const char* name : {"slurm_script", "batch.0", "batch.x.end", "x.0.end", "0.0.end.new"}) {
        EXPECT_FALSE(parse_run_file("job00012", name)) << name;
    }
    EXPECT_FALSE(parse_run_file("controller_key", "batch.0.end"));
}

TEST(Confinement, CpusAreTheKernelsNumbers) {
    // Core by core, two threads each: the kernel numbers the second threads last.
    std::vector<int> order = {0, 4, 1, 5, 2, 6, 3, 7};
    EXPECT_EQ(kernel_cpus(order, {0, 1, 2, 3}), "0-1,4-5");
    EXPECT_EQ(kernel_cpus(order, {6}), "3");
    EXPECT_EQ(kernel_cpus(order, {0, 8}), "");
}

TEST(SlurmdOptions, ErrorNamesTheOption) {
    const char* bad[] = {"slurmd", "--nosuch"};
    Result<SlurmdOptions> options = parse_slurmd_options(2, const_cast<char**>(bad));
    ASSERT_FALSE(options);
    EXPECT_NE(options.error().detail.find("--nosuch"), std::string::npos);
    const char* good[] = {"slurmd", "-D", "-N", "n1", "-vv", "-f", "/etc/x.conf"};
    options = parse_slurmd_options(7, const_cast<char**>(good));
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->foreground);
    EXPECT_EQ(options->node_name, "n1");
    EXPECT_EQ(options->verbose, 2);
}

}  // namespace
}  // namespace sluice
