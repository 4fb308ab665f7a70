// cli/sluice/history_test.cc: what is read from the output of sacct.
#include <gtest/gtest.h>

#include "cli/sluice/history_reader.h"
#include "model/times.h"

namespace sluice {
namespace {

struct ReadHistory {
    std::vector<AccountedRun> runs;
    std::vector<std::string> bad, unused;
    std::size_t unfinished = 0, without_association = 0;
    std::string error;
};

ReadHistory read(const std::string& text, bool any_cluster = false) {
    Policy policy;
    policy.associations = {
        {.id = 1, .cluster = "c", .account = "root"},
        {.id = 2, .parent = 1, .cluster = "c", .account = "lab"},
        {.id = 3, .parent = 2, .cluster = "c", .account = "lab", .user = "ann"},
        {.id = 4, .parent = 2, .cluster = "c", .account = "lab", .user = "ann", .partition = "p"}};
    policy.users = {{.name = "ann", .uid = UserId{4711}}};
    ReadHistory found;
    const HistorySource source{.policy = policy, .cluster = "c", .any_cluster = any_cluster};
    HistoryReader reader(source, [&](AccountedRun run) -> Result<void> {
        found.runs.push_back(std::move(run));
        return {};
    });
    if (const Result<void> done = reader.read("f", text); !done) found.error = done.error().detail;
    for (const HistoryReader::BadLine& each : reader.bad_lines()) found.bad.push_back(each.text);
    found.unused = reader.unused_columns();
    found.unfinished = reader.unfinished();
    found.without_association = reader.without_association();
    return found;
}

constexpr std::string_view kTimes = "2026-01-31T12:00:00|2026-01-31T13:00:00";

TEST(History, HasRunsWithTheirSteps) {
    const std::string times(kTimes);
    const ReadHistory found = read(
        "JobID|JobIDRaw|User|Account|Partition|Start|End|State|AllocTRES|Elapsed|MaxRSS|NTasks|"
        "Frob\n"
        "7_2|9|ann|lab|p|" +
        times +
        "|CANCELLED by 5|billing=3,cpu=2|00:50:00|||\n"
        "7_2.batch|9.batch|||||||||||\n"
        "7_2.0|9.0||lab||" +
        times +
        "|COMPLETED|cpu=2|01:00:00|1.5M|2|\n"
        "10|10|ann|lab|q|" +
        times +
        "|REQUEUED|cpu=1|01:00:00|||\n"
        "10|10|ann|lab|q|" +
        times +
        "|FAILED|cpu=1|01:00:00|||\n"
        "11|11|ann|lab|q|2026-01-31T12:00:00|Unknown|RUNNING|cpu=1|01:00:00|||\n"
        "11.0|11.0|||||||||||\n");
    EXPECT_EQ(found.error, "");
    ASSERT_EQ(found.runs.size(), 3u);
    const AccountedRun& first = found.runs[0];
    EXPECT_EQ(first.job.job, JobId{9});
    EXPECT_EQ(first.job.array_job, JobId{7});
    EXPECT_EQ(first.job.array_task, 2u);
    EXPECT_EQ(first.job.user, UserId{4711});
    EXPECT_EQ(first.job.association, 4u);
    EXPECT_EQ(first.job.state, ShownState::Cancelled);
    EXPECT_EQ(first.job.killed_by, UserId{5});
    EXPECT_EQ(first.job.suspended, Seconds{600});
    EXPECT_EQ(first.job.tres_allocated.at("billing"), 3u);
    ASSERT_EQ(first.steps.size(), 1u);
    EXPECT_EQ(first.steps[0].usage.rss_max_kb, 1536u);
    EXPECT_EQ(first.steps[0].usage.tasks->tasks, 2u);
    EXPECT_EQ(found.runs[1].job.association, 3u);
    EXPECT_EQ(found.runs[1].job.restarts, 0u);
    EXPECT_EQ(found.runs[2].job.restarts, 1u);
    EXPECT_EQ(found.unused, std::vector<std::string>{"Frob"});
    EXPECT_EQ(found.unfinished, 1u);
    EXPECT_EQ(found.bad.size(), 1u);  // the step without a state
}

TEST(History, OfAnotherClusterNeedsToBeAskedFor) {
    const std::string text = "JobID|Cluster|UID|Account|Start|End|State|NCPUS\n1|d|4711|lab|" +
                             std::string(kTimes) + "|COMPLETED|3\n";
    EXPECT_EQ(read(text).runs.size(), 0u);
    EXPECT_NE(read(text).bad.at(0).find("f:2: a job of cluster d"), std::string::npos);
    const ReadHistory found = read(text, true);
    ASSERT_EQ(found.runs.size(), 1u);
    EXPECT_EQ(found.runs[0].cluster, "c");
    EXPECT_EQ(found.runs[0].job.tres_allocated.at("billing"), 3u);
    EXPECT_EQ(found.runs[0].job.association, 3u);
    EXPECT_EQ(found.without_association, 0u);
}

TEST(History, NeedsSomeColumns) {
    EXPECT_NE(read("").error.find("no header line"), std::string::npos);
    EXPECT_NE(read("JobID|User|Account|Start|End|NCPUS\n").error.find("'state'"),
              std::string::npos);
    EXPECT_NE(read("JobID|Account|Start|End|State|NCPUS\n").error.find("'user'"),
              std::string::npos);
    EXPECT_NE(read("JobID|User|Account|Start|End|State\n").error.find("'alloctres'"),
              std::string::npos);
}

}  // namespace
}  // namespace sluice
