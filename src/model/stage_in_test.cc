#include "model/stage_in.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

StageIn parsed(std::string_view value) {
    return parse_stage_in(value, "/home/me").value();
}

TEST(StageIn, HasTheLastPartOfTheSourceAsItsName) {
    EXPECT_EQ(parsed("/data/set"), (StageIn{"/data/set", "set", false}));
    EXPECT_EQ(parsed("/data/set//"), (StageIn{"/data/set", "set", false}));
    EXPECT_EQ(parsed("set/a,stream"), (StageIn{"/home/me/set/a", "a", true}));
    EXPECT_EQ(parsed("/data/set:other,stream"), (StageIn{"/data/set", "other", true}));
    EXPECT_EQ(parsed("/data/a:b:c"), (StageIn{"/data/a:b", "c", false}));
    EXPECT_EQ(parsed("/data/a,b"), (StageIn{"/data/a,b", "a,b", false}));
    EXPECT_EQ(parsed("/data/set/manifest.json"),
              (StageIn{"/data/set/manifest.json", "set", false}));
}

TEST(StageIn, RefusesWhatIsNoSourceOrNoName) {
    for (const char* value : {"", "/", ":x", "/a:", "/a:.", "/a:..", "/a:b/c", ",stream", "/a\nb"})
        EXPECT_FALSE(parse_stage_in(value, "/home/me")) << value;
    for (const char* value : {"/a:b,steam", "/a:b,stream,c", "/a:,stream"})
        EXPECT_FALSE(parse_stage_in(value, "/home/me")) << value;
    EXPECT_TRUE(parse_stage_in("/data/a,b:a,b", "/home/me"));  // as it is printed
    EXPECT_FALSE(parse_stage_in("/a:" + std::string(256, 'x'), "/"));
    EXPECT_TRUE(parse_stage_in("/a:" + std::string(255, 'x'), "/"));
    EXPECT_FALSE(parse_stage_in("/" + std::string(4096, 'x') + ":x", "/"));
}

TEST(StageIn, AJobHasSoManyAtMost) {
    std::string text;
    for (std::size_t i = 0; i < kStageInCount; ++i)
        text = with_stage_in(text, parsed("/data/" + std::to_string(i))).value();
    EXPECT_EQ(parse_stage_ins(text)->size(), kStageInCount);
    EXPECT_FALSE(with_stage_in(text, parsed("/data/one-more")));
    EXPECT_FALSE(parse_stage_ins(text + "\n/data/one-more:one-more"));
}

TEST(StageIn, SeveralAreALineEachWithDifferentNames) {
    std::string text = with_stage_in("", parsed("/data/a")).value();
    text = with_stage_in(text, parsed("/data/b:c,stream")).value();
    EXPECT_EQ(text, "/data/a:a\n/data/b:c,stream");
    EXPECT_EQ(shown_stage_ins(text), "/data/a:a,/data/b:c,stream");
    const std::vector<StageIn> expected = {{"/data/a", "a", false}, {"/data/b", "c", true}};
    EXPECT_EQ(parse_stage_ins(text).value(), expected);
    EXPECT_FALSE(with_stage_in(text, parsed("/other/a")));
    EXPECT_TRUE(parse_stage_ins("").value().empty());
    for (const char* bad : {"x", "/a", "/a:b\n", "/a:b\nc:d", "/a:b/c"})
        EXPECT_FALSE(parse_stage_ins(bad)) << bad;
}

}  // namespace
}  // namespace sluice
