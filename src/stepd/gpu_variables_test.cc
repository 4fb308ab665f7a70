// stepd/gpu_variables_test.cc: what processes are told about GPUs, parts of GPUs and MIG devices.
#include "stepd/gpu_variables.h"

#include <gtest/gtest.h>

#include "protocol/convert.h"

namespace sluice {
namespace {

wire::NodeShare::Devices devices_of(const std::string& name, std::vector<std::uint32_t> indexes,
                                    std::vector<std::uint32_t> parts = {}) {
    wire::NodeShare::Devices devices;
    devices.set_name(name);
    devices.mutable_indexes()->Add(indexes.begin(), indexes.end());
    devices.mutable_parts()->Add(parts.begin(), parts.end());
    std::uint64_t count = indexes.size();
    if (!parts.empty()) count = 0;
    for (std::uint32_t part : parts) count += part;
    devices.set_count(count);
    return devices;
}

Environment environment_of(const wire::StepOrder& order) {
    Environment environment;
    set_gpu_variables(environment, order, gpus_of(order.share()), "SLURM_JOB_GPUS");
    return environment;
}

TEST(GpuVariables, AreThoseThatGresConfNames) {
    wire::StepOrder order;
    *order.mutable_share()->add_gres() = devices_of("gpu", {1, 3});
    order.mutable_gpus()->add_variables("ROCR_VISIBLE_DEVICES");
    EXPECT_EQ(environment_of(order).entries(),
              (std::vector<std::string>{"SLURM_JOB_GPUS=1,3", "SLURM_GPUS_ON_NODE=2",
                                        "ROCR_VISIBLE_DEVICES=1,3"}));
    order.mutable_confinement()->set_devices_constrained(true);
    EXPECT_EQ(environment_of(order).get("ROCR_VISIBLE_DEVICES"), "0,1");
}

TEST(GpuVariables, NameMigDevicesAndAskedOnesByUuid) {
    wire::StepOrder order;
    *order.mutable_share()->add_gres() = devices_of("gpu", {0, 1});
    order.mutable_gpus()->add_variables("CUDA_VISIBLE_DEVICES");
    order.mutable_gpus()->add_uuids("GPU-aa");
    order.mutable_gpus()->add_uuids("MIG-bb");
    Environment environment = environment_of(order);
    EXPECT_EQ(environment.get("CUDA_VISIBLE_DEVICES"), "0,MIG-bb");
    EXPECT_EQ(environment.get("NV_GPU"), "GPU-aa,MIG-bb");
    order.mutable_gpus()->set_by_uuid(true);
    EXPECT_EQ(environment_of(order).get("CUDA_VISIBLE_DEVICES"), "GPU-aa,MIG-bb");
}

TEST(GpuVariables, WithoutUuidsThereIsNoNvGpu) {
    wire::StepOrder order;
    *order.mutable_share()->add_gres() = devices_of("gpu", {0, 1});
    order.mutable_gpus()->add_uuids("GPU-aa");
    order.mutable_gpus()->add_uuids("");
    EXPECT_FALSE(environment_of(order).has("NV_GPU"));
}

TEST(GpuVariables, OfShardsCountShardsAndNoGpus) {
    wire::StepOrder order;
    *order.mutable_share()->add_gres() = devices_of("shard", {2}, {3});
    order.mutable_gpus()->add_variables("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(environment_of(order).entries(),
              (std::vector<std::string>{"SLURM_SHARDS_ON_NODE=3", "SLURM_JOB_GPUS=2",
                                        "CUDA_VISIBLE_DEVICES=2"}));
}

TEST(GpuVariables, OfMpsHaveThePercentage) {
    wire::StepOrder order;
    *order.mutable_share()->add_gres() = devices_of("mps", {0}, {50});
    order.mutable_gpus()->add_variables("CUDA_VISIBLE_DEVICES");
    order.mutable_gpus()->set_mps_percent(25);
    EXPECT_EQ(environment_of(order).entries(),
              (std::vector<std::string>{"SLURM_JOB_GPUS=0", "SLURM_GPUS_ON_NODE=1",
                                        "CUDA_VISIBLE_DEVICES=0",
                                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25"}));
}

}  // namespace
}  // namespace sluice
