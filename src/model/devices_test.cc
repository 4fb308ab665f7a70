// model/devices_test.cc: how devices are numbered, and how parts are spread over GPUs.
#include "model/devices.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

GresDevices line_of(std::string name, std::string type, std::vector<std::string> files,
                    std::uint64_t count) {
    GresDevices line;
    line.name = std::move(name);
    line.type = std::move(type);
    line.files = std::move(files);
    line.count = count;
    return line;
}

using Counts = std::vector<std::uint64_t>;

TEST(PartsOfGpus, AreSpreadAndTheLastHaveMore) {
    EXPECT_EQ(parts_of_gpus("shard", 32, 4, {}), (Counts{8, 8, 8, 8}));
    EXPECT_EQ(parts_of_gpus("mps", 30, 4, {}), (Counts{7, 7, 8, 8}));
    EXPECT_EQ(parts_of_gpus("mps", 30, 0, {}), Counts{});
    EXPECT_EQ(parts_of_gpus("shard", 4, 2, {line_of("shard", "", {}, 4)}), (Counts{2, 2}));
}

TEST(PartsOfGpus, OfALineWithFilesAreThoseOfItsGpus) {
    const std::vector<GresDevices> lines = {line_of("gpu", "", {"/dev/a", "/dev/b", "/dev/c"}, 3),
                                            line_of("shard", "", {"/dev/a", "/dev/b"}, 8),
                                            line_of("shard", "", {"/dev/c"}, 1)};
    EXPECT_EQ(parts_of_gpus("shard", 9, 3, lines), (Counts{4, 4, 1}));
    EXPECT_EQ(parts_of_gpus("mps", 9, 3, lines), (Counts{3, 3, 3}));
}

TEST(Devices, AreListedOneByOne) {
    GresDevices mig = line_of("gpu", "1g.5gb", {"/dev/nvidia0,/dev/nvidia-caps/nvidia-cap3"}, 1);
    mig.uuids = {"MIG-1"};
    const std::vector<GresDevices> lines = {line_of("nic", "", {"/dev/n"}, 1), mig,
                                            line_of("gpu", "a40", {}, 2)};
    const std::vector<Device> devices = devices_of(lines, "gpu");
    ASSERT_EQ(devices.size(), 3u);
    EXPECT_EQ(devices[0].files.size(), 2u);
    EXPECT_EQ(devices[0].uuid, "MIG-1");
    EXPECT_TRUE(devices[2].files.empty());
    // A count that is a slip of the keyboard takes no memory.
    EXPECT_EQ(devices_of({line_of("gpu", "", {}, 1ull << 40)}, "gpu").size(), kDevicesMost);
}

TEST(Flags, AreWholeWords) {
    GresDevices line;
    line.flags = "countonly,nvidia_gpu_env";
    EXPECT_TRUE(has_gres_flag(line, "nvidia_gpu_env"));
    EXPECT_FALSE(has_gres_flag(line, "gpu_env"));
}

}  // namespace
}  // namespace sluice
