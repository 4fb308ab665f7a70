// controller/rate_limit_test.cc
#include "controller/rate_limit.h"

#include <gtest/gtest.h>

#include "controller/in_flight.h"

namespace sluice {
namespace {

using std::chrono::seconds;
constexpr UserId kAnn{1000}, kBob{1001};
const RateLimiter::Time kStart{seconds(1000)};

RateLimits limits() {
    RateLimits limits;
    limits.enabled = true;
    limits.bucket_size = 3;
    limits.refill_rate = 2;
    limits.refill_period = Seconds{10};
    return limits;
}

int allowed_of(RateLimiter& limiter, UserId user, int requests, RateLimiter::Time now,
               const RateLimits& by) {
    int count = 0;
    for (int i = 0; i < requests; ++i) count += limiter.ask(user, by, now).allowed;
    return count;
}

TEST(RateLimit, ABurstOfTheBucketsSizeAndThenTheSteadyRate) {
    RateLimiter limiter;
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart, limits()), 3);
    EXPECT_EQ(allowed_of(limiter, kBob, 9, kStart, limits()), 3);  // a bucket of its own
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart + seconds(9), limits()), 0);
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart + seconds(10), limits()), 2);
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart + seconds(19), limits()), 0);
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart + seconds(20), limits()), 2);
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart + seconds(1'000'000'000), limits()), 3);
}

TEST(RateLimit, NothingIsRefusedUnlessItIsEnabled) {
    RateLimiter limiter;
    EXPECT_EQ(allowed_of(limiter, kAnn, 1000, kStart, RateLimits{}), 1000);
}

TEST(RateLimit, ATableThatIsFullForgetsWhoHasNothingToWaitFor) {
    RateLimiter limiter;
    RateLimits by = limits();
    by.table_size = 1;
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart, by), 3);
    EXPECT_EQ(allowed_of(limiter, kBob, 1, kStart + seconds(20), by), 1);
    EXPECT_EQ(allowed_of(limiter, kAnn, 9, kStart + seconds(20), by), 3);
}

TEST(RateLimit, TheLogIsToldAsOftenAsAskedFor) {
    auto lines = [](std::optional<Seconds> every) {
        RateLimiter limiter;
        RateLimits by = limits();
        by.log_every = every;
        allowed_of(limiter, kAnn, 3, kStart, by);
        int count = 0;
        for (int second = 0; second < 8; ++second)
            count += limiter.ask(kAnn, by, kStart + seconds(second)).is_news;
        return count;
    };
    EXPECT_EQ(lines(Seconds{0}), 8);
    EXPECT_EQ(lines(Seconds{4}), 2);
    EXPECT_EQ(lines(std::nullopt), 0);
}

TEST(InFlight, AUsersBytesAreCountedUntilTheyAreDecided) {
    InFlight in_flight(100);
    auto first = in_flight.charge(kAnn, 60);
    ASSERT_TRUE(first);
    EXPECT_TRUE(in_flight.charge(kAnn, 40));
    EXPECT_FALSE(in_flight.charge(kAnn, 41));
    EXPECT_TRUE(in_flight.charge(kBob, 100));
    first.reset();
    EXPECT_TRUE(in_flight.charge(kAnn, 100));
}

TEST(InFlight, OneRequestIsTakenHoweverLargeWhenNothingElseWaits) {
    InFlight in_flight(100);
    auto large = in_flight.charge(kAnn, 500);
    EXPECT_TRUE(large);
    EXPECT_FALSE(in_flight.charge(kAnn, 1));
}

TEST(UnreadReplies, AreCountedUntilTheyAreSent) {
    UnreadReplies unread(100);
    const auto reply = [](std::size_t size) {
        return std::make_shared<const std::string>(size, 'x');
    };
    const Bytes listing = reply(60);
    Bytes first = unread.counted(kAnn, listing);
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, *listing);
    Bytes again = unread.counted(kAnn, listing);  // on another connection
    EXPECT_TRUE(again);
    EXPECT_FALSE(unread.counted(kAnn, reply(41)));
    EXPECT_TRUE(unread.counted(kAnn, reply(40)));
    EXPECT_TRUE(unread.counted(kBob, listing));
    first.reset();
    EXPECT_FALSE(unread.counted(kAnn, reply(41)));
    again.reset();
    EXPECT_TRUE(unread.counted(kAnn, reply(100)));
    EXPECT_TRUE(unread.counted(kAnn, reply(500)));  // alone, however long
}

}  // namespace
}  // namespace sluice
