// model/sampling_test.cc
#include "model/sampling.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

TEST(Sampling, TakesTheIntervalOfTasks) {
    EXPECT_EQ(*parse_task_sampling("15"), Seconds{15});
    EXPECT_EQ(*parse_task_sampling("task=0"), Seconds{0});
    EXPECT_EQ(*parse_task_sampling("energy=60,Task=7"), Seconds{7});
    EXPECT_EQ(*parse_task_sampling("network=60"), std::nullopt);
    EXPECT_EQ(*parse_task_sampling(""), std::nullopt);
}

TEST(Sampling, RefusesOtherWords) {
    for (const char* text :
         {"foo", "foo=3", "task=", "task=-1", "task=x", "task=5,", "=5", "task=99999999999"}) {
        const auto parsed = parse_task_sampling(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().detail,
                  std::string("Invalid --acctg-freq specification: ") + text);
    }
}

}  // namespace
}  // namespace sluice
