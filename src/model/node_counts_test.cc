// Every way to write -N, and the counts that it allows.
#include "model/node_counts.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

TEST(WantedNodes, AreNumbersRangesAndLists) {
    EXPECT_EQ(parse_node_counts("4").value(), (WantedNodes{4, 4, ""}));
    EXPECT_EQ(parse_node_counts("2-8").value(), (WantedNodes{2, 8, ""}));
    EXPECT_EQ(parse_node_counts("9,1,5").value(), (WantedNodes{1, 9, "9,1,5"}));
    EXPECT_EQ(parse_node_counts("2-16:2").value(), (WantedNodes{2, 16, "2-16:2"}));
    EXPECT_EQ(parse_node_counts("1-15:4").value(), (WantedNodes{1, 13, "1-15:4"}));
    EXPECT_EQ(parse_node_counts("1,2,3").value(), (WantedNodes{1, 3, ""}));
}

TEST(WantedNodes, BadOnesAreRefused) {
    for (const char* text : {"", "x", "-1", "1-", "1-x", "3-2", "1,,2", "1,x", "2-16:", "2-16:0",
                             "1:2", ",", "99999999999", "16-2:2", "1,99999999999"}) {
        Result<WantedNodes> counts = parse_node_counts(text);
        ASSERT_FALSE(counts) << text;
        EXPECT_EQ(counts.error().code, ErrorCode::BadArgument) << text;
    }
    for (const char* text : {"0", "0-4", "0,4"}) {
        EXPECT_EQ(parse_node_counts(text).error().code, ErrorCode::InvalidNodeCount) << text;
    }
}

TEST(WantedNodes, SizesAreFoundFromBothSides) {
    const TaskSet sizes = parse_node_sizes("1,5,8-16:4").value();
    EXPECT_EQ(next_size(sizes, 1), 1u);
    EXPECT_EQ(next_size(sizes, 2), 5u);
    EXPECT_EQ(next_size(sizes, 9), 12u);
    EXPECT_EQ(next_size(sizes, 17), 0u);
    EXPECT_EQ(last_size(sizes, 100), 16u);
    EXPECT_EQ(last_size(sizes, 15), 12u);
    EXPECT_EQ(last_size(sizes, 7), 5u);
    EXPECT_EQ(last_size(sizes, 0), 0u);
}

}  // namespace
}  // namespace sluice
