// model/quantity_test.cc: memory sizes, counts and TRES.
#include "model/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/errors.h"

namespace sluice {
namespace {

std::string memory(std::string_view text) {
    Result<Megabytes> size = parse_memory(text);
    return size ? print_memory(*size) : "error";
}
std::string gres(std::string_view text) {
    Result<std::vector<GresCount>> list = parse_gres(text);
    return list ? print_gres(*list) : "error";
}
std::string gpus(std::string_view text) {
    Result<std::vector<GresCount>> list = parse_gpus(text);
    return list ? print_tres_per(*list) : "error";
}
std::string tres(std::string_view text) {
    Result<Tres> list = parse_tres(text);
    return list ? print_tres(*list) : "error";
}

struct Pair {
    std::string_view given, expected;
};

TEST(Memory, IsReadAndShownAsBySqueue) {
    constexpr Pair kPairs[] = {
        {"0", "0"},         {"1", "1M"},       {"1000", "1000M"},  {"1024", "1G"},
        {"1025", "1025M"},  {"1280", "1280M"}, {"1536", "1.50G"},  {"64000", "62.50G"},
        {"4500", "4500M"},  {"1g", "1G"},      {"1GB", "1G"},      {"500K", "1M"},
        {"1025K", "2M"},    {"1KB", "1M"},     {"1T", "1T"},       {"1048576", "1T"},
        {"1536G", "1.50T"}, {" 1", "1M"},      {"1048576K", "1G"},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(memory(pair.given), pair.expected) << pair.given;
}

TEST(Memory, RefusesTheRestAndNamesIt) {
    for (std::string_view bad : {"", "G", "1.5G", "0.5T", "1x", "-1", "1MiB", "1BB", "b",
                                 "99999999999999999999", "18446744073709551615T"}) {
        Result<Megabytes> size = parse_memory(bad);
        ASSERT_FALSE(size) << bad;
        EXPECT_EQ(size.error().detail, "memory \"" + std::string(bad) + "\"");
    }
}

TEST(Gres, IsReadInEverySpelling) {
    constexpr Pair kPairs[] = {
        {"gpu", "gpu:1"},
        {"gpu:2", "gpu:2"},
        {"gpu:0", "gpu:0"},
        {"gpu:a40", "gpu:a40:1"},
        {"gpu:a40:2", "gpu:a40:2"},
        {"gres/gpu:2", "gpu:2"},
        {"gres:gpu:2", "gpu:2"},
        {"gpu:a40=2", "gpu:a40:2"},
        {"gpu=2", "gpu:2"},
        {"gpu:1k", "gpu:1K"},
        {"none", ""},
        {"NONE", ""},
        {"gpu:a40:1,nic:2", "gpu:a40:1,nic:2"},
        {"gpu:1g.5gb:3", "gpu:1g.5gb:3"},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(gres(pair.given), pair.expected) << pair.given;
}

TEST(Gres, RefusesTheRestAndNamesIt) {
    for (std::string_view bad :
         {"", "gpu:", "gpu:a40:", "gpu:a:b:c", "gpu:2:h100", ",gpu:1", "gpu=", "gpu=x", ":2",
          "gpu::2", "gpu a", "gpu:99999999999999999999:1x"}) {
        Result<std::vector<GresCount>> list = parse_gres(bad);
        ASSERT_FALSE(list) << bad;
        EXPECT_EQ(list.error().code, ErrorCode::InvalidGres);
    }
    EXPECT_EQ(to_string(parse_gres("gpu:1,gpu:").error()),
              "Invalid generic resource (gres) specification: \"gpu:\"");
}

TEST(Gres, OfGpusHasNoName) {
    EXPECT_EQ(gpus("2"), "gres/gpu:2");
    EXPECT_EQ(gpus("a40"), "gres/gpu:a40:1");
    EXPECT_EQ(gpus("a40:1,h100:3"), "gres/gpu:a40:1,gres/gpu:h100:3");
    EXPECT_EQ(gpus(""), "");
    EXPECT_EQ(gpus("x:y:1"), "error");
}

TEST(Tres, AreInTheOrderOfTheirIds) {
    EXPECT_EQ(tres("gres/gpu:a40=2,billing=4,gres/gpu=2,node=1,mem=4G,cpu=4"),
              "cpu=4,mem=4G,node=1,billing=4,gres/gpu=2,gres/gpu:a40=2");
    EXPECT_EQ(tres("CPU=1,mem=62.50G"), "cpu=1,mem=62.50G");
    EXPECT_EQ(tres("gres/gpu:2"), "gres/gpu=2");
    EXPECT_EQ(tres(""), "");
}

TEST(Tres, RefusesTheRestAndNamesIt) {
    for (std::string_view bad :
         {"cpu", "cpu=", "=1", "cpu=x", "cpu=1,cpu=2", "cpu=1,,mem=1", "mem=1.25G"}) {
        EXPECT_EQ(tres(bad), "error") << bad;
    }
    EXPECT_EQ(parse_tres("cpu=1,mem=x").error().detail, "trackable resource \"mem=x\"");
}

TEST(Quantities, ReadBackWhatTheyPrint) {
    EXPECT_TRUE(rc::check("memory in a TRES list", [] {
        Tres tres{{"mem", *rc::gen::inRange<std::uint64_t>(0, 1ull << 40)},
                  {"cpu", *rc::gen::inRange<std::uint64_t>(0, 1000)}};
        RC_ASSERT(*parse_tres(print_tres(tres)) == tres);
    }));
    EXPECT_TRUE(rc::check("gres", [] {
        std::vector<GresCount> list;
        for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
            list.push_back({*rc::gen::element<std::string>("gpu", "nic", "shard"),
                            *rc::gen::element<std::string>("", "a40", "1g.5gb", "2"),
                            *rc::gen::inRange<std::uint64_t>(0, 1'000'000)});
        }
        RC_ASSERT(*parse_gres(print_gres(list)) == list);
        RC_ASSERT(*parse_gres(print_tres_per(list)) == list);
    }));
}

}  // namespace
}  // namespace sluice
