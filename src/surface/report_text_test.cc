#include "surface/report_text.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string line(std::uint32_t width, bool left, std::string_view text) {
    ReportText report({{"Name", width, left}});
    report.add_line([&](std::size_t, std::string& out) { out += text; });
    return report.take();
}

TEST(ReportText, ValuesThatAreTooLongEndWithAPlusSign) {
    EXPECT_EQ(line(5, false, "abcde"), "abcde \n");
    EXPECT_EQ(line(5, false, "abcdef"), "abcd+ \n");
    EXPECT_EQ(line(1, false, "ab"), "+ \n");
    EXPECT_EQ(line(5, false, "ab"), "   ab \n");
    EXPECT_EQ(line(5, true, "ab"), "ab    \n");
}

TEST(ReportText, CountsAndCutsWholeCharacters) {
    EXPECT_EQ(line(4, false, "äöü"), " äöü \n");
    EXPECT_EQ(line(3, false, "äöü"), "äöü \n");
    EXPECT_EQ(line(2, false, "äöü"), "ä+ \n");
}

TEST(ReportText, HeadingsAreCutWithoutAMark) {
    ReportText report({{"Allocated", 8, false}, {"Id", 4, true}});
    report.add_header();
    EXPECT_EQ(report.take(), "Allocate Id   \n-------- ---- \n");
    ReportText bars({{"Allocated", 8, false}, {"Id", 4, true}}, Bars::AfterEach, "::");
    bars.add_header();
    EXPECT_EQ(bars.take(), "Allocated::Id::\n");
}

TEST(ReportText, WidthsOfAFormatAreNumbersFromOneTo10000) {
    const Result<std::vector<ReportWord>> words = split_report_format("a,b%20, c%-3");
    ASSERT_TRUE(words);
    ASSERT_EQ(words->size(), 3u);
    EXPECT_EQ((*words)[0].width, std::nullopt);
    EXPECT_EQ((*words)[1].width, 20u);
    EXPECT_EQ((*words)[2].name, "c");
    EXPECT_EQ((*words)[2].width, 3u);
    EXPECT_TRUE((*words)[2].left);
    EXPECT_TRUE(split_report_format("a%10000"));
    for (const char* wrong : {"a%", "a%0", "a%-", "a%x", "a%10001", "a%5%5"}) {
        EXPECT_FALSE(split_report_format(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace sluice
