// model/usage_test.cc
#include "model/usage.h"

#include <gtest/gtest.h>

#include <limits>

#include "model/sizes.h"

namespace sluice {
namespace {

Usage measured(std::int64_t user, std::int64_t system, std::uint64_t rss, std::string node) {
    return {Microseconds{user}, Microseconds{system}, rss, std::move(node)};
}

TEST(Usage, OfANodeAddsCpuTimeAndKeepsTheLargestMemory) {
    Usage total;
    add_usage(total, measured(10, 1, 100, "n1"));
    add_usage(total, measured(20, 2, 300, "n2"));
    add_usage(total, measured(30, 3, 200, "n3"));
    EXPECT_EQ(total, measured(60, 6, 300, "n2"));
}

TEST(Usage, NamesANodeAlsoWhenNoMemoryWasMeasured) {
    Usage total;
    add_usage(total, measured(0, 0, 0, "n1"));
    EXPECT_EQ(total.rss_max_node, "n1");
}

Usage sampled(const std::string& node, std::uint32_t task, std::uint64_t amount) {
    TaskUsage tasks;
    tasks.tasks = 1;
    tasks.cpu_ms = {amount, amount, node, task, amount, node, task};
    tasks.cpu_khz = static_cast<std::uint32_t>(amount);
    Usage usage;
    usage.rss_max_node = node;
    usage.tasks = std::make_shared<const TaskUsage>(tasks);
    return usage;
}

TEST(Usage, OfTasksKeepsTheNodeAndTaskOfMostAndLeast) {
    Usage total;
    add_usage(total, sampled("n1", 0, 20));
    add_usage(total, sampled("n2", 1, 50));
    add_usage(total, sampled("n3", 2, 5));
    add_usage(total, sampled("n4", 3, 5));  // the first of equal ones stays
    ASSERT_TRUE(total.tasks);
    EXPECT_EQ(total.tasks->tasks, 4u);
    EXPECT_EQ(total.tasks->cpu_ms, (TaskAmounts{80, 50, "n2", 1, 5, "n3", 2}));
    EXPECT_EQ(total.tasks->cpu_khz, 20u) << "an average";
    EXPECT_EQ(total.tasks->rss_kb, TaskAmounts{}) << "was not measured";
    add_usage(total, measured(1, 1, 1, "n5"));  // without samples
    EXPECT_EQ(total.tasks->tasks, 4u);
}

TEST(Usage, SumsOfTasksDoNotOverflow) {
    Usage total;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    add_usage(total, sampled("n1", 0, most));
    add_usage(total, sampled("n2", 1, most));
    EXPECT_EQ(total.tasks->cpu_ms.total, most);
}

TEST(Usage, DoesNotOverflow) {
    Usage total;
    for (int i = 0; i < 100; ++i) add_usage(total, measured(sizes::kCpuMicroseconds, 0, 0, "n1"));
    EXPECT_EQ(total.cpu_user.count(), sizes::kCpuMicroseconds);
}

}  // namespace
}  // namespace sluice
