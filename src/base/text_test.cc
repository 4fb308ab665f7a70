#include "base/text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Text, SplitKeepsEmptyPieces) {
    EXPECT_EQ(split("a,b", ','), (Pieces{"a", "b"}));
    EXPECT_EQ(split(",a,,", ','), (Pieces{"", "a", "", ""}));
    EXPECT_EQ(split("", ','), Pieces{""});
}

TEST(Text, WordsAreSeparatedByBlanksOfAnyKind) {
    EXPECT_EQ(words(" one\t two\r\nthree\v\f"), (Pieces{"one", "two", "three"}));
    EXPECT_EQ(words(" \t"), Pieces{});
    EXPECT_EQ(words(""), Pieces{});
}

TEST(Text, TrimTakesBlanksFromBothEnds) {
    EXPECT_EQ(trim(" \ta b\r\n"), "a b");
    EXPECT_EQ(trim("a"), "a");
    EXPECT_EQ(trim(" \n"), "");
    EXPECT_EQ(trim(""), "");
}

// 'Z' and 'z' are the last letters; '[' and '{' follow them, '@' and '`' precede the first ones.
TEST(Text, CaseIsThatOfTheLatinLettersOnly) {
    EXPECT_EQ(to_lower("@AZ[az\xC4"), "@az[az\xC4");
    EXPECT_EQ(to_upper("`az{AZ\xE4"), "`AZ{AZ\xE4");
}

TEST(Text, ComparesWithoutCase) {
    EXPECT_TRUE(equals_ignoring_case("NodeName", "nODEnAME"));
    EXPECT_FALSE(equals_ignoring_case("node", "nodes"));
    EXPECT_FALSE(equals_ignoring_case("nodes", "node"));
    EXPECT_FALSE(equals_ignoring_case("[", "{"));
    EXPECT_TRUE(equals_ignoring_case("", ""));
    EXPECT_TRUE(starts_with_ignoring_case("NodeName", "node"));
    EXPECT_TRUE(starts_with_ignoring_case("node", "NODE"));
    EXPECT_FALSE(starts_with_ignoring_case("nod", "node"));
    EXPECT_TRUE(starts_with_ignoring_case("node", ""));
}

TEST(Text, JoinPutsTheSeparatorBetweenPieces) {
    EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
    EXPECT_EQ(join({"a"}, ","), "a");
    EXPECT_EQ(join({}, ","), "");
}

TEST(Text, ANumberIsTheWholeText) {
    EXPECT_EQ(to_number("0"), 0u);
    EXPECT_EQ(to_number("007"), 7u);
    EXPECT_EQ(to_number("18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(to_number("18446744073709551616"), std::nullopt);
    for (std::string_view text : {"", " 1", "1 ", "+1", "-1", "0x1", "1.0", "a"}) {
        EXPECT_EQ(to_number(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace sluice
