// What one turn of the controller makes of its events.
#include "turn/decider.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

constexpr Time kStart = from_unix(1'800'000'000);
constexpr Caller kUser{UserId{1000}, GroupId{100}};

Settings two_nodes() {
    Settings settings;
    settings.nodes.push_back({.name = "n1", .cpus = 4, .real_memory = 1000});
    settings.nodes.push_back({.name = "n2", .cpus = 4, .real_memory = 1000});
    settings.partitions.push_back({.name = "debug", .nodes = {"n1", "n2"}, .is_default = true});
    settings.config_overrides = true;
    return settings;
}

class Turns : public testing::Test {
protected:
    static std::unique_ptr<Cluster> cluster() {
        return std::make_unique<Cluster>(std::make_shared<const Settings>(two_nodes()), kStart);
    }
    SubmitJob submission(std::uint64_t request) {
        auto job = std::make_shared<JobRequest>();
        job->name = "job";
        return {RequestId{request}, kUser, job, "key" + std::to_string(request), false};
    }

    Decider decider_{cluster()};
};

TEST_F(Turns, AWelcomeComesBeforeTheOrdersOfTheSameTurn) {
    decider_.begin({.now = kStart});
    ASSERT_NE(decider_.decide(submission(7), RequestId{7}), nullptr);
    EXPECT_EQ(decider_.decide(NodeRegistered{"n2", {}, {}}), nullptr);
    decider_.pass();
    const Decisions decisions = decider_.finish();
    ASSERT_EQ(decisions.orders.size(), 2u);
    EXPECT_EQ(decisions.orders[0].node, "n2");
    EXPECT_EQ(std::get<NodeWelcome>(decisions.orders[0].order).index, NodeIndex{1});
    EXPECT_EQ(decisions.orders[1].node, "n2");
    EXPECT_TRUE(std::holds_alternative<LaunchBatch>(decisions.orders[1].order));
    ASSERT_EQ(decisions.replies.size(), 1u);
    EXPECT_EQ(decisions.replies[0].request, RequestId{7});
    EXPECT_EQ(decisions.changes.jobs.size(), 1u);
    EXPECT_EQ(*decisions.node_names, (NodeNames{"n1", "n2"}));
    decider_.begin({.now = kStart});
    EXPECT_TRUE(decider_.finish().orders.empty());  // they were taken out
}

TEST_F(Turns, ARefusalWithoutADecisionIsAnAnswer) {
    decider_.begin({.now = kStart});
    const Answer* answer = decider_.refuse(RequestId{7}, {ErrorCode::StoreFailed, "full"});
    EXPECT_EQ(std::get<Error>(*answer).detail, "full");
    const Decisions decisions = decider_.finish();
    ASSERT_EQ(decisions.replies.size(), 1u);
    EXPECT_TRUE(decisions.changes.jobs.empty());
}

TEST_F(Turns, NodesAreNamedAsTheLastConfigurationHasThem) {
    Settings other = two_nodes();
    other.nodes.push_back({.name = "n3", .cpus = 4, .real_memory = 1000});
    decider_.begin({.now = kStart});
    decider_.decide(Reconfigure{{}, kRoot, std::make_shared<const Settings>(other)});
    EXPECT_EQ(decider_.finish().node_names->size(), 3u);
}

// What arrived meanwhile is read first: it may say that a node is there.
TEST_F(Turns, TimersWaitAfterTheControllerWasBlocked) {
    decider_.begin({.now = kStart});
    decider_.decide(NodeRegistered{"n1", {}, {}});
    decider_.finish();
    const std::optional<Time> due = decider_.next_tick();
    ASSERT_TRUE(due);
    decider_.begin({.now = *due + Seconds{100}, .blocked = Seconds{100}});
    EXPECT_GT(*decider_.next_tick(), *due + Seconds{100});
    EXPECT_FALSE(decider_.tick(0, 0));
    decider_.finish();
    const Time later = *decider_.next_tick();
    decider_.begin({.now = later});
    EXPECT_FALSE(decider_.tick(0, 3));  // three more have arrived
    EXPECT_TRUE(decider_.tick(3, 5));   // these are decided; later arrivals do not count
}

}  // namespace
}  // namespace sluice
