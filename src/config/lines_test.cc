// config/lines_test.cc: lines of configuration files: comments, continuation, quotes, Include.
#include "config/lines.h"

#include <gtest/gtest.h>

#include <map>

namespace sluice {
namespace {

using Files = std::map<std::string, std::string>;

// Every line as "file:number key=value;key=value;", or the error.
std::string read(std::string_view text, const Files& files = {}) {
    std::string seen;
    auto reader = [&](const std::string& path) -> Result<std::string> {
        auto found = files.find(path);
        if (found == files.end()) return Error{ErrorCode::ConfigInvalid, path + ": not there"};
        return found->second;
    };
    auto handler = [&](const Line& line) -> Result<void> {
        seen += fmt::format("{}:{} ", line.file, line.number);
        for (const Setting& s : line.settings) seen += fmt::format("{}={};", s.key, s.value);
        seen += '\n';
        return {};
    };
    Result<void> done = for_each_line(text, "/etc/x.conf", reader, handler);
    return done ? seen : done.error().detail;
}

TEST(Lines, SplitsKeysAndValues) {
    EXPECT_EQ(read("A=1\n\n  b = 2  C= 3\n"), "x.conf:1 A=1;\nx.conf:3 b=2;C=3;\n");
    EXPECT_EQ(read("A=\"one two\"\tB=\"\""), "x.conf:1 A=one two;B=;\n");
    EXPECT_EQ(read("A=x=1,y=2\r\n"), "x.conf:1 A=x=1,y=2;\n");
}

TEST(Lines, CommentsEndWithTheirLine) {
    EXPECT_EQ(read("# A=1 \\\nB=2 # more\n#\n"), "x.conf:2 B=2;\n");
    EXPECT_EQ(read("A=a\\#b\\\\c\\d"), "x.conf:1 A=a#b\\c\\d;\n");
}

TEST(Lines, ABackslashContinuesTheLine) {
    EXPECT_EQ(read("A=1 \\\n B=2 \\\r\n C=3\nD=4"), "x.conf:1 A=1;B=2;C=3;\nx.conf:4 D=4;\n");
    EXPECT_EQ(read("A=1\\"), "x.conf:1 A=1;\n");
}

TEST(Lines, BadLinesAreNamed) {
    EXPECT_EQ(read("A=1\nfoo\n"), "x.conf line 2: expected Key=value at 'foo'");
    EXPECT_EQ(read("A=1 =3"), "x.conf line 1: expected Key=value at '=3'");
    EXPECT_EQ(read("A="), "x.conf line 1: A= has no value");
    EXPECT_NE(read("A=\"b").find("closing quote is missing"), std::string::npos);
    EXPECT_NE(read("A=\"b\"c").find("a blank must follow"), std::string::npos);
}

TEST(Lines, IncludeIsReplacedByItsFile) {
    Files files{{"/etc/nodes", "N=1\n"}, {"/opt/c1_more", "Include nodes\nM=2\n"}};
    EXPECT_EQ(read("ClusterName=c1\ninclude /opt/%c_more\nZ=3\n", files),
              "x.conf:1 ClusterName=c1;\nnodes:1 N=1;\n/opt/c1_more:2 M=2;\nx.conf:3 Z=3;\n");
    EXPECT_EQ(read("Include gone\n"), "x.conf line 1: Include gone: /etc/gone: not there");
    EXPECT_NE(read("Include %c").find("%c needs a ClusterName"), std::string::npos);
}

TEST(Lines, IncludeCyclesAndDepthAreRefused) {
    EXPECT_EQ(read("Include a", {{"/etc/a", "Include b"}, {"/etc/b", "\nInclude a"}}),
              "b line 2: Include a: the file includes itself");
    Files deep;
    for (int i = 0; i < 20; ++i) {
        deep[fmt::format("/etc/f{}", i)] = fmt::format("Include f{}", i + 1);
    }
    EXPECT_NE(read("Include f0", deep).find("nested more than 8 deep"), std::string::npos);
}

TEST(Lines, AnErrorInAnIncludedFileNamesThatFile) {
    EXPECT_EQ(read("Include a", {{"/etc/a", "\n\nX"}}), "a line 3: expected Key=value at 'X'");
}

TEST(Lines, AMissingFileGivesTheSystemsReason) {
    EXPECT_EQ(read_text_file("/nonexistent/x").error().detail,
              "/nonexistent/x: No such file or directory");
}

}  // namespace
}  // namespace sluice
