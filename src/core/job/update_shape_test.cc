#include "core/job/update_shape.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(UpdateShape, EveryFieldReachesItsMember) {
    Shape shape;
    EXPECT_TRUE(update_shape(shape, "contiguous", "yes"));
    EXPECT_TRUE(update_shape(shape, "Features", "[a|b]"));
    EXPECT_TRUE(update_shape(shape, "ReqThreads", "1"));
    EXPECT_TRUE(update_shape(shape, "Switches", "2@1:00"));
    EXPECT_TRUE(update_shape(shape, "wait-for-switch", "90"));
    EXPECT_TRUE(update_shape(shape, "MinTmpDiskNode", "2G"));
    EXPECT_TRUE(update_shape(shape, "TresPerJob", "gres/gpu:a40:2"));
    EXPECT_TRUE(shape.contiguous && shape.one_thread_per_core);
    EXPECT_EQ(shape.constraint, "[a|b]");
    EXPECT_EQ(shape.switches_max, 2u);
    EXPECT_EQ(shape.switches_wait, Seconds{90});
    EXPECT_EQ(shape.tmp_min, 2048u);
    EXPECT_EQ(shape.gpus, (std::vector<GresCount>{{"gpu", "a40", 2}}));
    EXPECT_TRUE(update_shape(shape, "Switches", "0"));
    EXPECT_FALSE(shape.switches_max);
}

TEST(UpdateShape, WrongValuesAreNamedAndUnknownFieldsAreNotOurs) {
    Shape shape;
    for (auto [key, value] : {std::pair{"Contiguous", "maybe"},
                              {"CoreSpec", "x"},
                              {"Features", "a&"},
                              {"Prefer", "a*2"},
                              {"Switches", "2@x"}}) {
        EXPECT_FALSE(update_shape(shape, key, value)) << key;
    }
    EXPECT_EQ(shape, Shape{});
    EXPECT_FALSE(is_shape_field("Priority"));
}

}  // namespace
}  // namespace sluice
