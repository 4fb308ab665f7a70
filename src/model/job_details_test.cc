// model/job_details_test.cc
#include "model/job_details.h"

#include <gtest/gtest.h>

#include "model/job_hash.h"

namespace sluice {
namespace {

JobDetails some_details() {
    return {.name = "train",
            .comment = "",
            .dependency = "afterok:12",
            .work_dir = "/home/alice",
            .std_in = "in",
            .std_out = "%x-%j.out",
            .std_err = "%x-%j.err",
            .command = "/home/alice/train.sh",
            .script_args = {"--seed", "", "7"},
            .submit_line = "sbatch train.sh --seed '' 7",
            .submit_sid = 4711,
            .script_hash = "abc",
            .environment_hash = std::string("a\0b", 3)};
}

TEST(PackedDetails, GiveBackWhatWentIn) {
    PackedDetails packed(some_details());
    EXPECT_EQ(packed.unpacked(), some_details());
    EXPECT_EQ(packed.name(), "train");
    EXPECT_EQ(packed.text(&JobDetails::comment), "");
    EXPECT_EQ(packed.script_hash(), "abc");
    EXPECT_EQ(packed.environment_hash().size(), 3u);
    ASSERT_EQ(packed.script_arg_count(), 3u);
    EXPECT_EQ(packed.script_arg(0), "--seed");
    EXPECT_EQ(packed.script_arg(2), "7");
    EXPECT_EQ(PackedDetails(JobDetails{}).unpacked(), JobDetails{});
}

TEST(PackedDetails, AreEqualOnlyIfEachTextIs) {
    PackedDetails packed(some_details());
    EXPECT_EQ(packed, PackedDetails(some_details()));
    EXPECT_EQ(hash_of(packed), hash_of(PackedDetails(some_details())));
    JobDetails moved = some_details();
    moved.name = "trainafterok:12";  // the same letters in the same order
    moved.dependency = "";
    EXPECT_NE(packed, PackedDetails(moved));
    JobDetails other_session = some_details();
    other_session.submit_sid = 1;
    EXPECT_NE(packed, PackedDetails(other_session));
}

}  // namespace
}  // namespace sluice
