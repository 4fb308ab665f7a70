// model/job_keys_test.cc: scontrol update JobId= as a typed change.
#include "model/job_keys.h"

#include <gtest/gtest.h>

#include "model/errors.h"
#include "model/job_change_fields.h"

namespace sluice {
namespace {

constexpr Time kNow = Time{Seconds{1'000'000}};

TEST(JobKeys, EveryFieldReachesItsMember) {
    const JobChange change = parse_job_change({{"contiguous", "yes"},
                                               {"Features", "[a|b]"},
                                               {"ReqThreads", "1"},
                                               {"Switches", "2@1:00"},
                                               {"wait-for-switch", "90"},
                                               {"MinTmpDiskNode", "2G"},
                                               {"TresPerJob", "gres/gpu:a40:2"}},
                                              kNow)
                                 .value();
    Shape shape;
    change.shape.apply_to(shape);
    EXPECT_TRUE(shape.contiguous && shape.one_thread_per_core);
    EXPECT_EQ(shape.constraint, "[a|b]");
    EXPECT_EQ(shape.switches_max, 2u);
    EXPECT_EQ(shape.switches_wait, Seconds{90});
    EXPECT_EQ(shape.tmp_min, 2048u);
    EXPECT_EQ(shape.gpus, (std::vector<GresCount>{{"gpu", "a40", 2}}));
    parse_job_change({{"Switches", "0"}}, kNow)->shape.apply_to(shape);
    EXPECT_FALSE(shape.switches_max);
    EXPECT_EQ(shape.constraint, "[a|b]");
}

TEST(JobKeys, WrongValuesAreNamed) {
    for (auto [key, value] : {std::pair{"Contiguous", "maybe"},
                              {"CoreSpec", "x"},
                              {"Features", "a&"},
                              {"NumCPUs", "0"},
                              {"NumCPUs", "4-2"},
                              {"NumCPUs", "4-"},
                              {"Requeue", "yes"},
                              {"StartTime", "never"},
                              {"Switches", "2@x"},
                              {"TimeLimit+", "UNLIMITED"}}) {
        const Result<JobChange> change = parse_job_change({{key, value}}, kNow);
        ASSERT_FALSE(change) << key;
        EXPECT_NE(change.error().detail.find(value), std::string::npos) << change.error().detail;
    }
    EXPECT_EQ(parse_job_change({{"Frobs", "1"}}, kNow).error().code, ErrorCode::UnknownField);
    EXPECT_EQ(parse_job_change({{"Prefer", "a*2"}}, kNow).error().code, ErrorCode::InvalidPrefer);
}

TEST(JobKeys, TimesCountFromNowAndLimitsMayBeRelative) {
    const JobChange change =
        parse_job_change({{"StartTime", "now+60"}, {"TimeLimit", "+5"}, {"NumNodes", "0"}}, kNow)
            .value();
    EXPECT_EQ(change.terms.values.begin, kNow + Seconds{60});
    EXPECT_EQ(change.time_limit, TimeLimit{Minutes{5}});
    EXPECT_EQ(change.time_limit_sign, 1);
    EXPECT_TRUE(change.gives_all_nodes);
}

}  // namespace
}  // namespace sluice
