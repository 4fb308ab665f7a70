// cli/seff/seff_test.cc: what seff prints for rows of accounting.
#include "cli/seff/seff.h"

#include <gtest/gtest.h>

#include "cli/common/ask_accounting.h"
#include "cli/squeue/fake_cluster.h"

namespace sluice {
namespace {

constexpr Time kNow = from_unix(10000);

// Answers with the runs that the question names.
class AccountingClient : public Client {
public:
    Result<const Config*> config() override { return &config_; }
    Result<OpenedNode> connect_node(const wire::NodeAddress&, const FirstMessage&) override {
        return Error{ErrorCode::NotSupported, ""};
    }
    Result<wire::Reply> call(const wire::Request& request, const Waiting&) override {
        AccountingQuestion question;
        TRY(field_codec::get_fields(request.ask_accounting(), question));
        wire::Reply reply;
        wire::Rows& rows = *reply.mutable_rows();
        for (const AccountedRun& run : runs) {
            const std::string id = fmt::format("{}", run.job.job.value);
            const std::string array =
                run.job.array_job ? fmt::format("{}", run.job.array_job->value) : "";
            if (question.jobs.jobs.at(0) != id && question.jobs.jobs.at(0) != array) continue;
            field_codec::put_fields(run, *rows.add_rows());
        }
        return reply;
    }
    std::vector<AccountedRun> runs;

private:
    Config config_;
};

AccountedStep step_with(StepId id, Microseconds cpu, std::uint64_t rss_kb, std::uint32_t tasks) {
    TaskUsage usage;
    for (std::uint32_t task = 0; task < tasks; ++task) {
        TaskUsage part;
        part.tasks = 1;
        part.rss_kb = {rss_kb, rss_kb, "n1", task, rss_kb, "n1", task};
        add_tasks(usage, part);
    }
    AccountedStep step;
    step.step = id;
    step.tasks = tasks;
    step.node_count = 1;
    step.usage.cpu_user = cpu;
    step.usage.rss_max_kb = rss_kb;
    step.usage.tasks = std::make_shared<const TaskUsage>(usage);
    return step;
}

AccountedRun finished_run() {
    AccountedRun run;
    run.cluster = "lab";
    run.job.job = JobId{12};
    run.job.state = ShownState::Completed;
    run.job.start = from_unix(1000);
    run.job.end = from_unix(1100);
    run.job.time_limit = TimeLimit{Seconds{3600}};
    run.job.node_count = 1;
    run.job.tres_allocated = {{"cpu", 4}, {"mem", 1024}, {"node", 1}};
    run.steps.push_back(step_with(kBatchStep, Microseconds{1'000'000}, 2048, 1));
    run.steps.push_back(step_with(StepId{0}, Microseconds{99'000'000}, 102400, 1));
    return run;
}

std::string seff(const std::vector<AccountedRun>& runs, std::vector<std::string> args) {
    AccountingClient client;
    client.runs = runs;
    KeptStreams streams;
    const Invocation invocation{.tool = "seff", .args = std::move(args), .directory = "/tmp"};
    const int code = run_seff_at(kNow, invocation, client, streams);
    return streams.said + (code == 0 ? "" : fmt::format("[exit {}]\n", code));
}

TEST(Seff, ComparesWhatWasUsedWithWhatWasAskedFor) {
    EXPECT_EQ(seff({finished_run()}, {"12"}),
              "Job ID: 12\n"
              "Cluster: lab\n"
              "User/Group: root/root\n"
              "State: COMPLETED (exit code 0)\n"
              "Nodes: 1\n"
              "Cores per node: 4\n"
              "CPU Utilized: 00:01:40\n"
              "CPU Efficiency: 25.00% of 00:06:40 core-walltime\n"
              "Job Wall-clock time: 00:01:40\n"
              "Memory Utilized: 100.00 MB\n"
              "Memory Efficiency: 9.77% of 1.00 GB\n"
              "Time Efficiency: 2.78% of 01:00:00 limit\n"
              "Suggested request: --mem=120M --time=00:02:00 --cpus-per-task=1\n");
}

TEST(Seff, AddsTheMemoryOfTasksAndShowsGpus) {
    AccountedRun run = finished_run();
    run.job.tres_allocated = {{"cpu", 1}, {"mem", 240}, {"gres/gpu", 2}};
    run.job.time_limit = TimeLimit{Seconds{120}};
    run.steps[1] = step_with(StepId{0}, Microseconds{0}, 102400, 2);
    EXPECT_NE(seff({run}, {"12"})
                  .find("Memory Utilized: 200.00 MB (estimated maximum)\n"
                        "Memory Efficiency: 83.33% of 240.00 MB\n"
                        "GPU Efficiency: not measured, 2 GPUs\n"),
              std::string::npos);
    TaskUsage usage = *run.steps[1].usage.tasks;
    usage.gpu_percent = {100, 70, "n1", 0, 30, "n1", 1};
    usage.gpu_memory_kb = {2048, 1024, "n1", 0, 1024, "n1", 1};
    run.steps[1].usage.tasks = std::make_shared<const TaskUsage>(usage);
    const std::string text = seff({run}, {"12"});
    EXPECT_NE(text.find("GPU Efficiency: 50.00% of 2 GPUs\nGPU Memory Utilized: 2.00 MB\n"),
              std::string::npos);
    EXPECT_NE(text.find("Cores: 1\n"), std::string::npos);
    EXPECT_EQ(text.find("Suggested"), std::string::npos) << "it needed what it had asked for";
}

TEST(Seff, SuggestsMoreForJobsThatWereKilled) {
    AccountedRun run = finished_run();
    run.job.state = ShownState::OutOfMemory;
    EXPECT_NE(seff({run}, {"12"}).find("--mem=1536M"), std::string::npos);
    run.job.state = ShownState::Timeout;
    EXPECT_NE(seff({run}, {"12"}).find("--time=01:30:00"), std::string::npos);
    run.job.memory_per_cpu = 256;
    EXPECT_NE(seff({run}, {"12"}).find("--mem-per-cpu=30M"), std::string::npos);
}

TEST(Seff, ShowsEachTaskOfAnArray) {
    AccountedRun first = finished_run(), second = finished_run();
    first.job.array_job = second.job.array_job = JobId{12};
    first.job.array_task = 1;
    second.job.array_task = 2;
    second.job.job = JobId{13};
    const std::string text = seff({first, second}, {"12"});
    EXPECT_NE(text.find("Job ID: 12\nArray Job ID: 12_1\n"), std::string::npos);
    EXPECT_NE(text.find("\n\nJob ID: 13\nArray Job ID: 12_2\n"), std::string::npos);
}

TEST(Seff, TellsOfJobsThatHaveNotEnded) {
    AccountedRun run = finished_run();
    run.job.state = ShownState::Running;
    run.job.end.reset();
    const std::string text = seff({run}, {"12"});
    EXPECT_NE(text.find("State: RUNNING\n"), std::string::npos);
    EXPECT_NE(text.find("Job Wall-clock time: 02:30:00\n"), std::string::npos);
    EXPECT_NE(text.find("WARNING: Efficiency statistics may be misleading for RUNNING jobs.\n"),
              std::string::npos);
    run.job.state = ShownState::Pending;
    run.job.start.reset();
    EXPECT_NE(seff({run}, {"12"}).find("Efficiency not available for jobs in the PENDING state.\n"),
              std::string::npos);
}

TEST(Seff, RefusesWhatIsNoJob) {
    EXPECT_EQ(seff({}, {"99"}), "seff: error: 99: Job not found.\n[exit 2]\n");
    EXPECT_EQ(seff({}, {"x"}), "seff: error: Invalid job id specified: x\n[exit 1]\n");
    EXPECT_EQ(seff({}, {"12.0"}), "seff: error: Invalid job id specified: 12.0\n[exit 1]\n");
    EXPECT_NE(seff({}, {}).find("[exit 1]\n"), std::string::npos);
    // The others are shown all the same.
    const std::string text = seff({finished_run()}, {"99", "12"});
    EXPECT_NE(text.find("99: Job not found."), std::string::npos);
    EXPECT_NE(text.find("Job ID: 12\n"), std::string::npos);
    EXPECT_NE(text.find("[exit 2]"), std::string::npos);
}

}  // namespace
}  // namespace sluice
