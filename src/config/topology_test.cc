// config/topology_test.cc: topology.conf.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

constexpr std::string_view kTree =
    "SwitchName=s0 Nodes=n[1-2] LinkSpeed=100\nSwitchName=s1 Nodes=n[3-4]\n"
    "# the spine\nSwitchName=top Switches=s[0-1]\n";

std::string error_in_tree(std::string_view text) {
    std::vector<std::string> warnings;
    Result<std::vector<SwitchLine>> tree =
        parse_topology_conf(text, "/etc/topology.conf", warnings);
    return tree ? "no error" : tree.error().detail;
}

TEST(Topology, SwitchesKnowWhatIsBelowThem) {
    Config config = small_with("TopologyPlugin=topology/tree");
    Result<std::vector<SwitchLine>> tree =
        parse_topology_conf(kTree, "topology.conf", config.warnings);
    ASSERT_TRUE(tree);
    config.switches = *tree;
    EXPECT_TRUE(check_topology(config, "topology.conf"));
    ASSERT_EQ(config.switches.size(), 3u);
    EXPECT_EQ(config.switches[0].nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(config.switches[2].switches, (std::vector<std::string>{"s0", "s1"}));
    EXPECT_EQ(nodes_below(config, config.switches[2]).size(), 4u);
    EXPECT_EQ(switch_level(config, config.switches[2]), 1u);
    EXPECT_EQ(switches_above(config, "n3"), (std::vector<std::string>{"top", "s1"}));
    EXPECT_TRUE(switches_above(config, "n9").empty());
    config.switches = {{.name = "n1", .nodes = {"n1"}}};
    EXPECT_EQ(switches_above(config, "n1"), std::vector<std::string>{"n1"});
    EXPECT_TRUE(config.warnings.empty());
}

TEST(Topology, WhatIsNoTreeIsRefused) {
    EXPECT_EQ(error_in_tree("SwitchName=s0\n"),
              "topology.conf line 1: SwitchName=s0: expected either Nodes or Switches");
    EXPECT_EQ(error_in_tree("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"),
              "topology.conf line 2: SwitchName=a: defined twice");
    EXPECT_EQ(error_in_tree("SwitchName=a Switches=b\n"),
              "topology.conf line 1: Switches=b: no such switch");
    EXPECT_EQ(error_in_tree("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
              "topology.conf line 1: SwitchName=a: is above itself");
    EXPECT_EQ(error_in_tree("SwitchName=a Nodes=n1\nSwitchName=b Switches=a\n"
                            "SwitchName=c Switches=a\n"),
              "topology.conf line 3: Switches=a: is below 'b' already");
    EXPECT_EQ(error_in_tree("BlockName=b1 Nodes=n1\n"),
              "topology.conf line 1: BlockName: only SwitchName lines are supported");
}

TEST(Topology, NodesMustExistAndHaveOneSwitch) {
    Config config = small_with("TopologyPlugin=topology/tree");
    config.switches = {{.name = "a", .nodes = {"n1", "n9"}}};
    Result<void> unknown = check_topology(config, "/etc/topology.conf");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().detail, "topology.conf: Nodes=n9: no such node in slurm.conf");
    config.switches = {{.name = "a", .nodes = {"n1"}}, {.name = "b", .nodes = {"n1"}}};
    EXPECT_FALSE(check_topology(config, "/etc/topology.conf"));
}

}  // namespace
}  // namespace sluice
