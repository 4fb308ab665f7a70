// config/gres_conf_test.cc: gres.conf: devices by node, and the errors that name the line.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

Result<std::vector<GresLine>> parse_lines(std::string_view text) {
    std::vector<std::string> warnings;
    return parse_gres_conf(text, "/etc/gres.conf", warnings);
}

std::string gres_error(std::string_view text) {
    auto lines = parse_lines(text);
    return lines ? "no error" : lines.error().detail;
}

TEST(GresConf, DevicesOfNodes) {
    auto lines = parse_lines(
        "AutoDetect=off\nNodeName=g[1-2] Name=gpu Type=a40 File=/dev/nvidia[0-1] Cores=0-7,16\n"
        "Name=bandwidth Count=4G Flags=CountOnly\nNodeName=g3 AutoDetect=nvml\n"
        "Name=gpu MultipleFiles=/dev/a,/dev/b Links=-1,4\n");
    ASSERT_TRUE(lines) << lines.error().detail;
    ASSERT_EQ(lines->size(), 5u);
    EXPECT_EQ((*lines)[0].auto_detect, "off");
    EXPECT_EQ((*lines)[1].nodes, (std::vector<std::string>{"g1", "g2"}));
    GresDevices gpus{.name = "gpu",
                     .type = "a40",
                     .files = {"/dev/nvidia0", "/dev/nvidia1"},
                     .count = 2,
                     .cores = "0-7,16"};
    EXPECT_EQ((*lines)[1].devices, gpus);
    EXPECT_EQ((*lines)[2].devices.count, 4ull << 30);
    EXPECT_EQ((*lines)[3].auto_detect, "nvml");
    EXPECT_EQ((*lines)[2].devices.flags, "countonly");
    EXPECT_EQ((*lines)[4].devices.files, std::vector<std::string>{"/dev/a,/dev/b"});
    EXPECT_EQ((*lines)[4].devices.count, 1u);
}

TEST(GresConf, ALineForTheNodeSaysHowItsGpusAreFound) {
    Config config;
    config.gres = *parse_lines("NodeName=g1 AutoDetect=nvml\nAutoDetect=off\n");
    EXPECT_EQ(config.auto_detect_of("g1"), "nvml");
    EXPECT_EQ(config.auto_detect_of("g2"), "off");
    config.gres = *parse_lines("AutoDetect=nvml\nNodeName=g1 AutoDetect=none\n");
    EXPECT_EQ(config.auto_detect_of("g1"), "off");
    EXPECT_EQ(config.auto_detect_of("g2"), "nvml");
    config.gres.clear();
    EXPECT_EQ(config.auto_detect_of("g1"), "off");
}

TEST(GresConf, EveryMakerHasAWayToFindItsGpus) {
    for (const char* way : {"nvml", "nvidia", "rsmi", "oneapi", "nrt", "full"}) {
        EXPECT_EQ(gres_error(fmt::format("AutoDetect={}", way)), "no error");
    }
}

TEST(GresConf, PartsOfGpusHaveAnotherCountThanFiles) {
    auto lines = parse_lines("Name=shard Count=8 File=/dev/nvidia[0-1]\nName=mps Count=200\n");
    ASSERT_TRUE(lines) << lines.error().detail;
    EXPECT_EQ((*lines)[0].devices.count, 8u);
    EXPECT_EQ((*lines)[0].devices.files.size(), 2u);
    EXPECT_EQ((*lines)[1].devices.count, 200u);
}

TEST(GresConf, FlagsAboutVariablesAreInheritedByTheNextLineOfTheSameType) {
    auto lines = parse_lines(
        "Name=gpu Type=a File=/dev/a0 Flags=NVIDIA_GPU_ENV,explicit\nName=gpu Type=a "
        "File=/dev/a1\nName=gpu Type=b File=/dev/b0\nName=gpu Type=b File=/dev/b1 "
        "Flags=amd_gpu_env\n");
    ASSERT_TRUE(lines) << lines.error().detail;
    EXPECT_EQ((*lines)[0].devices.flags, "nvidia_gpu_env,explicit");
    EXPECT_EQ((*lines)[1].devices.flags, "nvidia_gpu_env");
    EXPECT_EQ((*lines)[2].devices.flags, "");
    EXPECT_EQ((*lines)[3].devices.flags, "amd_gpu_env");
}

TEST(GresConf, FlagsAndLinksThatMeanNothingAreRefused) {
    const std::pair<const char*, const char*> cases[] = {
        {"Name=gpu Flags=foo", "Flags=foo: 'foo' is unknown"},
        {"Name=gpu Flags=no_gpu_env,amd_gpu_env", "no_gpu_env and amd_gpu_env exclude each other"},
        {"Name=mps Flags=one_sharing,all_sharing", "one_sharing and all_sharing exclude"},
        {"Name=gpu File=/dev/a Links=x", "Links=x: expected numbers"},
        {"Name=gpu File=/dev/a[0-1] Links=-1,2", "Links=-1,2: expected one device"},
        {"Name=gpu Count=4G", "more than 1024 GPUs"}};
    for (const auto& [line, words] : cases) {
        EXPECT_NE(gres_error(line).find(words), std::string::npos) << gres_error(line);
    }
}

TEST(GresConf, ErrorsNameLineKeyAndValue) {
    EXPECT_EQ(gres_error("Type=a40"), "gres.conf line 1: Name is missing: which resource is this?");
    EXPECT_NE(gres_error("Name=gpu Count=3 File=/dev/x[0-1]").find("Count=3 contradicts the 2"),
              std::string::npos);
    EXPECT_NE(gres_error("Name=gpu File=nvidia0").find("File=nvidia0: expected a path"),
              std::string::npos);
    EXPECT_NE(gres_error("Name=gpu Cores=a").find("Cores=a: expected core numbers"),
              std::string::npos);
    EXPECT_NE(gres_error("AutoDetect=magic").find("AutoDetect=magic: expected one of off"),
              std::string::npos);
    EXPECT_NE(gres_error("Name=gpu Count=many").find("Count=many: expected a number"),
              std::string::npos);
    EXPECT_EQ(gres_error("\nNmae=gpu"),
              "gres.conf line 2: unrecognized key 'Nmae' (did you mean 'Name'?)");
}

}  // namespace
}  // namespace sluice
