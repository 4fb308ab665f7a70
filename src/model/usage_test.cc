// model/usage_test.cc
#include "model/usage.h"

#include <gtest/gtest.h>

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

TEST(Usage, DoesNotOverflow) {
    Usage total;
    for (int i = 0; i < 100; ++i) add_usage(total, measured(sizes::kCpuMicroseconds, 0, 0, "n1"));
    EXPECT_EQ(total.cpu_user.count(), sizes::kCpuMicroseconds);
}

}  // namespace
}  // namespace sluice
