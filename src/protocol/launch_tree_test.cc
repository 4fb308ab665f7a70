// protocol/launch_tree_test.cc
#include "protocol/launch_tree.h"

#include <gtest/gtest.h>

#include "protocol/frame.h"

namespace sluice {
namespace {

TEST(LaunchTree, BranchesHaveAllNodesOnceInOrder) {
    EXPECT_EQ(branches(0, 16), std::vector<Branch>{});
    EXPECT_EQ(branches(3, 16), (std::vector<Branch>{{0, 1}, {1, 1}, {2, 1}}));
    EXPECT_EQ(branches(7, 3), (std::vector<Branch>{{0, 3}, {3, 2}, {5, 2}}));
    EXPECT_EQ(branches(5, 1), (std::vector<Branch>{{0, 5}}));
    for (std::size_t nodes : {16u, 17u, 500u, 10'000u}) {
        std::size_t next = 0;
        for (const Branch& each : branches(nodes, 16)) {
            EXPECT_EQ(each.start, next);
            EXPECT_GE(each.count, 1u);
            next += each.count;
        }
        EXPECT_EQ(next, nodes);
        EXPECT_EQ(branches(nodes, 16).size(), 16u);
    }
}

TEST(LaunchTree, AMessageCarriesItsNodeInItsFirstBytes) {
    for (std::uint32_t rank : {0u, 1u, 127u, 128u, 9'999u, 0xffffffffu}) {
        wire::StepInput first, second;
        first.set_signal(15);
        second.mutable_input()->set_data(std::string(300, 'x'));
        std::string frames;
        append_frame(frames, first);
        append_frame(frames, second);
        FrameReader reader;
        reader.feed(with_node_rank(frames, rank));
        for (const wire::StepInput& sent : {first, second}) {
            const std::string message(*reader.next().value());
            EXPECT_EQ(leading_node_rank(message), rank);
            wire::StepInput got = decode<wire::StepInput>(message).value();
            EXPECT_EQ(got.node_rank(), rank);
            got.clear_node_rank();
            EXPECT_EQ(got.SerializeAsString(), sent.SerializeAsString());
        }
        EXPECT_FALSE(*reader.next());
    }
}

TEST(LaunchTree, AMessageWithoutANodeIsForAll) {
    wire::StepInput input;
    input.set_signal(15);
    EXPECT_EQ(leading_node_rank(input.SerializeAsString()), std::nullopt);
    EXPECT_EQ(leading_node_rank(""), std::nullopt);
    EXPECT_EQ(leading_node_rank("\x78"), std::nullopt) << "it is cut off";
    EXPECT_EQ(leading_node_rank("\x78\xff\xff\xff\xff\xff\xff"), std::nullopt) << "it has no end";
}

TEST(LaunchTree, KnowsTheEndOfANode) {
    wire::StepOutput output;
    output.mutable_done();
    EXPECT_TRUE(is_step_done(output.SerializeAsString()));
    output.mutable_aborted();
    EXPECT_FALSE(is_step_done(output.SerializeAsString()));
    EXPECT_FALSE(is_step_done(""));
}

TEST(LaunchTree, ANodeGetsTheCommonPartAndItsOwn) {
    wire::LaunchTree tree;
    tree.set_width(2);
    tree.mutable_common()->set_total_tasks(3);
    tree.mutable_common()->mutable_spec()->add_argv("a");
    for (const char* name : {"n1", "n2", "n3"}) tree.add_nodes()->mutable_launch()->set_node(name);
    const wire::LaunchTree part = subtree(tree, {1, 2});
    ASSERT_EQ(part.nodes_size(), 2);
    EXPECT_EQ(part.width(), 2u);
    const wire::LaunchTasks launch = launch_of(part.common(), part.nodes(0).launch());
    EXPECT_EQ(launch.node(), "n2");
    EXPECT_EQ(launch.total_tasks(), 3u);
    EXPECT_EQ(launch.spec().argv_size(), 1);
}

}  // namespace
}  // namespace sluice
