// cli/sstat/sstat_test.cc: what sstat prints for answers of two nodes.
#include "cli/sstat/sstat.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "cli/squeue/fake_cluster.h"
#include "model/record_fields.h"
#include "protocol/field_codec.h"

namespace sluice {
namespace {

TaskUsage one_task(const std::string& node, std::uint32_t task, std::uint64_t rss_kb) {
    const auto amounts = [&](std::uint64_t value) {
        return TaskAmounts{value, value, node, task, value, node, task};
    };
    TaskUsage usage;
    usage.tasks = 1;
    usage.cpu_ms = amounts(rss_kb * 1000);
    usage.rss_kb = amounts(rss_kb);
    usage.vm_kb = amounts(2 * rss_kb);
    usage.pages = amounts(1);
    usage.read_bytes = amounts(37894);
    usage.written_bytes = amounts(4096);
    return usage;
}

// Job 5: a batch script on n1, and step 0 with a task on n1 and one on n2.
class StatCluster : public FakeCluster {
public:
    StatCluster() {
        using C = StepColumn;
        steps.clear();
        for (std::int64_t id : {std::int64_t{kBatchStep.value}, std::int64_t{0}}) {
            FakeRow row;
            row.set(C::JobId, 5).set(C::StepId, id).set(C::NodeList, id == 0 ? "n[1-2]" : "n1");
            row.set(C::State, static_cast<std::int64_t>(StepState::Running)).set(C::Tres, "cpu=1");
            steps.push_back(row);
        }
    }
    Result<wire::Reply> call(const wire::Request& request, const Waiting& waiting) override {
        if (request.body_case() != wire::Request::kJobAllocation) {
            return FakeCluster::call(request, waiting);
        }
        if (denied) return Error{ErrorCode::AccessDenied, ""};
        wire::Reply reply;
        for (const char* node : {"n1", "n2", "n3"}) {
            reply.mutable_allocation()->add_addresses()->set_name(node);
        }
        return reply;
    }
    Result<OpenedNode> connect_node(const wire::NodeAddress& node,
                                    const FirstMessage& first) override {
        asked.push_back(node.name());
        if (node.name() == unreachable) return Error{ErrorCode::LaunchFailed, "n2 is away"};
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) abort();
        OpenedNode opened;
        opened.connection.fd = Fd(pair[0]);
        Fd other(pair[1]);
        std::string frames;
        append_frame(frames, wire::Welcome{});
        append_frame(frames, answer(node.name(), first(opened.connection).ask_usage()));
        if (send(other.get(), frames.data(), frames.size(), 0) < 0) abort();
        kept_.push_back(std::move(other));
        return opened;
    }
    bool denied = false;
    std::string unreachable;
    std::vector<std::string> asked;

private:
    static wire::StepOutput answer(const std::string& node, const wire::AskUsage& question) {
        wire::StepOutput output;
        wire::StepUsages& usages = *output.mutable_usages();
        for (std::uint32_t step : question.steps()) {
            if (step == kBatchStep.value && node != "n1") continue;
            const std::uint32_t task = node == "n1" ? 0 : 1;
            Usage usage;
            usage.tasks =
                std::make_shared<const TaskUsage>(one_task(node, task, task == 1 ? 2049 : 1));
            wire::StepUsage& part = *usages.add_steps();
            part.mutable_run()->set_step(step);
            *part.mutable_usage() = to_wire(usage);
            part.set_tasks(1);
            part.add_pids(100 + task);
            part.add_pids(200 + task);
        }
        return output;
    }
    std::vector<Fd> kept_;
};

std::string sstat(StatCluster& cluster, std::vector<std::string> args) {
    KeptStreams streams;
    const Invocation invocation{.tool = "sstat", .args = std::move(args), .directory = "/tmp"};
    const int code = run_sstat(invocation, cluster, streams);
    return streams.said + (code == 0 ? "" : fmt::format("[exit {}]\n", code));
}

std::string sstat(std::vector<std::string> args) {
    StatCluster cluster;
    return sstat(cluster, std::move(args));
}

TEST(Sstat, MergesTheNodesOfAStep) {
    StatCluster cluster;
    EXPECT_EQ(sstat(cluster, {"-j", "5", "-P", "-n", "-o",
                              "JobID,NTasks,Nodelist,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS,MinCPU,"
                              "MinCPUNode,MinCPUTask,AveCPU,MaxDiskRead,Pids"}),
              "5.0|2|n[1-2]|2049K|n2|1|1025K|00:00:01|n1|0|00:17:05|37894|100,200,101,201\n");
    EXPECT_EQ(cluster.asked, (std::vector<std::string>{"n1", "n2"})) << "n3 runs no step";
    EXPECT_EQ(sstat({"-j", "5", "-p", "-n", "--noconvert", "-o", "MaxRSS,TRESUsageInTot"}),
              "2098176|cpu=00:34:10,energy=0,fs/disk=75788,mem=2099200,pages=2,vmem=4198400|\n");
}

TEST(Sstat, PrintsColumnsAndPids) {
    EXPECT_EQ(sstat({"-a", "-j", "5", "-o", "jobid%8,maxrss%-7,avecpu"}),
              "   JobID MaxRSS      AveCPU \n"
              "-------- ------- ---------- \n"
              " 5.batch 1K        00:00:01 \n"
              "     5.0 2049K     00:17:05 \n");
    EXPECT_EQ(sstat({"-i", "5.0"}),
              "JobID                    Nodelist                 Pids \n"
              "------------ -------------------- -------------------- \n"
              "5.0                            n1              100,200 \n"
              "5.0                            n2              101,201 \n");
    EXPECT_TRUE(sstat({"-P", "-j", "5"}).starts_with("JobID|AllocTRES|MaxVMSize|MaxVMSizeNode|"));
}

TEST(Sstat, TellsWhatItCannotShow) {
    EXPECT_EQ(sstat({}), "sstat: error: You didn't give me any jobs to stat.\n[exit 1]\n");
    EXPECT_EQ(sstat({"-j", "abc"}), "sstat: fatal: Bad job/step specified: abc\n[exit 1]\n");
    EXPECT_EQ(sstat({"-j", "5", "-o", "foo"}),
              "sstat: error: Invalid field requested: \"foo\"\n[exit 1]\n");
    EXPECT_EQ(sstat({"-n", "-j", "5.7"}), "sstat: error: StepId=5.7 not found running.\n");
    StatCluster cluster;
    cluster.denied = true;
    EXPECT_EQ(sstat(cluster, {"-n", "-j", "5"}),
              "sstat: error: StepId=5.0: Access/permission denied\n[exit 1]\n");
    cluster.steps.clear();
    EXPECT_EQ(sstat(cluster, {"-n", "-j", "5"}), "sstat: error: couldn't get steps for JobId=5\n");
}

TEST(Sstat, ShowsTheOtherNodesWhenOneDoesNotAnswer) {
    StatCluster cluster;
    cluster.unreachable = "n2";
    const std::string text = sstat(cluster, {"-n", "-P", "-j", "5", "-o", "jobid,maxrss,ntasks"});
    EXPECT_NE(text.find("n2 is away"), std::string::npos);
    EXPECT_NE(text.find("5.0|1K|1\n"), std::string::npos);
    EXPECT_NE(text.find("[exit 1]"), std::string::npos);
}

TEST(Sstat, ListsItsFields) {
    const std::string text = sstat({"-e"});
    EXPECT_TRUE(text.starts_with("AllocTRES           AveCPU              AveCPUFreq          "))
        << text;
    EXPECT_EQ(text.find("TotalCPU"), std::string::npos);
}

}  // namespace
}  // namespace sluice
