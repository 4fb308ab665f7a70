#include <gtest/gtest.h>

#include "config/setters.h"
#include "config/settings.h"
#include "config/test_files.h"

namespace sluice {
namespace {

std::string flags_in(std::string_view words) {
    return print_prolog_flags(small_with(fmt::format("PrologFlags={}", words)).prolog_flags);
}

TEST(PrologFlags, SomeImplyOthers) {
    EXPECT_EQ(flags_in("Contain"), "Alloc,Contain");
    EXPECT_EQ(flags_in("x11"), "Alloc,Contain,X11");
    EXPECT_EQ(flags_in("DeferBatch,serial"), "Alloc,DeferBatch,Serial");
    EXPECT_EQ(flags_in("ForceRequeueOnFail"), "Alloc,ForceRequeueOnFail");
    EXPECT_EQ(flags_in("NoHold"), "Alloc,NoHold");
    EXPECT_EQ(print_prolog_flags({}), "(null)");
}

TEST(PrologFlags, WhatCannotBeIsRefused) {
    EXPECT_EQ(error_with("PrologFlags=Contian"),
              "slurm.conf: PrologFlags=Contian: expected Alloc, Contain, DeferBatch, "
              "ForceRequeueOnFail, NoHold, Serial or X11");
    EXPECT_EQ(error_with("PrologFlags=NoHold,X11"),
              "slurm.conf: PrologFlags: NoHold cannot be combined with Contain or X11");
}

TEST(PrologFlags, AJobWaitsOnlyWhereThereIsAProlog) {
    const auto rules = [](std::string_view lines) {
        return settings_from(small_with(lines), UserId{0})->prolog_rules;
    };
    EXPECT_FALSE(rules("PrologFlags=Contain").holds);
    EXPECT_TRUE(rules("PrologFlags=Contain\nProlog=/x").holds);
    EXPECT_FALSE(rules("PrologFlags=NoHold\nProlog=/x").holds);
    EXPECT_TRUE(rules("PrologFlags=NoHold\nProlog=/x").at_allocation);
}

}  // namespace
}  // namespace sluice
