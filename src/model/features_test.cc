// model/features_test.cc: --constraint, read and printed.
#include "model/features.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

using Names = std::vector<std::string>;

FeatureExpression must_parse(std::string_view text) {
    Result<FeatureExpression> expression = FeatureExpression::parse(text);
    if (expression) return *std::move(expression);
    ADD_FAILURE() << text << ": " << expression.error().detail;
    return {};
}

bool fits(std::string_view text, const Names& features) {
    return must_parse(text).matches(features);
}

TEST(Features, AndBindsTighterThanOr) {
    EXPECT_TRUE(fits("", {}));
    EXPECT_TRUE(fits("a", {"a", "b"}));
    EXPECT_FALSE(fits("a", {"b"}));
    EXPECT_FALSE(fits("a&b", {"a"}));
    EXPECT_TRUE(fits("a,b", {"b", "a"}));
    EXPECT_TRUE(fits("a|b", {"b"}));
    EXPECT_TRUE(fits("a&b|c", {"c"}));
    EXPECT_FALSE(fits("a&(b|c)", {"c"}));
    EXPECT_TRUE(fits("((a|b))&(c|d)", {"b", "d"}));
    EXPECT_FALSE(fits("((a|b))&(c|d)", {"a", "b"}));
}

TEST(Features, ACountAsksForSomeNodesOnly) {
    FeatureExpression some = must_parse("gpu&(a|b)*2");
    EXPECT_TRUE(some.matches({"gpu"}));
    EXPECT_FALSE(some.matches({"a"}));
    ASSERT_EQ(some.counted.size(), 1u);
    EXPECT_EQ(some.counted[0].choice, (FeatureChoice{{"a"}, {"b"}}));
    EXPECT_EQ(some.nodes_min(), 2u);
    EXPECT_TRUE(must_parse("a*4").matches({}));
}

TEST(Features, BracketsWithOrMeanTheSameForAllNodes) {
    FeatureExpression racks = must_parse("gpu&[rack1|(rack2&new)]");
    EXPECT_EQ(racks.same, (std::vector<FeatureChoice>{{{"rack1"}}, {{"rack2", "new"}}}));
    EXPECT_TRUE(racks.matches({"gpu", "rack1"}));
    EXPECT_FALSE(racks.matches({"gpu", "rack2"}));
    EXPECT_FALSE(racks.matches({"rack1"}));
    EXPECT_EQ(must_parse("[a]").same.size(), 1u);
}

TEST(Features, BracketsWithCountsSplitTheNodes) {
    FeatureExpression split = must_parse("[(a|b)*2&c*1]&gpu");
    ASSERT_EQ(split.counted.size(), 2u);
    EXPECT_EQ(split.counted[1].count, 1u);
    EXPECT_EQ(split.nodes_min(), 3u);
    EXPECT_TRUE(split.matches({"gpu", "c"}));
    EXPECT_FALSE(split.matches({"gpu"}));
    EXPECT_EQ(split.names(), (Names{"a", "b", "c", "gpu"}));
}

TEST(Features, WhatIsNotOfTheLanguageIsRefused) {
    for (const char* text :
         {"a40*1&h100*1", "!a",           "a&",          "&a",      "|",         "(a",
          "a)",           "[a",           "a]",          "[[a|b]]", "a*0",       "a*x",
          "a**2",         "a b",          "[a|b]&[c|d]", "[a*1&b]", "[a*1|b*1]", "[a&b]",
          "a*2|b",        "[a|b]|c",      "c|[a|b]",     "(a*2)",   "([a|b])",   "()",
          "[]",           "a*99999999999"}) {
        Result<FeatureExpression> expression = FeatureExpression::parse(text);
        ASSERT_FALSE(expression) << text;
        EXPECT_EQ(expression.error().code, ErrorCode::InvalidFeature);
    }
}

TEST(Features, NoTextMakesItWorkHard) {
    std::string product = "(a|b)";
    for (int i = 0; i < 40; ++i) product += "&(c|d" + std::to_string(i) + ")";
    EXPECT_FALSE(FeatureExpression::parse(product));
    EXPECT_FALSE(FeatureExpression::parse(std::string(2000, '(')));
    EXPECT_FALSE(FeatureExpression::parse(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace sluice
