#include "stage/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

namespace sluice::stage {
namespace {

constexpr std::size_t kPieces = 400;

std::vector<PlannedPeer> peers_of(const std::string& me, const std::vector<std::string>& nodes) {
    std::vector<PlannedPeer> peers;
    for (const std::string& node : nodes) {
        if (node != me) peers.push_back({node, true});
    }
    return peers;
}

// All that a node may read when its peers have nothing yet.
std::set<std::size_t> read_by(FetchPlan& plan, std::size_t peers) {
    for (std::size_t i = 0; i < peers; ++i) plan.heard(i, "");
    std::set<std::size_t> pieces;
    while (true) {
        const std::optional<std::size_t> piece = plan.next_own();
        if (!piece) return pieces;
        pieces.insert(*piece);
    }
}

TEST(FetchPlan, EachPieceIsReadByOneNodeOfTheJob) {
    const std::vector<std::string> nodes = {"n1", "n2", "n3", "n4"};
    std::map<std::size_t, int> read;
    for (const std::string& me : nodes) {
        FetchPlan plan(kPieces, me, peers_of(me, nodes));
        const std::set<std::size_t> own = read_by(plan, 3);
        EXPECT_GT(own.size(), kPieces / 8) << me;  // they share the work
        for (const std::size_t piece : own) ++read[piece];
    }
    EXPECT_EQ(read.size(), kPieces);
    for (const auto& [piece, times] : read) EXPECT_EQ(times, 1) << piece;
}

TEST(FetchPlan, NothingIsReadBeforeTheOtherNodesHaveAnswered) {
    FetchPlan plan(4, "n1", {{"n2", true}});
    EXPECT_FALSE(plan.next_own());
    plan.heard(0, std::string("\1\1\1\1", 4));  // it has all of them
    EXPECT_FALSE(plan.next_own());
    EXPECT_EQ(plan.next_from_peer(0, std::string("\0\0\1\0", 4)), 2u);
    EXPECT_FALSE(plan.next_from_peer(0, std::string("\0\0\1\0", 4)));  // taken
}

TEST(FetchPlan, ANodeOfAnotherJobIsWaitedForUntilItIsLost) {
    FetchPlan plan(4, "n1", {{"n9", false}});
    plan.heard(0, std::string(4, '\0'));
    EXPECT_FALSE(plan.next_own());
    plan.lost(0);
    EXPECT_EQ(read_by(plan, 0).size(), 4u);
}

TEST(FetchPlan, APieceWithWrongBytesIsReadFromTheSource) {
    FetchPlan plan(1, "n1", {{"n2", true}});
    const std::string here(1, '\1');
    plan.heard(0, here);
    ASSERT_EQ(plan.next_from_peer(0, here), 0u);
    plan.bad(0);
    EXPECT_FALSE(plan.next_from_peer(0, here));
    EXPECT_EQ(plan.next_own(), 0u);
    plan.done(0);
    EXPECT_TRUE(plan.is_over());
}

TEST(FetchPlan, TheWorkOfALostNodeIsSharedByTheOthers) {
    const std::vector<std::string> nodes = {"n1", "n2", "n3"};
    std::map<std::size_t, int> read;
    for (const std::string me : {"n1", "n2"}) {
        FetchPlan plan(kPieces, me, peers_of(me, nodes));
        plan.lost(1);  // n3 is the second peer of both
        for (const std::size_t piece : read_by(plan, 2)) ++read[piece];
    }
    EXPECT_EQ(read.size(), kPieces);
    for (const auto& [piece, times] : read) EXPECT_EQ(times, 1) << piece;
}

TEST(FetchPlan, AStopWakesThoseThatWait) {
    FetchPlan plan(1, "n1", {{"n2", true}});
    std::thread waiting([&] { EXPECT_FALSE(plan.next_from_source()); });
    plan.stop();
    waiting.join();
}

}  // namespace
}  // namespace sluice::stage
