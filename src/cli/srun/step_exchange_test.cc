#include "cli/srun/step_exchange.h"

#include <gtest/gtest.h>

#include "model/sizes.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

class Exchanging : public testing::Test {
protected:
    Result<void> add(std::uint32_t node, std::string data, std::vector<std::uint32_t> nodes = {},
                     const char* key = "k") {
        wire::Exchange contribution;
        contribution.set_key(key);
        for (std::uint32_t each : nodes) contribution.add_nodes(each);
        contribution.set_data(std::move(data));
        return exchange_.add(node, contribution);
    }
    // What a node was sent, put together.
    std::string whole(std::uint32_t node) {
        FrameReader reader(kStepInputSizeMax);
        reader.feed(sent_[node]);
        std::string data;
        bool is_last = false;
        while (auto frame = reader.next().value()) {
            const wire::Exchanged piece = decode<wire::StepInput>(*frame).value().exchanged();
            data += piece.data();
            EXPECT_FALSE(is_last);
            is_last = piece.last();
        }
        EXPECT_TRUE(is_last || sent_[node].empty());
        return data;
    }

    std::map<std::uint32_t, std::string> sent_;
    StepExchange exchange_{3, [this](std::optional<std::uint32_t> node, const std::string& frame) {
                               for (std::uint32_t each : {0, 1, 2}) {
                                   if (node.value_or(each) == each) sent_[each] += frame;
                               }
                           }};
};

TEST_F(Exchanging, AllNodesGetAllContributionsWhenTheLastIsThere) {
    ASSERT_TRUE(add(2, "c"));
    ASSERT_TRUE(add(0, "a"));
    EXPECT_TRUE(sent_.empty());
    ASSERT_TRUE(add(1, ""));
    for (std::uint32_t node : {0, 1, 2}) EXPECT_EQ(whole(node), "ac");
}

TEST_F(Exchanging, SomeNodesDoNotDisturbTheOthers) {
    ASSERT_TRUE(add(0, "a", {0, 2}, "some"));
    ASSERT_TRUE(add(1, "x", {}, "all"));
    ASSERT_TRUE(add(2, "c", {0, 2}, "some"));
    EXPECT_EQ(whole(0), "ac");
    EXPECT_EQ(whole(2), "ac");
    EXPECT_EQ(sent_.count(1), 0u);
}

TEST_F(Exchanging, LargeResultsComeInPieces) {
    const std::string large(1u << 20, 'x');
    for (std::uint32_t node : {0, 1, 2}) ASSERT_TRUE(add(node, large));
    EXPECT_EQ(whole(1).size(), 3u << 20);
}

TEST_F(Exchanging, RefusesWhatIsTooLargeOrOfNoNode) {
    EXPECT_FALSE(add(0, "", {0, 3}));
    EXPECT_FALSE(add(0, "", {2, 1}));
    EXPECT_FALSE(add(0, "", {1, 2}));  // and it takes no part
    EXPECT_FALSE(add(0, "", {}, std::string(2000, 'k').c_str()));
    ASSERT_TRUE(add(0, std::string(sizes::kExchange / 2, 'x'), {}, "large"));
    EXPECT_FALSE(add(0, "again", {}, "large"));
    EXPECT_FALSE(add(1, std::string(sizes::kExchange / 2 + 1, 'x'), {}, "large"));
}

TEST_F(Exchanging, AParcelNamesItsSender) {
    wire::Parcel parcel;
    parcel.set_node(2);
    parcel.set_number(5);
    ASSERT_TRUE(exchange_.pass_on(0, parcel));
    FrameReader reader;
    reader.feed(sent_[2]);
    const wire::Parcel got = decode<wire::StepInput>(*reader.next().value()).value().parcel();
    EXPECT_EQ(got.node(), 0u);
    EXPECT_EQ(got.number(), 5u);
    parcel.set_node(3);
    EXPECT_FALSE(exchange_.pass_on(0, parcel));
    parcel.set_node(1);
    parcel.set_data(std::string(kStepInputSizeMax, 'x'));
    EXPECT_FALSE(exchange_.pass_on(0, parcel));
}

}  // namespace
}  // namespace sluice
