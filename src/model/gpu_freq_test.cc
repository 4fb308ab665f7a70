// --gpu-freq: what is understood, and which of the possible frequencies is taken.
#include "model/gpu_freq.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

using Kind = GpuClock::Kind;

TEST(GpuFreq, ReadsWordsNumbersAndTypes) {
    GpuFreq freq = parse_gpu_freq("medium,memory=high").value();
    EXPECT_EQ(freq.graphics, (GpuClock{Kind::Medium, 0}));
    EXPECT_EQ(freq.memory, (GpuClock{Kind::High, 0}));
    EXPECT_FALSE(freq.verbose);
    freq = parse_gpu_freq("450").value();
    EXPECT_EQ(freq.graphics, (GpuClock{Kind::Megahertz, 450}));
    EXPECT_FALSE(freq.memory);
    freq = parse_gpu_freq("graphics=highm1,verbose").value();
    EXPECT_EQ(freq.graphics, (GpuClock{Kind::HighMinusOne, 0}));
    EXPECT_TRUE(freq.verbose);
    EXPECT_TRUE(parse_gpu_freq("verbose")->verbose);
    EXPECT_EQ(parse_gpu_freq("low,high")->graphics, (GpuClock{Kind::High, 0}));
    EXPECT_EQ(parse_gpu_freq(",low,")->graphics, (GpuClock{Kind::Low, 0}));
    EXPECT_EQ(parse_gpu_freq("99999999999")->graphics->megahertz, 0xffffffffu);
    EXPECT_EQ(parse_tres_freq("gpu:memory=1")->memory, (GpuClock{Kind::Megahertz, 1}));
}

TEST(GpuFreq, RefusesWhatItDoesNotKnow) {
    for (const char* text : {"", ",", "foo", "=450", "gpu=450", "memory=", "memory=foo", "LOW",
                             "-1", "4.5", "450MHz", "video=low", "low memory=high"}) {
        Result<GpuFreq> freq = parse_gpu_freq(text);
        ASSERT_FALSE(freq) << text;
        EXPECT_EQ(freq.error().detail, std::string("Invalid --gpu-freq argument: gpu:") + text);
    }
    EXPECT_FALSE(parse_tres_freq("low"));
    EXPECT_FALSE(parse_tres_freq("nic:low"));
}

TEST(GpuFreq, TheNearestPossibleOneIsTaken) {
    const std::vector<std::uint32_t> clocks = {1380, 135, 1372, 877, 450, 877};
    EXPECT_EQ(nearest_clock({Kind::Low, 0}, clocks), 135u);
    EXPECT_EQ(nearest_clock({Kind::Medium, 0}, clocks), 877u);
    EXPECT_EQ(nearest_clock({Kind::High, 0}, clocks), 1380u);
    EXPECT_EQ(nearest_clock({Kind::HighMinusOne, 0}, clocks), 1372u);
    EXPECT_EQ(nearest_clock({Kind::Megahertz, 500}, clocks), 450u);
    EXPECT_EQ(nearest_clock({Kind::Megahertz, 0}, clocks), 135u);
    EXPECT_EQ(nearest_clock({Kind::Megahertz, 0xffffffff}, clocks), 1380u);
    for (Kind kind : {Kind::Low, Kind::Medium, Kind::High, Kind::HighMinusOne, Kind::Megahertz}) {
        EXPECT_EQ(nearest_clock({kind, 3}, {877}), 877u);
    }
}

}  // namespace
}  // namespace sluice
