// config/nodes_test.cc: NodeName lines: ranges, defaults, addresses and ports.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

// "cpus sockets cores threads boards" of the node x.
std::string shape(std::string_view keys) {
    Config config = small_with("NodeName=x " + std::string(keys));
    const NodeConfig* node = config.find_node("x");
    if (!node) return "none";
    return fmt::format("{} {} {} {} {}", node->cpus, node->sockets, node->cores_per_socket,
                       node->threads_per_core, node->boards);
}

TEST(Nodes, ShapesAsSlurmDerivesThem) {
    EXPECT_EQ(shape(""), "1 1 1 1 1");
    EXPECT_EQ(shape("CPUs=4"), "4 4 1 1 1");
    EXPECT_EQ(shape("Procs=4"), "4 4 1 1 1");
    EXPECT_EQ(shape("CPUs=8 CoresPerSocket=2"), "8 4 2 1 1");
    EXPECT_EQ(shape("Sockets=2 CoresPerSocket=8"), "16 2 8 1 1");
    EXPECT_EQ(shape("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2"), "32 2 8 2 1");
    EXPECT_EQ(shape("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2"), "16 2 8 2 1");
    EXPECT_EQ(shape("Boards=2 SocketsPerBoard=2 CoresPerSocket=3 ThreadsPerCore=2"), "24 4 3 2 2");
    EXPECT_EQ(shape("CPUs=8 Boards=2 CoresPerSocket=2"), "8 4 2 1 2");
    EXPECT_EQ(shape("CPUs=8 CoresPerSocket=3"), "3 1 3 1 1");
    EXPECT_EQ(small_with("NodeName=x CPUs=8 CoresPerSocket=3").warnings,
              (std::vector<std::string>{
                  "slurm.conf line 5: CPUs=8 is neither Sockets, Sockets*CoresPerSocket nor "
                  "Sockets*CoresPerSocket*ThreadsPerCore; using CPUs=3"}));
}

TEST(Nodes, DefaultsApplyToTheLinesBelow) {
    Config config = must_parse(
        "ClusterName=c\nSlurmctldHost=a\nNodeName=a\nNodeName=DEFAULT CPUs=2 Feature=x\n"
        "NodeName=b Weight=5\nNodeName=DEFAULT RealMemory=7\nNodeName=c CPUs=3\nSlurmdPort=7000\n");
    EXPECT_EQ(config.find_node("a")->cpus, 1u);
    EXPECT_EQ(config.find_node("b")->cpus, 2u);
    EXPECT_EQ(config.find_node("b")->weight, 5u);
    EXPECT_EQ(config.find_node("c")->cpus, 3u);
    EXPECT_EQ(config.find_node("c")->real_memory, 7u);
    EXPECT_EQ(config.find_node("c")->features, std::vector<std::string>{"x"});
    EXPECT_EQ(config.find_node("a")->port, 7000);
}

TEST(Nodes, RangesOfAddressesAndPorts) {
    for (const char* ports : {"[7001-7003]", "7001-7003", "7001,7002-7003"}) {
        Config config = small_with(
            fmt::format("NodeName=x[1-3] NodeHostname=vm NodeAddr=10.0.0.[5-7] Port={}", ports));
        EXPECT_EQ(config.find_node("x2")->hostname, "vm");
        EXPECT_EQ(config.find_node("x2")->address, "10.0.0.6");
        EXPECT_EQ(config.find_node("x2")->port, 7002);
    }
    Config config = small_with("NodeName=x[1-2] NodeHostname=h[8-9] Port=7000");
    EXPECT_EQ(config.find_node("x2")->address, "h9");
    EXPECT_EQ(config.find_node("x2")->port, 7000);
    EXPECT_EQ(config.find_node("n1")->port, 6818);
}

TEST(Nodes, EverythingElseOnTheLine) {
    Config config = small_with(
        "GresTypes=gpu,nic\nNodeName=x CPUs=8 RealMemory=4G TmpDisk=100 MemSpecLimit=96 "
        "CoreSpecCount=2 Gres=gpu:a40:2,nic:no_consume:4 State=drain Reason=\"not yet\" "
        "Features=a,b Comment=hm");
    const NodeConfig& node = *config.find_node("x");
    EXPECT_EQ(node.real_memory, 4096u);
    EXPECT_EQ(node.mem_spec_limit, 96u);
    EXPECT_EQ(node.core_spec_count, 2u);
    EXPECT_EQ(node.cpu_spec_list.size(), 2u);
    EXPECT_EQ(node.gres, (std::vector<GresCount>{{"gpu", "a40", 2}, {"nic", "", 4}}));
    EXPECT_EQ(node.gres_text, "gpu:a40:2,nic:no_consume:4");
    EXPECT_EQ(node.gres_no_consume, std::vector<std::string>{"nic"});
    EXPECT_EQ(node.state, "DRAIN");
    EXPECT_EQ(node.reason, "not yet");
    EXPECT_EQ(node.comment, "hm");
    EXPECT_EQ(small_with("NodeName=x Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 CpuSpecList=0-2")
                  .find_node("x")
                  ->cpu_spec_list,
              (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Nodes, DownNodesChangeTheState) {
    Config config = small_with("DownNodes=n[2-3] State=DRAIN Reason=\"bad disk\"\nDownNodes=n4");
    EXPECT_EQ(config.down_nodes, (std::vector<std::pair<std::string, std::string>>{
                                     {"n2", "bad disk"}, {"n3", "bad disk"}, {"n4", ""}}));
    EXPECT_EQ(config.find_node("n3")->state, "DRAIN");
    EXPECT_EQ(config.find_node("n4")->state, "DOWN");
}

TEST(Nodes, ErrorsNameLineKeyAndValue) {
    const std::pair<const char*, const char*> cases[] = {
        {"NodeName=n2",
         "slurm.conf line 5: node 'n2' is defined twice, first in slurm.conf line 3"},
        {"NodeName=x[1-2],x1", "node 'x1' is defined twice"},
        {"NodeName=ALL", "NodeName=ALL: this name is reserved"},
        {"NodeName=x[1", "NodeName=x[1: expected names"},
        {"NodeName=x CPUs=0", "CPUs=0: expected a number from 1"},
        {"NodeName=x CPUs=-2", "CPUs=-2: expected a number"},
        {"NodeName=x Sockets=1000000 CoresPerSocket=1000000", "CPUs on one node"},
        {"NodeName=x Sockets=3 Boards=2 SocketsPerBoard=2", "Sockets=3 contradicts Boards=2"},
        {"NodeName=x RealMemory=64K", "RealMemory=64K: expected a number of megabytes"},
        {"NodeName=x RealMemory=10 MemSpecLimit=10", "MemSpecLimit=10 leaves nothing"},
        {"NodeName=x CoreSpecCount=1", "CoreSpecCount=1 leaves no core"},
        {"NodeName=x CPUs=4 CpuSpecList=4", "CpuSpecList=4: expected CPUs"},
        {"NodeName=x CPUs=4 CpuSpecList=0 CoreSpecCount=1", "exclude each other"},
        {"NodeName=x[1-3] Port=[1-2]", "Port=[1-2]: 2 ports for 3 nodes"},
        {"NodeName=x Port=99999", "Port=99999: expected a port"},
        {"NodeName=x[1-3] NodeAddr=y[1-2]", "NodeAddr=y[1-2]: 2 names for 3 nodes"},
        {"NodeName=x State=ASLEEP", "State=ASLEEP: expected one of UNKNOWN"},
        {"NodeName=x Gres=gpu:1", "Gres=gpu: 'gpu' is not in GresTypes="},
        {"GresTypes=gpu,shard\nNodeName=x Gres=shard:8",
         "NodeName=x Gres=shard:8: shard is a part of GPUs, and there is no gpu"},
        {"GresTypes=gpu\nNodeName=x Gres=gpu:4G", "Gres=gpu:4G: more than 1024 GPUs"},
        {"NodeName=x Gres=gpu:a:b:c", "Gres=gpu:a:b:c: expected name:count"},
        {"NodeName=x Sokets=2", "unrecognized key 'Sokets' (did you mean 'Sockets'?)"},
        {"DownNodes=zz", "DownNodes=zz: no node 'zz'"},
        {"DownNodes=n1 State=UP", "State=UP: expected one of DOWN"},
        {"NodeSet=s", "NodeSet=s: expected Nodes= or Feature="},
        {"NodeSet=n1 Feature=x", "NodeSet=n1: a node has this name"},
        {"NodeSet=s Nodes=n1\nNodeSet=s Nodes=n2", "NodeSet=s: defined twice"},
    };
    for (const auto& [line, expected] : cases) {
        EXPECT_NE(error_with(line).find(expected), std::string::npos)
            << line << " gives: " << error_with(line);
    }
}

}  // namespace
}  // namespace sluice
