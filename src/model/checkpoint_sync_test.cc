#include "model/checkpoint_sync.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(SyncRule, HasTwoDirectoriesAnIntervalAndACount) {
    const Result<SyncRule> rule = parse_sync_rule("$SCRATCH/ckpt:/data/run,every=5m,keep=3");
    ASSERT_TRUE(rule) << rule.error().detail;
    EXPECT_EQ(*rule, (SyncRule{"$SCRATCH/ckpt", "/data/run", Seconds{300}, 3}));
    EXPECT_EQ(*parse_sync_rule("a:b"), (SyncRule{"a", "b", Seconds{600}, {}}));
    EXPECT_EQ(parse_sync_rule("a:b,every=90")->every, Seconds{90});
    EXPECT_EQ(parse_sync_rule("a:b,every=2h")->every, Seconds{7200});
    EXPECT_EQ(parse_sync_rule("a:b,every=1s")->every, Seconds{1});
}

TEST(SyncRule, IsRefusedWithItsText) {
    for (const char* text :
         {"", "a", "a:", ":b", "a:b,every=", "a:b,every=0", "a:b,every=1d", "a:b,every=m",
          "a:b,every=721h", "a:b,keep=0", "a:b,keep=x", "a:b,keep=1000001", "a:b,c", "a:b\nc:d"}) {
        const Result<SyncRule> rule = parse_sync_rule(text);
        ASSERT_FALSE(rule) << text;
        EXPECT_NE(rule.error().detail.find(text), std::string::npos) << rule.error().detail;
    }
}

TEST(SyncRule, ThereAreSixteenAtMost) {
    std::string lines;
    for (int i = 0; i < 16; ++i) lines += "a:b\n";
    ASSERT_TRUE(parse_sync_rules(lines));
    EXPECT_EQ(parse_sync_rules(lines)->size(), 16u);
    EXPECT_FALSE(parse_sync_rules(lines + "a:b\n"));
    EXPECT_FALSE(parse_sync_rules("a:b\nwrong\n"));
    EXPECT_TRUE(parse_sync_rules("")->empty());
}

}  // namespace
}  // namespace sluice
