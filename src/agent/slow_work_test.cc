#include "agent/slow_work.h"

#include <gtest/gtest.h>

#include <future>

namespace sluice {
namespace {

TEST(SlowWork, TheLoopGoesOnWhileItRuns) {
    EventLoop loop;
    SlowWork slow(loop);
    std::promise<int> answer;
    int seen = 0;
    ASSERT_TRUE(slow.run([question = answer.get_future().share()] { return question.get(); },
                         [&](int result) { seen = result; }));
    bool has_ticked = false;
    loop.after(std::chrono::milliseconds{1}, [&] { has_ticked = true; });
    while (!has_ticked) loop.run_once();
    EXPECT_EQ(seen, 0);
    answer.set_value(7);
    while (seen == 0) loop.run_once();
    EXPECT_EQ(seen, 7);
}

TEST(SlowWork, OnePieceThatHangsDoesNotKeepTheOthersWaiting) {
    EventLoop loop;
    SlowWork slow(loop);
    std::promise<int> never;
    int seen = 0;
    ASSERT_TRUE(slow.run([question = never.get_future().share()] { return question.get(); },
                         [&](int) { ADD_FAILURE(); }));
    ASSERT_TRUE(slow.run([] { return 1; }, [&](int result) { seen = result; }));
    while (seen == 0) loop.run_once();
    never.set_value(0);  // after the last turn of the loop: without effect
}

TEST(SlowWork, TooMuchIsRefused) {
    EventLoop loop;
    SlowWork slow(loop);
    std::promise<int> answer;
    const std::shared_future<int> question = answer.get_future().share();
    std::size_t taken = 0, done = 0;
    while (taken < 1000 && slow.run([question] { return question.get(); }, [&](int) { ++done; })) {
        ++taken;
    }
    EXPECT_GE(taken, 256u);
    EXPECT_LT(taken, 1000u);
    answer.set_value(0);
    while (done < taken) loop.run_once();
}

TEST(SlowWork, IsNotWaitedForAtTheEnd) {
    std::promise<int> answer;
    {
        EventLoop loop;
        SlowWork slow(loop);
        ASSERT_TRUE(slow.run([question = answer.get_future().share()] { return question.get(); },
                             [](int) { ADD_FAILURE(); }));
    }
    answer.set_value(0);
}

}  // namespace
}  // namespace sluice
