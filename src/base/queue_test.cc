#include "base/queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace sluice {
namespace {

using Values = std::vector<int>;

TEST(Queue, GivesValuesInTheirOrderAndNoMoreThanAskedFor) {
    Queue<int> queue(5);
    for (int value : {1, 2, 3}) EXPECT_TRUE(queue.push(value));
    EXPECT_EQ(queue.size(), 3u);
    EXPECT_EQ(queue.take(2), (Values{1, 2}));
    EXPECT_EQ(queue.take(2), Values{3});
    EXPECT_EQ(queue.size(), 0u);
}

TEST(Queue, RefusesWhatIsAboveItsCapacity) {
    Queue<int> queue(2);
    EXPECT_TRUE(queue.try_push(1));
    EXPECT_TRUE(queue.try_push(2));
    EXPECT_FALSE(queue.try_push(3));
    EXPECT_EQ(queue.take(1), Values{1});
    EXPECT_TRUE(queue.try_push(4));
    EXPECT_EQ(queue.take(9), (Values{2, 4}));
}

TEST(Queue, ARefusedOfferStaysWithTheCaller) {
    Queue<std::unique_ptr<int>> queue(1);
    auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
    EXPECT_TRUE(queue.offer(first));
    EXPECT_EQ(first, nullptr);
    EXPECT_FALSE(queue.offer(second));
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(*second, 2);
}

TEST(Queue, AFullQueueMakesTheProducerWait) {
    Queue<int> queue(1);
    ASSERT_TRUE(queue.push(0));
    std::jthread producer([&] {
        for (int value = 1; value <= 100; ++value) EXPECT_TRUE(queue.push(value));
        queue.close();
    });
    Values taken;
    for (Values more = queue.take(10); !more.empty(); more = queue.take(10)) {
        EXPECT_EQ(more.size(), 1u);
        taken.insert(taken.end(), more.begin(), more.end());
    }
    ASSERT_EQ(taken.size(), 101u);
    for (int value = 0; value <= 100; ++value)
        EXPECT_EQ(taken[static_cast<std::size_t>(value)], value);
}

TEST(Queue, AClosedOneTakesNothingAndGivesWhatItHas) {
    Queue<int> queue(2);
    ASSERT_TRUE(queue.push(1));
    EXPECT_FALSE(queue.closed());
    queue.close();
    EXPECT_TRUE(queue.closed());
    EXPECT_FALSE(queue.finished());
    EXPECT_FALSE(queue.push(2));
    EXPECT_FALSE(queue.try_push(2));
    int value = 2;
    EXPECT_FALSE(queue.offer(value));
    EXPECT_EQ(queue.take(5), Values{1});
    EXPECT_TRUE(queue.finished());
    EXPECT_EQ(queue.take(5), Values{});
}

TEST(Queue, ClosingWakesProducersAndConsumers) {
    Queue<int> empty(1), full(1);
    ASSERT_TRUE(full.push(1));
    std::jthread consumer([&] { EXPECT_EQ(empty.take(1), Values{}); });
    std::jthread producer([&] { EXPECT_FALSE(full.push(2)); });
    empty.close();
    full.close();
}

TEST(Queue, TakingGivesUpAtTheDeadline) {
    Queue<int> queue(1);
    const auto now = std::chrono::steady_clock::now();
    EXPECT_EQ(queue.take_until(1, now), Values{});
    ASSERT_TRUE(queue.push(1));
    EXPECT_EQ(queue.take_until(1, now), Values{1});
}

}  // namespace
}  // namespace sluice
