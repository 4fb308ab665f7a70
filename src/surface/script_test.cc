// surface/script_test.cc: directives in scripts.
#include "surface/script.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

std::vector<std::string> words_in(const std::string& line) {
    Result<std::vector<Directive>> found = directives_in("#!/bin/sh\n" + line + "\n", "s");
    return found && found->size() == 1 ? (*found)[0].words : std::vector<std::string>{"?"};
}

using Words = std::vector<std::string>;

TEST(Script, DirectivesAreCutAtBlanksAndCommentsWithQuotesHonoured) {
    EXPECT_EQ(words_in("#SBATCH --job-name=\"a b\"   # why"), (Words{"--job-name=a b"}));
    EXPECT_EQ(words_in("#SBATCH\t-J\ttab"), (Words{"-J", "tab"}));
    EXPECT_EQ(words_in("#SBATCH-J dash"), (Words{"-J", "dash"}));
    EXPECT_EQ(words_in("#SBATCH --comment=5#foo"), (Words{"--comment=5"}));
    EXPECT_EQ(words_in("#SBATCH -J \"a#b\""), (Words{"-J", "a#b"}));
    EXPECT_EQ(words_in("#SBATCH --comment='a\\'b'"), (Words{"--comment=a'b"}));
    EXPECT_EQ(words_in("#SBATCH --comment=\"\""), (Words{"--comment="}));
}

TEST(Script, DirectivesEndAtTheFirstCommand) {
    Result<std::vector<Directive>> found = directives_in(
        "#!/bin/sh\n#SBATCH -Jone\n\n  \n# comment\n ##SBATCH -Jno\n#SBATCH -Jtwo\n : x\n#SBATCH "
        "-Jthree\n",
        "s");
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[1], (Directive{Directive::Kind::Sbatch, 7, {"-Jtwo"}}));
}

TEST(Script, LinesOfOtherSystemsCountUnlessIgnored) {
    JobOptions options;
    std::string script = "#!/bin/sh\n#PBS -N pbs -l nodes=2:ppn=4,walltime=00:05:00\n";
    ASSERT_TRUE(apply_directives(options, script, "s", false, Time{}));
    EXPECT_EQ(options.request.name, "pbs");
    EXPECT_EQ(options.request.shape.nodes_min, 2u);
    EXPECT_EQ(options.request.shape.ntasks_per_node, 4u);
    EXPECT_EQ(options.request.time_limit, TimeLimit(Minutes{5}));
    JobOptions ignoring;
    ASSERT_TRUE(apply_directives(ignoring, script, "s", true, Time{}));
    EXPECT_EQ(ignoring.request.name, "");
}

TEST(Script, WhatIsNoScriptIsRefused) {
    EXPECT_TRUE(check_script("#!/bin/sh\ntrue\n"));
    EXPECT_EQ(check_script("").error().detail, "Batch script is empty!");
    EXPECT_FALSE(check_script("  \n\n"));
    EXPECT_FALSE(check_script("hostname\n"));
    EXPECT_FALSE(check_script("#!/bin/sh\r\ntrue\r\n"));
    EXPECT_FALSE(check_script(std::string_view("#!/bin/sh\ntr\0ue\n", 16)));
}

RC_GTEST_PROP(Script, NoScriptBreaksTheReader, (const std::string& text)) {
    JobOptions options;
    static_cast<void>(apply_directives(options, "#SBATCH " + text, "s", false, Time{}));
    static_cast<void>(check_script(text));
}

}  // namespace
}  // namespace sluice
