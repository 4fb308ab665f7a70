#include "surface/job_options_manual.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice {

namespace {

// Other spellings of an option; --interactive is for salloc's own use.
constexpr std::string_view kUnlisted[] = {"tasks-per-node", "cpu_bind", "interactive"};

TEST(JobOptionManual, EveryOptionThatIsSupportedHasAHelpText) {
    for (const JobOption& option : job_options()) {
        const bool is_unlisted = std::find(std::begin(kUnlisted), std::end(kUnlisted),
                                           option.name) != std::end(kUnlisted);
        if (!option.set) continue;
        EXPECT_EQ(option.help == nullptr, is_unlisted) << option.name;
    }
}

TEST(JobOptionManual, EveryTextBelongsToAnOptionOfTheTool) {
    const auto options = job_options();
    for (const JobOptionManual& manual : job_option_manuals()) {
        EXPECT_TRUE(std::any_of(options.begin(), options.end(), [&](const JobOption& option) {
            return option.name == manual.name && (option.tools & manual.tools) && option.set &&
                   option.help;
        })) << manual.name;
        EXPECT_TRUE(manual.text.ends_with('.')) << manual.name;
    }
}

TEST(JobOptionManual, VariablesAreNamedWithTheOption) {
    const std::vector<OptionHelp> options = job_option_help(kSrun);
    const auto nodes = std::find_if(options.begin(), options.end(), [](const OptionHelp& option) {
        return option.name == "nodes";
    });
    ASSERT_NE(nodes, options.end());
    EXPECT_EQ(nodes->variables, (std::vector<std::string>{"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}));
}

TEST(JobOptionManual, SpellingsShowOptionalValues) {
    EXPECT_EQ(option_spelling({.name = "nice", .value = "[value]"}), "--nice[=value]");
    EXPECT_EQ(option_spelling({.name = "array", .letter = 'a', .value = "indexes"}),
              "-a, --array=indexes");
    EXPECT_EQ(option_spelling({.name = "signal", .value = "[[R][B]:]num"}),
              "--signal=[[R][B]:]num");
}

TEST(JobOptionManual, UsageIsCutIntoLines) {
    const std::vector<OptionHelp> options(5,
                                          {.name = "some-long-option", .value = "x", .text = "y"});
    EXPECT_EQ(usage_lines("tool", options, "FILE"),
              "Usage: tool [--some-long-option=x] [--some-long-option=x] [--some-long-option=x]\n"
              "            [--some-long-option=x] [--some-long-option=x]\n"
              "            FILE\n");
}

}  // namespace

}  // namespace sluice
