// sim/ssim_test.cc
//
// The tool from its arguments to what it prints.
#include "sim/ssim.h"

#include <gtest/gtest.h>

#include <fstream>

namespace sluice {
namespace {

std::string written(const std::string& name, std::string_view text) {
    std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path) << text;
    return path;
}

TEST(Ssim, BothReportsTellOfRecordsThatHadNoPart) {
    const std::string conf = written("ssim_test.conf",
                                     "ClusterName=c\nSlurmctldHost=h\nNodeName=n1 CPUs=4\n"
                                     "PartitionName=p Nodes=n1 Default=YES\n");
    const std::string trace = written("ssim_test.swf",
                                      "1 10 0 50 4 -1 -1 4 60 -1 1 7 3 -1 -1 -1 -1 -1\n"
                                      "2 70 0 -1 4 -1 -1 4 60 -1 5 7 3 -1 -1 -1 -1 -1\n");
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"run", "--conf", conf, trace},
          std::vector<std::string>{"compare", "--conf", conf, "--conf", conf, trace}}) {
        testing::internal::CaptureStdout();
        EXPECT_EQ(run_ssim(args), 0);
        const std::string said = testing::internal::GetCapturedStdout();
        EXPECT_NE(said.find("\nleft out: 1 records of jobs that never ran"), std::string::npos)
            << said;
    }
}

// The line of the report that has the word.
std::string line_of_run(std::string_view word, std::vector<std::string> args) {
    args.insert(args.begin(), "run");
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_ssim(args), 0);
    const std::string said = testing::internal::GetCapturedStdout();
    const std::size_t at = said.find(word);
    EXPECT_NE(at, std::string::npos) << said;
    return said.substr(std::min(at, said.size()), said.find('\n', at) - at);
}

TEST(Ssim, PreemptsByTheTableOfQos) {
    const std::string conf = written("ssim_qos.conf",
                                     "ClusterName=c\nSlurmctldHost=h\nNodeName=n1 CPUs=4\n"
                                     "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n"
                                     "PartitionName=p Nodes=n1 Default=YES\n");
    const std::string trace = written("ssim_qos.csv",
                                      "submit,duration,gpus,account,cpus,limit,qos\n"
                                      "0,100,0,a,4,600,low\n"
                                      "50,100,0,b,4,600,high\n");
    const std::string table = written("ssim_qos.txt",
                                      "Name|Priority|GraceTime|Preempt|PreemptMode|GrpTRES\n"
                                      "high|100|00:00:00|low|cluster|\n");
    EXPECT_NE(line_of_run("preempt", {"--qos", table, "--conf", conf, trace}),
              line_of_run("preempt", {"--conf", conf, trace}));
    const std::string wrong = written("ssim_wrong.txt", "Name|GrpTRESMins\nhigh|cpu=x\n");
    EXPECT_EQ(run_ssim({"run", "--qos", wrong, "--conf", conf, trace}), 1);
}

TEST(Ssim, KeepsTheLimitsOfQos) {
    const std::string conf =
        written("ssim_limits.conf",
                "ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-2] CPUs=4\n"
                "AccountingStorageEnforce=limits\nPartitionName=p Nodes=n[1-2] Default=YES\n");
    const std::string trace = written("ssim_limits.csv",
                                      "submit,duration,gpus,account,cpus,limit,qos\n"
                                      "0,100,0,a,2,600,lab\n0,100,0,b,2,600,lab\n");
    const std::string one = written("ssim_one.txt", "Name|GrpTRES|GrpJobs\nlab||1\n");
    EXPECT_NE(line_of_run("makespan", {"--qos", one, "--conf", conf, trace}),
              line_of_run("makespan", {"--conf", conf, trace}));
}

}  // namespace
}  // namespace sluice
