#include "model/distribution.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Counts = std::vector<std::uint32_t>;
using Numbers = std::vector<std::vector<std::uint32_t>>;

constexpr Distribution kBlock{}, kCyclic{Distribution::Kind::Cyclic};
constexpr Distribution kPlanes{Distribution::Kind::Plane, 2};

std::string parsed(std::string_view text) {
    Result<std::string> normalized = parse_distribution(text);
    return normalized ? *normalized : "refused: " + normalized.error().detail;
}

TEST(Distribution, IsKeptInTheWordsThatStepsAreTold) {
    EXPECT_EQ(parsed("Cyclic:FCyclic"), "cyclic:fcyclic");
    EXPECT_EQ(parsed("*:*:*"), "block:cyclic:cyclic");
    EXPECT_EQ(parsed("block:block,NoPack"), "block:block,nopack");
    EXPECT_EQ(parsed("pack"), "block,pack");
    EXPECT_EQ(parsed("plane=4"), "plane=4");
    EXPECT_EQ(parsed("Arbitrary"), "arbitrary");
    for (const char* wrong : {"", "foo", "block:foo", "fcyclic", "block,foo", "a:b:c:d"}) {
        EXPECT_EQ(parsed(wrong), "refused: ") << wrong;
    }
    for (const char* wrong : {"plane", "plane=", "plane=0", "plane=-1", "plane=2:cyclic"}) {
        EXPECT_EQ(parsed(wrong), "refused: Invalid plane size or size not specified") << wrong;
    }
}

TEST(Distribution, IsShownByScontrol) {
    EXPECT_EQ(print_distribution("block"), "Block");
    EXPECT_EQ(print_distribution("block:cyclic:block,nopack"), "BCyclicBlock,NoPack");
    EXPECT_EQ(print_distribution("cyclic:fcyclic"), "CCFull");
    EXPECT_EQ(print_distribution("plane=4"), "Plane");
}

TEST(Distribution, EveryNodeHasATaskIfThereAreEnough) {
    const std::vector<TaskRoom> rooms = {{7, 7}, {1, 1}, {4, 4}};
    EXPECT_EQ(spread_tasks(1, rooms, kBlock), (Counts{1, 0, 0}));
    EXPECT_EQ(spread_tasks(5, rooms, kBlock), (Counts{3, 1, 1}));
    EXPECT_EQ(spread_tasks(10, rooms, kBlock), (Counts{7, 1, 2}));
    EXPECT_EQ(spread_tasks(8, rooms, kCyclic), (Counts{4, 1, 3}));
    EXPECT_EQ(spread_tasks(4, rooms, kPlanes), (Counts{2, 1, 1}));
    EXPECT_EQ(spread_tasks(7, rooms, kPlanes), (Counts{4, 1, 2}));
    EXPECT_EQ(spread_tasks(12, rooms, kCyclic), (Counts{7, 1, 4}));
    EXPECT_EQ(spread_tasks(13, rooms, kCyclic), Counts{});
    EXPECT_EQ(spread_tasks(3, {{0, 0}, {2, 2}, {2, 2}}, kBlock), (Counts{0, 2, 1}));
}

TEST(Distribution, OvercommittedTasksAreSpreadOverTheNodes) {
    const std::vector<TaskRoom> rooms = {{7, 512}, {1, 512}};
    EXPECT_EQ(spread_tasks(5, rooms, kBlock), (Counts{4, 1}));
    EXPECT_EQ(spread_tasks(13, rooms, kBlock), (Counts{10, 3}));
    EXPECT_EQ(spread_tasks(13, rooms, {Distribution::Kind::Plane, 4}), (Counts{11, 2}));
    EXPECT_EQ(spread_tasks(13, rooms, kCyclic), (Counts{9, 4}));
    EXPECT_EQ(spread_tasks(12, {{8, 512}, {1, 512}}, kCyclic), (Counts{9, 3}));
    EXPECT_EQ(spread_tasks(9, {{8, 512}, {1, 512}}, kCyclic), (Counts{8, 1}));
    EXPECT_EQ(spread_tasks(9, {{8, 8}, {1, 1}}, kCyclic), (Counts{8, 1}));
    EXPECT_EQ(spread_tasks(1024, rooms, kCyclic), (Counts{512, 512}));
    EXPECT_EQ(spread_tasks(1025, rooms, kCyclic), Counts{});
}

TEST(Distribution, TasksAreNumberedInTurns) {
    EXPECT_EQ(number_tasks({3, 2}, kBlock), (Numbers{{0, 1, 2}, {3, 4}}));
    EXPECT_EQ(number_tasks({3, 2}, kCyclic), (Numbers{{0, 2, 4}, {1, 3}}));
    EXPECT_EQ(number_tasks({6, 1}, kPlanes), (Numbers{{0, 1, 3, 4, 5, 6}, {2}}));
    EXPECT_EQ(number_tasks({0, 2}, kCyclic), (Numbers{{}, {0, 1}}));
}

}  // namespace
}  // namespace sluice
