// The node's devices: which are found, how they are numbered, and which a step is kept from.
#include "agent/devices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/confinement.h"
#include "agent/gpu_words.h"

namespace sluice {
namespace {

NodeConfig node_with(std::vector<GresCount> gres) {
    NodeConfig node;
    node.name = "n1";
    node.gres = std::move(gres);
    node.gres_text = "gpu";
    return node;
}

GresDevices gpus(std::string type, std::vector<std::string> files) {
    const std::uint64_t count = files.size();
    return {.name = "gpu", .type = std::move(type), .files = std::move(files), .count = count};
}

// Two sockets with two cores of two threads each; the kernel numbers the second threads last.
Hardware hardware() {
    Hardware result;
    result.cpus = 8;
    result.sockets = 2;
    result.cores_per_socket = 2;
    result.threads_per_core = 2;
    result.memory_mb = 10000;
    result.cpu_order = {0, 4, 1, 5, 2, 6, 3, 7};
    return result;
}

TEST(Devices, TypesAreTheProductNamesInLowerCaseWithoutBlanks) {
    EXPECT_EQ(gpu_type("NVIDIA A100-SXM4-40GB"), "nvidia_a100-sxm4-40gb");
    EXPECT_EQ(gpu_type("Tesla V100"), "tesla_v100");
}

TEST(Devices, FoundGpusHaveTheTypeThatIsPartOfTheirName) {
    const std::vector<NvmlGpu> found = {{"NVIDIA H100 PCIe", 3, {2, 3, 6, 7}},
                                        {"NVIDIA A40", 0, {0, 1, 4, 5}},
                                        {"NVIDIA A40", 1, {0, 1, 2, 3, 4, 5, 6, 7}}};
    const NodeDevices devices = merge_devices(node_with({{"gpu", "a40", 1}, {"gpu", "H100", 1}}),
                                              {}, {.gpus = found}, hardware());
    ASSERT_EQ(devices.gres.size(), 2u);
    EXPECT_EQ(devices.gres[0].type, "H100");
    EXPECT_EQ(devices.gres[0].files, std::vector<std::string>{"/dev/nvidia3"});
    EXPECT_EQ(devices.gres[0].cores, "2-3");
    EXPECT_EQ(devices.gres[1].type, "a40");
    EXPECT_EQ(devices.gres[1].cores, "0-1");
    ASSERT_EQ(devices.notes.size(), 3u);
    EXPECT_EQ(devices.notes[0],
              "AutoDetect=nvml: nvidia_h100_pcie /dev/nvidia3: gpu:H100 Cores=2-3");
    EXPECT_NE(devices.notes[2].find("/dev/nvidia1: not used"), std::string::npos);
}

TEST(Devices, WithoutATypeInSlurmConfTheNameIsTheType) {
    const NodeDevices devices =
        merge_devices(node_with({{"gpu", "", 2}}), {},
                      {.gpus = {{"NVIDIA A40", 0, {}}, {"NVIDIA L4", 1, {}}}}, hardware());
    ASSERT_EQ(devices.gres.size(), 2u);
    EXPECT_EQ(devices.gres[0].type, "nvidia_a40");
    EXPECT_EQ(devices.gres[1].type, "nvidia_l4");
    EXPECT_EQ(devices.gres[0].cores, "");
}

TEST(Devices, WhatGresConfDescribesIsNotAddedAgain) {
    const NodeDevices devices =
        merge_devices(node_with({{"gpu", "a40", 2}}), {gpus("a40", {"/dev/nvidia1"})},
                      {.gpus = {{"NVIDIA A40", 0, {}}, {"NVIDIA A40", 1, {}}}}, hardware());
    ASSERT_EQ(devices.gres.size(), 2u);
    EXPECT_EQ(devices.gres[0].files, std::vector<std::string>{"/dev/nvidia1"});
    EXPECT_EQ(devices.gres[1].files, std::vector<std::string>{"/dev/nvidia0"});
}

NvmlGpu gpu_at(std::string name, std::uint32_t minor, std::string bus_id,
               std::vector<std::string> peers) {
    NvmlGpu gpu{std::move(name), minor, {}};
    gpu.uuid = fmt::format("GPU-{}", minor);
    gpu.bus_id = std::move(bus_id);
    gpu.peers = std::move(peers);
    return gpu;
}

TEST(Devices, FoundGpusHaveUuidsLinksAndTheVariablesOfTheirMaker) {
    const Detected detected{
        .gpus = {gpu_at("NVIDIA A40", 0, "0000:01:00.0", {"0000:02:00.0", "0000:02:00.0"}),
                 gpu_at("NVIDIA A40", 1, "0000:02:00.0", {"0000:01:00.0", "0000:01:00.0"})}};
    const NodeDevices devices =
        merge_devices(node_with({{"gpu", "a40", 2}}), {}, detected, hardware());
    ASSERT_EQ(devices.gres.size(), 2u);
    EXPECT_EQ(devices.gres[0].links, "-1,2");
    EXPECT_EQ(devices.gres[1].links, "2,-1");
    EXPECT_EQ(devices.gres[1].uuids, std::vector<std::string>{"GPU-1"});
    EXPECT_EQ(devices.gres[0].flags, "nvidia_gpu_env");
}

TEST(Devices, MigDevicesReplaceTheirGpu) {
    NvmlGpu split = gpu_at("NVIDIA A100-SXM4-40GB", 0, "0000:01:00.0", {});
    split.migs = {{"3g.20gb", "MIG-1", 1, 0}, {"1g.5gb", "MIG-2", 7, 0}};
    const Detected detected{
        .gpus = {split, gpu_at("NVIDIA A100-SXM4-40GB", 1, "0000:02:00.0", {})},
        .mig_minors = "gpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\ngpu0/gi7/access 66\n"};
    const NodeDevices devices =
        merge_devices(node_with({{"gpu", "a100", 1}, {"gpu", "3g.20gb", 1}, {"gpu", "1g.5gb", 1}}),
                      {}, detected, hardware());
    ASSERT_EQ(devices.gres.size(), 3u);
    EXPECT_EQ(devices.gres[0].type, "3g.20gb");
    EXPECT_EQ(devices.gres[0].files,
              std::vector<std::string>{"/dev/nvidia0,/dev/nvidia-caps/nvidia-cap12,"
                                       "/dev/nvidia-caps/nvidia-cap13"});
    EXPECT_EQ(devices.gres[0].uuids, std::vector<std::string>{"MIG-1"});
    EXPECT_EQ(devices.gres[1].type, "1g.5gb");
    EXPECT_EQ(devices.gres[2].type, "a100");
}

TEST(Devices, WhatGresConfSaysIsCompletedAndCompared) {
    const NodeConfig node = node_with({{"gpu", "a40", 2}});
    const Detected detected{.gpus = {{"NVIDIA A40", 0, {0, 1, 4, 5}}, {"NVIDIA A40", 1, {2, 3}}}};
    NodeDevices devices =
        merge_devices(node, {gpus("a40", {"/dev/nvidia0", "/dev/nvidia1"})}, detected, hardware());
    ASSERT_EQ(devices.gres.size(), 2u);
    EXPECT_EQ(devices.gres[0].cores, "0-1");
    EXPECT_EQ(devices.gres[1].cores, "2-3");
    EXPECT_EQ(devices.problem, "");

    GresDevices wrong = gpus("a40", {"/dev/nvidia0"});
    wrong.cores = "2-3";
    devices = merge_devices(node, {wrong}, detected, hardware());
    EXPECT_NE(devices.problem.find("/dev/nvidia0: Cores=2-3 of gres.conf, but Cores=0-1 are found"),
              std::string::npos)
        << devices.problem;
}

TEST(Devices, ALineWithoutFilesNamesFoundGpusByType) {
    GresDevices line = gpus("l4", {});
    line.count = 1;
    line.flags = "no_gpu_env";
    const NodeDevices devices =
        merge_devices(node_with({{"gpu", "l4", 1}, {"gpu", "a40", 1}}), {line},
                      {.gpus = {{"NVIDIA A40", 0, {}}, {"NVIDIA L4", 1, {}}}}, hardware());
    ASSERT_EQ(devices.gres.size(), 2u);
    EXPECT_EQ(devices.gres[0].files, std::vector<std::string>{"/dev/nvidia1"});
    EXPECT_EQ(devices.gres[0].flags, "no_gpu_env");
    EXPECT_EQ(devices.gres[1].type, "a40");
}

TEST(Devices, AMissingFileIsNamed) {
    EXPECT_EQ(missing_file({gpus("a40", {"/dev/null", "/dev/zero"})}), "");
    EXPECT_EQ(missing_file({gpus("a40", {"/dev/null", "/dev/nosuch0"})}),
              "gres/gpu: can't stat gres.conf file /dev/nosuch0: No such file or directory");
    EXPECT_EQ(missing_file({gpus("mig", {"/dev/null,/dev/nosuch1"})}),
              "gres/gpu: can't stat gres.conf file /dev/nosuch1: No such file or directory");
}

wire::NodeShare share_with(const std::vector<std::uint32_t>& indexes) {
    wire::NodeShare share;
    wire::NodeShare::Devices& devices = *share.add_gres();
    devices.set_name("gpu");
    for (std::uint32_t index : indexes) devices.add_indexes(index);
    return share;
}

std::vector<std::uint32_t> indexes_of(const wire::NodeShare& share) {
    return {share.gres(0).indexes().begin(), share.gres(0).indexes().end()};
}

TEST(Devices, TheControllersNumbersBecomeThoseOfTheNode) {
    // The controller counts type by type: 0 is the A40, 1 and 2 are the H100s.
    const NodeConfig node = node_with({{"gpu", "a40", 1}, {"gpu", "h100", 2}});
    const std::vector<GresDevices> gres = {gpus("h100", {"/dev/a", "/dev/b"}),
                                           gpus("a40", {"/dev/c"})};
    wire::NodeShare share = share_with({0, 1});
    renumber(node, gres, share);
    EXPECT_EQ(indexes_of(share), (std::vector<std::uint32_t>{0, 2}));
    share = share_with({2});
    renumber(node, gres, share);
    EXPECT_EQ(indexes_of(share), std::vector<std::uint32_t>{1});
    share = share_with({1, 2});
    renumber(node, {}, share);  // not described: as the controller has them
    EXPECT_EQ(indexes_of(share), (std::vector<std::uint32_t>{1, 2}));
}

Site site_with(std::vector<GresDevices> gres) {
    Site site;
    site.node = node_with({{"gpu", "", 4}});
    site.hardware = hardware();
    site.gres = std::move(gres);
    site.cgroups = true;
    site.constrains_devices = true;
    return site;
}

std::vector<std::string> denied(const wire::Confinement& confinement) {
    return {confinement.devices_denied().begin(), confinement.devices_denied().end()};
}

TEST(Confinement, AStepIsKeptFromTheDevicesOfOthers) {
    const Site site = site_with({gpus("a40", {"/dev/g0", "/dev/g1"}), gpus("l4", {"/dev/g2"})});
    EXPECT_EQ(denied(confinement_of(site, share_with({1}), 0, false)),
              (std::vector<std::string>{"/dev/g0", "/dev/g2"}));
    EXPECT_EQ(denied(confinement_of(site, share_with({0, 1, 2}), 0, true)),
              std::vector<std::string>{});
    EXPECT_EQ(denied(confinement_of(site, wire::NodeShare{}, 0, true)),
              (std::vector<std::string>{"/dev/g0", "/dev/g1", "/dev/g2"}));
}

TEST(Confinement, AFileThatSeveralDevicesHaveIsOpenToEachOfThem) {
    const Site site = site_with({gpus("mig", {"/dev/g0,/dev/cap1", "/dev/g0,/dev/cap2"})});
    EXPECT_EQ(denied(confinement_of(site, share_with({0}), 0, false)),
              std::vector<std::string>{"/dev/cap2"});
}

// Programs number GPUs from 0 only where they see no others than the step's.
TEST(Confinement, GpusAreNumberedFromZeroOnlyWhereAllOthersAreDenied) {
    for (const bool batch : {true, false}) {
        Site site = site_with({gpus("a40", {"/dev/g0", "/dev/g1"})});
        auto relative = [&] {
            return confinement_of(site, share_with({1}), 0, batch).devices_constrained();
        };
        EXPECT_TRUE(relative());
        site.constrains_devices = false;  // not asked for, or it does not work here
        EXPECT_FALSE(relative());
        EXPECT_TRUE(denied(confinement_of(site, share_with({1}), 0, batch)).empty());
        site.constrains_devices = true;
        site.cgroups = false;
        EXPECT_FALSE(relative());
        site.cgroups = true;
        site.gres.push_back({.name = "gpu", .type = "l4", .count = 1});  // no file to deny
        EXPECT_FALSE(relative());
        site.gres.clear();
        EXPECT_FALSE(relative());
    }
}

TEST(Confinement, EveryStepBringsTheJobsMemoryLimit) {
    Site site = site_with({});
    wire::NodeShare share;
    share.set_memory(100);
    EXPECT_FALSE(confinement_of(site, share, 400, false).has_job_memory());
    site.config.cgroup.constrain_ram_space = true;
    wire::Confinement step = confinement_of(site, share, 400, false);
    EXPECT_EQ(step.job_memory(), 400u << 20);
    EXPECT_EQ(step.step_memory(), 100u << 20);
    EXPECT_FALSE(step.has_job_swap() || step.has_swap());
    site.config.cgroup.constrain_swap_space = true;
    site.config.cgroup.allowed_swap_space = 50;
    step = confinement_of(site, share, 400, false);
    EXPECT_EQ(step.job_swap(), 200u << 20);
    EXPECT_EQ(step.swap(), 50u << 20);
    site.config.cgroup.max_swap_percent = 5;  // of 10000 MB, memory included
    EXPECT_EQ(confinement_of(site, share, 400, false).job_swap(), 100u << 20);
    share.clear_memory();
    step = confinement_of(site, share, 400, false);
    EXPECT_TRUE(step.has_job_memory());
    EXPECT_FALSE(step.has_step_memory());
}

TEST(GpuWords, AreTheVariablesOfTheLineAndThePercentageOfMps) {
    GresDevices amd = gpus("mi", {"/dev/a0"});
    amd.flags = "amd_gpu_env";
    amd.uuids = {"GPU-aa"};
    Site site = site_with({amd, gpus("l4", {"/dev/b0"})});
    wire::GpuWords words = gpu_words(site, share_with({0}));
    ASSERT_EQ(words.variables_size(), 1);
    EXPECT_EQ(words.variables(0), "ROCR_VISIBLE_DEVICES");
    EXPECT_EQ(words.uuids(0), "GPU-aa");
    EXPECT_EQ(gpu_words(site, share_with({1})).variables_size(), 4);

    site.node = node_with({{"gpu", "", 2}, {"mps", "", 400}});
    wire::NodeShare share = share_with({1});
    share.mutable_gres(0)->set_name("mps");
    share.mutable_gres(0)->add_parts(50);
    words = gpu_words(site, share);
    EXPECT_EQ(words.mps_percent(), 25u);
    ASSERT_EQ(words.variables_size(), 1);
    EXPECT_EQ(words.variables(0), "CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace sluice
