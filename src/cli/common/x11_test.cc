#include "cli/common/x11.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string entry(std::string_view family, std::string_view address, std::string_view number,
                  std::string_view data) {
    std::string bytes(family);
    for (std::string_view text : {address, number, std::string_view("MIT-MAGIC-COOKIE-1"), data}) {
        bytes += '\0';
        bytes += static_cast<char>(text.size());
        bytes += text;
    }
    return bytes;
}
constexpr std::string_view kLocal("\1\0", 2), kAny("\xff\xff", 2);

TEST(X11, DisplaysOfThisAndOfOtherHosts) {
    const Result<XServer> forwarded = parse_display("localhost:10.1");
    ASSERT_TRUE(forwarded);
    EXPECT_EQ(forwarded->host, "localhost");
    EXPECT_EQ(forwarded->display, 10u);
    EXPECT_EQ(forwarded->screen, 1u);
    EXPECT_EQ(parse_display(":0")->host, "");
    EXPECT_EQ(parse_display("unix:3")->display, 3u);
    for (std::string_view bad : {"", "localhost", ":", ":x", ":1.y", ":70000"})
        EXPECT_FALSE(parse_display(bad)) << bad;
}

TEST(X11, TheCookieIsThatOfTheDisplayAndTheHost) {
    const std::string file = entry(kLocal, "other", "10", "A") + entry(kLocal, "here", "11", "B") +
                             entry(kLocal, "here", "10", "C") + entry(kAny, "", "12", "D");
    EXPECT_EQ(find_cookie(file, {.display = 10}, "here"), "C");
    EXPECT_EQ(find_cookie(file, {.display = 12}, "here"), "D");
    EXPECT_EQ(find_cookie(file, {.display = 13}, "here"), "");
    EXPECT_EQ(find_cookie(file.substr(0, file.size() - 1), {.display = 12}, "here"), "");
}

}  // namespace
}  // namespace sluice
