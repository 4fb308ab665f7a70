#include "os/other_gpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

class OtherGpus : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(sys_); }
    void TearDown() override { std::filesystem::remove_all(sys_); }
    void put(const std::string& path, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(sys_ + path).parent_path());
        std::ofstream(sys_ + path) << text;
    }
    const std::string sys_ = testing::TempDir() + "/sys-" +
                             testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(OtherGpus, NeuronDevicesAreListedByTheirNumber) {
    put("/class/neuron_device/neuron10/device_name", "trn1\n");
    put("/class/neuron_device/neuron2/info/architecture/device_name", "inf2\n");
    put("/class/neuron_device/neuron2/device/local_cpulist", "0-1,4\n");
    put("/class/neuron_device/neuron0/core_count", "2\n");
    put("/class/neuron_device/version", "1\n");
    const auto devices = read_neuron_devices(sys_);
    ASSERT_TRUE(devices);
    ASSERT_EQ(devices->size(), 3u);
    EXPECT_EQ((*devices)[0].name, "neuron");
    EXPECT_EQ((*devices)[1].name, "inf2");
    EXPECT_EQ((*devices)[1].cpus, (std::vector<int>{0, 1, 4}));
    EXPECT_EQ((*devices)[2].files, (std::vector<std::string>{"/dev/neuron10"}));
    EXPECT_EQ((*devices)[2].maker, GpuMaker::Neuron);
}

TEST_F(OtherGpus, WhatIsMissingIsNamed) {
    const auto devices = read_neuron_devices(sys_);
    ASSERT_FALSE(devices);
    EXPECT_NE(devices.error().detail.find("/class/neuron_device"), std::string::npos);
    // No machine of the tests has these libraries.
    const auto amd = read_amd_gpus(sys_), intel = read_intel_gpus(sys_);
    ASSERT_FALSE(amd);
    ASSERT_FALSE(intel);
    EXPECT_NE(amd.error().detail.find("librocm_smi64.so"), std::string::npos);
    EXPECT_NE(intel.error().detail.find("libze_loader.so"), std::string::npos);
}

}  // namespace
}  // namespace sluice
