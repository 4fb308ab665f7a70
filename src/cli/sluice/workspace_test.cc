#include "cli/sluice/workspace.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Workspace, SaysHowItIsReached) {
    EXPECT_EQ(how_to_reach(Workspace::Notebook, "n1 40123 abc\n", "login", "alice"),
              "ssh -N -L 40123:n1:40123 alice@login\nhttp://localhost:40123/lab?token=abc\n");
    EXPECT_EQ(how_to_reach(Workspace::Code, "n1 40123 abc\n", "login", "alice"),
              "ssh -N -L 40123:n1:40123 alice@login\nhttp://localhost:40123/  password: abc\n");
    EXPECT_EQ(how_to_reach(Workspace::Code, "n1 0 abc\n", "login", "alice"),
              "ssh -J alice@login alice@n1\n");
    EXPECT_EQ(how_to_reach(Workspace::Code, "", "login", "alice"), "");
}

}  // namespace
}  // namespace sluice
