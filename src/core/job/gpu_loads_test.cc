#include "core/job/gpu_loads.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr NodeIndex kFirst{0}, kSecond{1};
const Time kStart = from_unix(1'700'000'000);

JobGpuLoad load(std::uint32_t percent, std::uint64_t io_bytes = 0, std::uint32_t restarts = 0) {
    return {.job = JobId{12},
            .restarts = restarts,
            .gpus = 1,
            .percent_sum = percent,
            .io_bytes = io_bytes};
}

TEST(GpuLoads, AJobIsJudgedWhenAllItsNodesHaveReported) {
    GpuLoads loads;
    EXPECT_FALSE(loads.add(kFirst, load(10, 5), 2));
    EXPECT_FALSE(loads.add(kFirst, load(20, 5), 2));  // the newest load, all that was read
    const auto sum = loads.add(kSecond, load(40, 1), 2);
    ASSERT_TRUE(sum);
    EXPECT_EQ(*sum, (JobGpuLoad{JobId{12}, 0, 2, 60, 11}));
    EXPECT_FALSE(loads.add(kFirst, load(10), 2));
}

TEST(GpuLoads, ARequeuedJobBeginsAnew) {
    GpuLoads loads;
    EXPECT_FALSE(loads.add(kFirst, load(10), 2));
    EXPECT_FALSE(loads.add(kSecond, load(10, 0, 1), 2));
    EXPECT_TRUE(loads.add(kFirst, load(10, 0, 1), 2));
}

TEST(GpuLoads, AJobStandsStillWhileItsGpusAreEquallyBusyAndNothingIsReadOrWritten) {
    GpuLoads loads;
    EXPECT_EQ(loads.still_since(load(100), 5, kStart), kStart);
    EXPECT_EQ(loads.still_since(load(95, 4096), 5, kStart + Seconds{30}), kStart);
    EXPECT_EQ(loads.still_since(load(94), 5, kStart + Seconds{60}), kStart + Seconds{60});
    EXPECT_EQ(loads.still_since(load(94, 4097), 5, kStart + Seconds{90}), std::nullopt);
    EXPECT_EQ(loads.still_since(load(94), 5, kStart + Seconds{120}), kStart + Seconds{120});
    EXPECT_EQ(loads.still_since(load(4), 5, kStart + Seconds{150}), std::nullopt);  // idle
}

}  // namespace
}  // namespace sluice
