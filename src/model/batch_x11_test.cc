#include "model/batch_x11.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(BatchX11, IsReadAsItIsPrinted) {
    const std::string cookie("\x00\x7f\xff", 3);
    const std::string text = print_batch_display("login1:10.2", cookie);
    EXPECT_EQ(text, "login1:10.2 007fff");
    EXPECT_EQ(parse_batch_display(text).value(), (BatchDisplay{"login1:10.2", 10, cookie}));
}

TEST(BatchX11, OtherTextsAreRefused) {
    for (const char* text : {"", "login1:10.0", "login1 00", ":0 00", "login1:x 00",
                             "login1:70000 00", "login1:1 0", "login1:1 0g", "login1:1 00 00"})
        EXPECT_FALSE(parse_batch_display(text)) << text;
}

}  // namespace
}  // namespace sluice
