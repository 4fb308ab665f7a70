// What a prolog may say; tests/integration/test_task_prolog.py runs some.
#include "stepd/task_hooks.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Entries = std::vector<std::string>;

TEST(PrologOutput, SetsAndRemovesVariablesAndPrints) {
    Environment environment(Entries{"HOME=/root", "GONE=1", "STAYS=1"});
    EXPECT_EQ(apply_prolog_output(environment,
                                  "export SCRATCH=/scratch/7\n"
                                  "export HOME=/home/ann\n"
                                  "unset GONE\n"
                                  "print hello there\n"
                                  "print and again"),
              "hello there\nand again\n");
    EXPECT_EQ(environment.entries(), (Entries{"HOME=/home/ann", "STAYS=1", "SCRATCH=/scratch/7"}));
}

TEST(PrologOutput, AValueGoesToTheEndOfItsLine) {
    Environment environment;
    apply_prolog_output(environment, "export A= a = b \nexport EMPTY=\nexport   WIDE=1\n");
    EXPECT_EQ(environment.entries(), (Entries{"A= a = b ", "EMPTY=", "WIDE=1"}));
}

TEST(PrologOutput, LaterLinesWin) {
    Environment environment;
    apply_prolog_output(environment, "export A=1\nexport A=2\nexport B=1\nunset B \n");
    EXPECT_EQ(environment.entries(), Entries{"A=2"});
}

TEST(PrologOutput, WhatIsNoneOfTheseMeansNothing) {
    Environment environment(Entries{"A=1"});
    for (std::string_view line : {" export B=1", "export B", "export =1", "export", "exports B=1",
                                  "unset", "unset ", "print", "printed", "", "nonsense"}) {
        EXPECT_EQ(apply_prolog_output(environment, line), "") << line;
    }
    EXPECT_EQ(apply_prolog_output(environment, std::string("export B=a\0b", 12)), "");
    EXPECT_EQ(environment.entries(), Entries{"A=1"});
}

TEST(Prologs, AStepWithoutAnyRunsItsProgramAtOnce) {
    wire::StepOrder order;
    ProcessSpec spec;
    add_prologs(spec, order);
    EXPECT_FALSE(spec.before_program);
    EXPECT_FALSE(has_epilogs(order));
    order.mutable_tasks()->mutable_spec()->set_task_prolog("/bin/true");
    order.set_task_epilog("/bin/true");
    add_prologs(spec, order);
    EXPECT_TRUE(spec.before_program);
    EXPECT_TRUE(has_epilogs(order));
}

}  // namespace
}  // namespace sluice
