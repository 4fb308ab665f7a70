// Who waits for its turn, and until when.
#include "controller/turns.h"

#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>

namespace sluice {
namespace {

class TurnsTest : public testing::Test {
protected:
    void take(Turns::Turn& turn) {
        const auto taker = [this, &turn]() -> asio::awaitable<void> {
            turn = co_await turns_.take(context_.get_executor());
            ++taken_;
        };
        asio::co_spawn(context_, taker, asio::detached);
        go_on();
    }
    void go_on() {
        context_.restart();  // it stops when nothing waits
        context_.poll();
    }

    asio::io_context context_;
    Turns turns_{1};
    int taken_ = 0;
};

TEST_F(TurnsTest, TheNextOneComesWhenOneEnds) {
    Turns::Turn first, second, third;
    take(first);
    take(second);
    take(third);
    EXPECT_EQ(taken_, 1);
    first.end();
    first.end();  // only once
    go_on();
    EXPECT_EQ(taken_, 2);
    second = {};
    go_on();
    EXPECT_EQ(taken_, 3);
}

TEST_F(TurnsTest, NobodyKeepsItsTurnForEver) {
    Turns::Turn first, second;
    take(first);
    take(second);
    EXPECT_EQ(taken_, 1);
    context_.restart();
    context_.run();
    EXPECT_EQ(taken_, 2);
}

}  // namespace
}  // namespace sluice
