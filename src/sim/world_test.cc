// sim/world_test.cc: traces played in virtual time.
#include "sim/world.h"

#include <gtest/gtest.h>

#include "sim/generate.h"
#include "sim/metrics.h"
#include "sim/report.h"

namespace sluice {
namespace {

TraceJob job(std::int64_t submit, std::int64_t duration, std::uint32_t cpus, std::int64_t limit) {
    TraceJob made;
    made.name = "j";
    made.submit = from_unix(submit);
    made.duration = Seconds{duration};
    made.cpus = cpus;
    made.limit = Seconds{limit};
    return made;
}

TEST(World, JobsRunForTheirTimeAndWaitForTheirTurn) {
    Trace trace;
    trace.jobs = {job(100, 50, 4, 100), job(110, 20, 4, 100), job(120, 5, 2, 100)};
    Outcome outcome = World(plain_settings(4, 1, 0), trace).run();
    EXPECT_EQ(outcome.jobs[0].start, from_unix(100));
    EXPECT_EQ(outcome.jobs[0].end, from_unix(150));
    EXPECT_EQ(outcome.jobs[0].nodes, 4u);
    EXPECT_EQ(outcome.jobs[1].start, from_unix(150));
    EXPECT_EQ(outcome.jobs[2].start, from_unix(170));
    EXPECT_EQ(outcome.jobs[2].state, JobState::Completed);
    Summary summary = summary_of(trace, outcome);
    EXPECT_EQ(summary.makespan, 75);
    EXPECT_DOUBLE_EQ(summary.all.wait_mean, 30);
    EXPECT_DOUBLE_EQ(summary.all.wait_median, 40);
    EXPECT_DOUBLE_EQ(summary.cpu_use, (200 + 80 + 10) / (4 * 75.0));
    // 1, (40 + 20) / 20, and for five seconds the bound counts: (50 + 5) / 10.
    EXPECT_DOUBLE_EQ(summary.all.slowdown_mean, (1 + 3 + 5.5) / 3);
}

TEST(World, TheLimitEndsWhatTakesLongerAndSparesWhatEndsInTime) {
    Trace trace;
    trace.jobs = {job(0, 100, 1, 60), job(0, 60, 1, 60)};
    Outcome outcome = World(plain_settings(2, 1, 0), trace).run();
    EXPECT_EQ(outcome.jobs[0].state, JobState::Timeout);
    EXPECT_EQ(outcome.jobs[0].end, from_unix(60));
    EXPECT_EQ(outcome.jobs[1].state, JobState::Completed);
}

TEST(World, GpuJobsSpreadOverTheNodesTheyNeed) {
    Trace trace;
    trace.jobs = {job(0, 10, 32, 60)};
    trace.jobs[0].gpus = 16;
    Outcome outcome = World(plain_settings(2, 64, 8), trace).run();
    EXPECT_EQ(outcome.jobs[0].gpus, 16u);
    EXPECT_EQ(outcome.jobs[0].cpus, 32u);
    EXPECT_EQ(outcome.jobs[0].nodes, 2u);
    EXPECT_DOUBLE_EQ(summary_of(trace, outcome).gpu_use, 1);
}

TEST(World, SaysWhatCannotRun) {
    Trace trace;
    trace.jobs = {job(0, 10, 3, 60), job(0, 10, 1, 60)};
    trace.jobs[1].partition = "elsewhere";
    Outcome outcome = World(plain_settings(2, 1, 0), trace).run();
    EXPECT_FALSE(outcome.jobs[0].refusal.empty());
    EXPECT_EQ(outcome.moved, 1u);
    EXPECT_EQ(summary_of(trace, outcome).refused, 1u);
}

TEST(World, TheSameTraceGivesTheSameOutcome) {
    Trace trace = generate({.jobs = 300, .processors = 32, .load = 1.2, .seed = 9});
    Outcome first = World(plain_settings(32, 1, 0), trace).run();
    Outcome second = World(plain_settings(32, 1, 0), trace).run();
    EXPECT_EQ(print_jobs_csv(trace, first), print_jobs_csv(trace, second));
    std::string page = print_html("a <b>", trace, first, summary_of(trace, first));
    EXPECT_NE(page.find("<h1>a &lt;b&gt;</h1>"), page.npos);
    EXPECT_NE(page.find("</html>"), page.npos);
}

constexpr std::string_view kDump =
    "Cluster - 'other':Fairshare=1:QOS='normal,extra'\n"
    "Parent - 'root'\n"
    "Account - 'lab':Fairshare=10:GrpJobs=1\n"
    "Account - 'guests':Fairshare=1\n"
    "Parent - 'lab'\n"
    "User - 'ann':DefaultAccount='lab':Fairshare=1\n"
    "Parent - 'guests'\n"
    "User - 'bob':DefaultAccount='guests':Fairshare=1\n";

TraceJob job_of(const char* user, const char* account, std::int64_t submit) {
    TraceJob made = job(submit, 1000, 1, 2000);
    made.user = user;
    made.account = account;
    return made;
}

TEST(World, SharesOfAPolicyDecideTheOrder) {
    Trace trace;
    trace.jobs = {job_of("bob", "guests", 0), job_of("bob", "guests", 10),
                  job_of("ann", "lab", 20)};
    Settings settings = plain_settings(1, 1, 0);
    settings.priority.multifactor = true;
    settings.priority.weight_fairshare = 1000;
    Outcome without = World(settings, trace).run();
    EXPECT_LT(without.jobs[1].start, without.jobs[2].start);
    World world(settings, trace);
    ASSERT_TRUE(world.load_policy(kDump));
    Outcome with = world.run();
    EXPECT_EQ(with.jobs[2].start, from_unix(1000));
    EXPECT_EQ(with.jobs[1].start, from_unix(2000));
}

TEST(World, LimitsOfAPolicyCountWhereTheConfigurationEnforcesThem) {
    Trace trace;
    trace.jobs = {job_of("ann", "lab", 0), job_of("ann", "lab", 0), job_of("eve", "lab", 0)};
    for (const bool enforces : {false, true}) {
        Settings settings = plain_settings(4, 1, 0);
        settings.enforce_limits = settings.enforce_associations = enforces;
        World world(settings, trace);
        ASSERT_TRUE(world.load_policy(kDump));
        const Outcome outcome = world.run();
        EXPECT_EQ(outcome.jobs[0].start, from_unix(0));
        EXPECT_EQ(outcome.jobs[1].start, from_unix(enforces ? 1000 : 0));
        EXPECT_EQ(outcome.jobs[2].refusal.empty(), !enforces);  // eve is in no account
    }
}

TEST(World, ABadPolicyIsRefusedWithItsLine) {
    Trace trace;
    trace.jobs = {job(0, 1, 1, 1)};
    World world(plain_settings(1, 1, 0), trace);
    const Result<void> refused = world.load_policy("Cluster - 'c'\nAccount - 'a':Frob=1\n");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("line(2)"), std::string::npos) << refused.error().detail;
}

}  // namespace
}  // namespace sluice
