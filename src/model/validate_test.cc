#include "model/validate.h"

#include <gtest/gtest.h>

#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {
namespace {

TEST(Validate, TextsAreBoundedAndHaveNoZeroByte) {
    JobRequest request;
    request.comment = std::string(sizes::kWord, 'x');
    request.work_dir = std::string(sizes::kPath, 'x');
    EXPECT_TRUE(validate(request));
    request.comment += 'x';
    const Error error = validate(request).error();
    EXPECT_EQ(error.code, ErrorCode::BadArgument);
    EXPECT_EQ(error.detail,
              "comment=" + std::string(64, 'x') + "...: 1025 bytes, the limit is 1024");
    request.comment = std::string("a\0b", 3);
    EXPECT_EQ(validate(request).error().detail, "comment=a: it contains a zero byte");
    request.comment.clear();
    request.work_dir += 'x';
    EXPECT_FALSE(validate(request));
}

TEST(Validate, AllArgumentsTogetherAreBounded) {
    JobRequest request;
    request.script_args.assign(15, std::string(sizes::kArgument, 'x'));
    EXPECT_TRUE(validate(request));
    request.script_args.emplace_back(sizes::kArgument, 'x');
    EXPECT_FALSE(validate(request));
    request.script_args = {std::string(sizes::kArgument + 1, 'x')};
    EXPECT_FALSE(validate(request));
}

TEST(Validate, NumbersHaveTheirLimits) {
    Shape shape;
    shape.ntasks = sizes::kCount;
    shape.mem_per_node = sizes::kAmount;
    EXPECT_TRUE(validate(shape));
    shape.ntasks = sizes::kCount + 1;
    EXPECT_EQ(validate(shape).error().detail, "ntasks=1073741825: the limit is 1073741824");
    shape.ntasks = 1;
    shape.mem_per_node = sizes::kAmount + 1;
    EXPECT_FALSE(validate(shape));
    JobRequest request;
    request.time_limit = TimeLimit{Seconds{sizes::kTimeLimit}};
    EXPECT_TRUE(validate(request));
    request.time_limit = TimeLimit{Seconds{sizes::kTimeLimit + 1}};
    EXPECT_FALSE(validate(request));
}

TEST(Validate, AStateComesWithWhatItNeeds) {
    Job job;
    EXPECT_FALSE(validate(job)) << "without a request";
    set_request(job, {});
    EXPECT_TRUE(validate(job));
    job.run.suspended = Seconds{-1};
    EXPECT_FALSE(validate(job));
    job.run.suspended = Seconds{0};
    job.state = JobState::Running;
    EXPECT_FALSE(validate(job)) << "without nodes";
    job.state = JobState::Completed;
    EXPECT_FALSE(validate(job)) << "without an end";
    job.run.end_time = from_unix(100);
    EXPECT_TRUE(validate(job));
}

}  // namespace
}  // namespace sluice
