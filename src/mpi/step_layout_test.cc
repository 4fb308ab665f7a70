#include "mpi/step_layout.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

wire::PmixSetup setup(const char* mapping, std::uint32_t tasks, std::uint32_t node,
                      const std::vector<std::uint32_t>& own) {
    wire::PmixSetup setup;
    setup.mutable_run()->set_job(12);
    setup.mutable_run()->set_step(3);
    setup.set_step_nodes("n[1-2]");
    setup.set_process_mapping(mapping);
    setup.set_total_tasks(tasks);
    setup.set_node_rank(node);
    for (std::uint32_t task : own) setup.add_task_ids(task);
    return setup;
}

TEST(StepLayout, BlocksAndCycles) {
    const Result<StepLayout> block = StepLayout::from(setup("(vector,(0,1,3),(1,1,1))", 4, 1, {3}));
    ASSERT_TRUE(block);
    EXPECT_EQ(block->name_space, "slurm.pmix.12.3");
    EXPECT_EQ(block->node_list(), "n1,n2");
    EXPECT_EQ(block->task_lists(), "0,1,2;3");
    EXPECT_EQ(block->local_rank(2), 2u);
    EXPECT_EQ(block->local_rank(3), 0u);
    const Result<StepLayout> cyclic =
        StepLayout::from(setup("(vector,(0,2,1),(0,2,1))", 4, 0, {0, 2}));
    ASSERT_TRUE(cyclic);
    EXPECT_EQ(cyclic->task_lists(), "0,2;1,3");
    EXPECT_EQ(cyclic->local_rank(3), 1u);
    EXPECT_EQ(cyclic->nodes_of({0, 2}), std::vector<std::uint32_t>{0});
    EXPECT_EQ(cyclic->nodes_of({1, 2}), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(cyclic->nodes_of({}), (std::vector<std::uint32_t>{0, 1}));
}

TEST(StepLayout, RefusesWhatDoesNotFitTogether) {
    EXPECT_FALSE(StepLayout::from(setup("(vector,(0,3,1))", 3, 0, {0})));  // three nodes
    EXPECT_FALSE(StepLayout::from(setup("(vector,(0,2,1))", 2, 2, {0})));
    EXPECT_FALSE(StepLayout::from(setup("(vector,(0,2,1))", 2, 0, {1})));
    EXPECT_FALSE(StepLayout::from(setup("", 2, 0, {0})));
}

TEST(StepLayout, ExchangesOfOtherTasksHaveOtherNames) {
    EXPECT_EQ(exchange_name({}), "all");
    EXPECT_EQ(exchange_name({0, 2, 5}), exchange_name({0, 2, 5}));
    EXPECT_NE(exchange_name({0, 2, 5}), exchange_name({0, 3, 5}));
}

}  // namespace
}  // namespace sluice
