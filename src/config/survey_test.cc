#include "config/survey.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

class SurveyTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_NE(mkdtemp(directory_), nullptr); }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string write(const std::string& name, const std::string& text) {
        const std::string path = std::string(directory_) + "/" + name;
        std::ofstream(path) << text;
        return path;
    }
    // "used ClusterName=c", "refused NodeName.Frob=1: why" for each key.
    std::vector<std::string> survey(const std::string& text) {
        const Result<Survey> found = survey_slurm_conf(write("slurm.conf", text));
        EXPECT_TRUE(found) << found.error().detail;
        constexpr std::string_view kFates[] = {"used", "partly", "idle", "refused"};
        std::vector<std::string> lines;
        for (const SurveyedKey& each : found->keys) {
            lines.push_back(fmt::format("{} {}{}{}={}{}{}",
                                        kFates[static_cast<std::size_t>(each.fate)], each.table,
                                        each.table.empty() ? "" : ".", each.key, each.value,
                                        each.why.empty() ? "" : ": ", each.why));
        }
        for (const SurveyedNote& each : found->others) lines.push_back(each.text);
        return lines;
    }
    using Lines = std::vector<std::string>;

    char directory_[20] = "/tmp/survey.XXXXXX";
};

TEST_F(SurveyTest, TellsWhatBecomesOfEachKey) {
    EXPECT_EQ(
        survey("ClusterName=c\nSlurmctldHost=ctl\n"
               "killwait=5\n"
               "JobSubmitPlugins=lua\n"
               "SwitchType=switch/none\n"
               "EioTimeout=7\n"
               "NodeName=n[1-2] CPUs=4\nNodeName=n3 CPUs=4\n"
               "PartitionName=all Nodes=ALL\n"),
        (Lines{
            "used ClusterName=c", "used SlurmctldHost=ctl", "used KillWait=5",
            "refused JobSubmitPlugins=lua: JobSubmitPlugins=lua is not supported: slurmctld runs "
            "no submit plugins; limits of partitions and QOS are enforced",
            "idle SwitchType=switch/none: Sluice always does what the value says",
            "idle EioTimeout=7: EioTimeout=7 has no effect in Sluice",
            "used NodeName.NodeName=n[1-2]", "used NodeName.CPUs=4",
            "used PartitionName.PartitionName=all", "used PartitionName.Nodes=ALL"}));
}

TEST_F(SurveyTest, GoesOnAfterALineThatIsRefused) {
    const Lines found = survey(
        "ClusterName=c\nSlurmctldHost=ctl\nKillWait=abc\nFrob=1\nMaxJobCount=0\n"
        "NodeName=n1 CPUs=4 Frob=2\nPartitionName=all Nodes=n1\n");
    const auto fate_of = [&](std::string_view key) -> std::string {
        for (const std::string& line : found) {
            if (line.find(key) != std::string::npos) return line.substr(0, line.find(' '));
        }
        return "missing";
    };
    EXPECT_EQ(fate_of(" KillWait"), "refused");
    EXPECT_EQ(fate_of(" Frob"), "refused");
    EXPECT_EQ(fate_of(" MaxJobCount"), "refused");
    EXPECT_EQ(fate_of(" NodeName.Frob"), "refused");
    EXPECT_EQ(fate_of(" ClusterName"), "used");
}

TEST_F(SurveyTest, ReadsIncludedFilesAndNamesThem) {
    write("more.conf", "KillWait=7\nUsePAM=1\n");
    const Result<Survey> found =
        survey_slurm_conf(write("slurm.conf",
                                "ClusterName=c\nSlurmctldHost=ctl\nInclude more.conf\n"
                                "NodeName=n1\nPartitionName=all Nodes=n1\n"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->keys.at(3).where, "more.conf line 2");
    EXPECT_EQ(found->keys.at(3).fate, KeyFate::Refused);
}

TEST_F(SurveyTest, AFileThatIsNotThereIsAnError) {
    EXPECT_FALSE(survey_slurm_conf("/nonexistent/slurm.conf"));
}

}  // namespace
}  // namespace sluice
