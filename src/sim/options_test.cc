// sim/options_test.cc: how ssim is called.
#include "sim/options.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string error_of(const std::vector<std::string>& args) {
    Result<SimOptions> options = parse_sim_options(args);
    return options ? "" : options.error().detail;
}

TEST(SimOptions, AreTakenInBothSpellings) {
    SimOptions options =
        parse_sim_options({"run", "--nodes=4", "--cpus", "8", "--html=x", "t.swf"}).value();
    EXPECT_EQ(options.nodes, 4u);
    EXPECT_EQ(options.cpus, 8u);
    EXPECT_EQ(options.trace, "t.swf");
    EXPECT_EQ(parse_sim_options({"faults", "--seeds=3..9"}).value().seed_last, 9u);
    EXPECT_EQ(parse_sim_options({"faults", "--seeds", "5"}).value().seed_last, 5u);
    EXPECT_EQ(parse_sim_options({"faults", "a.trace"}).value().trace, "a.trace");
    EXPECT_EQ(parse_sim_options({"generate", "csv", "--load=1.5"}).value().generate.load, 1.5);
}

TEST(SimOptions, MistakesAreNamed) {
    EXPECT_EQ(error_of({}), "run, compare, generate or faults is expected");
    EXPECT_EQ(error_of({"walk"}), "walk: run, compare, generate or faults is expected");
    EXPECT_EQ(error_of({"run", "--nodes=x", "t"}), "--nodes=x: a number from 1 on is expected");
    EXPECT_EQ(error_of({"run", "--nodes"}), "--nodes: N is missing");
    EXPECT_EQ(error_of({"run", "--seeds=1", "t"}), "--seeds: ssim run has no use for it");
    EXPECT_EQ(error_of({"run", "--conf=a", "--nodes=1", "t"}),
              "run: either --conf or --nodes, --cpus and --gpus");
    EXPECT_EQ(error_of({"run", "--color", "t"}), "unrecognized option '--color'");
    EXPECT_EQ(error_of({"compare", "--conf=a", "t"}), "compare: --conf is needed twice");
    EXPECT_EQ(error_of({"generate", "xls"}), "generate xls: swf or csv is expected");
    EXPECT_EQ(error_of({"generate", "swf", "--load=-1"}),
              "--load=-1: a load such as 0.8 is expected");
    EXPECT_EQ(error_of({"faults", "--seeds=9..3"}),
              "--seeds=9..3: a range such as 1..100 is expected");
    EXPECT_EQ(error_of({"run", "--nodes=1", "a", "b"}), "b: one word too many");
    EXPECT_EQ(error_of({"generate", "swf", "b"}), "b: one word too many");
    for (const char* option : {"--seeds=3", "--nodes=3", "--jobs=3"}) {
        EXPECT_EQ(error_of({"faults", option, "a.trace"}),
                  "faults: the trace has its own --seeds, --nodes and --jobs");
    }
}

}  // namespace
}  // namespace sluice
