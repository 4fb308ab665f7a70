#include "surface/explain.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

const Time kNow{Seconds{1'700'000'000}};

Explanation waiting_job() {
    Explanation job{.job = "57"};
    job.now_if = {{"--gres=gpu:1", "gpu", "g1"},
                  {"--time=01:00:00", "gpu", "g2"},
                  {"-p short", "short", "s1"}};
    return job;
}

TEST(SmallerRequest, NamesTheFirstTwoThatWouldStartNow) {
    EXPECT_EQ(smaller_request(waiting_job(), kNow),
              "job 57 would start now if --gres=gpu:1 or --time=01:00:00 (swhy 57)");
}

TEST(SmallerRequest, SaysWhenTheJobStartsUnlessThatIsWithinAMinute) {
    Explanation job = waiting_job();
    job.start = kNow + Seconds{60};
    const std::string text = smaller_request(job, kNow).value_or("");
    EXPECT_TRUE(text.starts_with("job 57 starts about ")) << text;
    EXPECT_TRUE(text.ends_with("; now if --gres=gpu:1 or --time=01:00:00 (swhy 57)")) << text;
    job.start = kNow + Seconds{59};
    EXPECT_EQ(smaller_request(job, kNow), std::nullopt);
}

TEST(SmallerRequest, IsNoneWhereNothingSmallerHelps) {
    Explanation job = waiting_job();
    job.room_now = true;
    EXPECT_EQ(smaller_request(job, kNow), std::nullopt);
    job = waiting_job();
    job.now_if.clear();
    EXPECT_EQ(smaller_request(job, kNow), std::nullopt);
}

}  // namespace
}  // namespace sluice
