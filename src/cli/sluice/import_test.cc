// cli/sluice/import_test.cc: transcripts of sluice import.
#include "cli/sluice/import.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "cli/sluice/policy_cluster.h"
#include "cli/sluice/sluice.h"
#include "os/files.h"

namespace sluice {
namespace {

class Import : public testing::Test {
protected:
    void SetUp() override { ASSERT_NE(mkdtemp(directory_), nullptr); }
    void TearDown() override { remove_tree(directory_); }

    void write(const std::string& name, const std::string& text) {
        std::ofstream(std::string(directory_) + "/" + name) << text;
    }
    std::string run(std::vector<std::string> words) {
        words.insert(words.begin(), "import");
        const Invocation invocation{.tool = "sluice",
                                    .args = std::move(words),
                                    .environment = Environment({"PATH=/bin"}),
                                    .directory = directory_};
        KeptStreams streams("");
        const int code = run_sluice(invocation, client, streams);
        return streams.said + (code ? fmt::format("[exit {}]\n", code) : "");
    }

    char directory_[20] = "/tmp/import.XXXXXX";
    PolicyCluster client;
};

TEST_F(Import, ReportsOnEachKeyOfAConfiguration) {
    write("old.conf",
          "ClusterName=c\nSlurmctldHost=ctl\nEioTimeout=7\nJobSubmitPlugins=lua\n"
          "NodeName=n1 CPUs=4\nNodeName=n2 CPUs=8\nPartitionName=all Nodes=ALL\n");
    EXPECT_EQ(run({"conf", "old.conf"}),
              "used      ClusterName=c\n"
              "used      SlurmctldHost=ctl\n"
              "no effect EioTimeout=7  [old.conf line 3: EioTimeout=7 has no effect in Sluice]\n"
              "REFUSED   JobSubmitPlugins=lua  [old.conf line 4: JobSubmitPlugins=lua is not "
              "supported: slurmctld runs no submit plugins; limits of partitions and QOS are "
              "enforced]\n"
              "used      NodeName (2 lines)\n"
              "used      NodeName CPUs (2 lines)\n"
              "used      PartitionName=all\n"
              "used      PartitionName Nodes=ALL\n"
              "6 used, 0 used in part, 1 without effect, 1 refused\n"
              "[exit 1]\n");
}

TEST_F(Import, LoadsADumpOfSlurm) {
    write("slurm.cfg",
          "# a comment\n"
          "Cluster - 'oracle':Fairshare=1:QOS='normal'\n"
          "Parent - 'root'\n"
          "Account - 'vision':Description='vision':Organization='lab':Fairshare=100:"
          "GrpTRES=gres/gpu=8\n"
          "Parent - 'vision'\n"
          "User - 'daemon':DefaultAccount='vision':Fairshare=1\n"
          "User - 'daemon':Partition='debug':DefaultAccount='vision':MaxJobs=3\n");
    EXPECT_NE(run({"dump", "-i", "slurm.cfg"}).find("Add    account     vision"),
              std::string::npos);
    const Policy once = client.policy;
    EXPECT_EQ(run({"dump", "-i", "slurm.cfg"}), "For cluster oracle\n Nothing new added.\n");
    EXPECT_EQ(client.policy, once);
    for (const Association& each : once.associations) {
        if (each.user != "daemon") continue;
        EXPECT_EQ(each.of_each.running.has_value(), each.partition == "debug");
    }
}

TEST_F(Import, SaysWhatIsWrong) {
    EXPECT_NE(run({"conf", "nosuch.conf"}).find("[exit 1]"), std::string::npos);
    EXPECT_NE(run({"dump", "-i", "nosuch.cfg"}).find("Unable to read"), std::string::npos);
    EXPECT_NE(run({"conf"}).find("Usage:"), std::string::npos);
    EXPECT_NE(run({"frob", "x"}).find("Usage:"), std::string::npos);
}

}  // namespace
}  // namespace sluice
