// config/reconfigure_test.cc: which other slurm.conf a running cluster takes, and which it refuses.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

constexpr std::string_view kBefore =
    "ClusterName=c\nSlurmctldHost=a\nGresTypes=gpu\nNodeName=n[1-2] CPUs=4 RealMemory=1000 "
    "Gres=gpu:a40:2\n";

std::string refusal(std::string_view before, std::string_view after) {
    Result<void> checked = check_reconfigure(must_parse(before), must_parse(after), {"n1"});
    return checked ? "" : checked.error().detail;
}

std::string with(std::string_view from, std::string_view to) {
    std::string text(kBefore);
    return text.replace(text.find(from), from.size(), to);
}

TEST(Reconfigure, GrowingAndIdleNodesMayChange) {
    EXPECT_EQ(refusal(kBefore, kBefore), "");
    EXPECT_EQ(refusal(kBefore, with("CPUs=4", "CPUs=8")), "");
    EXPECT_EQ(refusal(kBefore, with("n[1-2]", "n[1,3]")), "");
}

TEST(Reconfigure, NothingIsTakenFromABusyNode) {
    EXPECT_EQ(refusal(kBefore, with("n[1-2]", "n[2-3]")),
              "node n1 runs jobs and cannot be removed");
    EXPECT_EQ(refusal(kBefore, with("CPUs=4", "CPUs=2")),
              "node n1 runs jobs: CPUs cannot shrink from 4 to 2");
    EXPECT_EQ(refusal(kBefore, with("RealMemory=1000", "RealMemory=1000 MemSpecLimit=10")),
              "node n1 runs jobs: RealMemory cannot shrink from 1000 to 990");
    EXPECT_EQ(refusal(kBefore, with("gpu:a40:2", "gpu:a40:1")),
              "node n1 runs jobs: Gres=gpu:a40 cannot shrink from 2 to 1");
    EXPECT_EQ(refusal(kBefore, with("gpu:a40:2", "gpu:h100:2")),
              "node n1 runs jobs: Gres=gpu:a40 cannot shrink from 2 to 0");
}

TEST(Reconfigure, TheClustersIdentityNeedsARestart) {
    for (const char* key : {"StateSaveLocation=/other", "SlurmctldPort=7000", "AuthType=auth/slurm",
                            "SelectType=select/linear"}) {
        std::string text = std::string(kBefore) + key + "\n";
        EXPECT_NE(refusal(kBefore, text).find("without a restart"), std::string::npos) << key;
    }
    EXPECT_EQ(refusal(kBefore, with("ClusterName=c", "ClusterName=d")),
              "ClusterName cannot change from c to d without a restart");
}

}  // namespace
}  // namespace sluice
