#include "cli/sbash/sbash.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/squeue/fake_cluster.h"

namespace sluice {
namespace {

std::string command_for(const std::vector<std::string>& args, bool at_terminal = true) {
    FakeCluster cluster;
    Invocation invocation{.tool = "sbash", .args = args, .directory = "/"};
    const auto command = sbash_command(invocation, cluster, at_terminal);
    return command ? join(*command, " ") : command.error().detail;
}

TEST(Sbash, AsksForTheShareOfOneGpu) {
    EXPECT_EQ(command_for({"-g", "a40", "-p", "debug", "-A", "lab"}),
              "srun --job-name=bash --nodes=1 --ntasks=1 --gpus=a40:1 --cpus-per-task=2 "
              "--mem=32000 --partition=debug --account=lab --pty /bin/bash -l");
    EXPECT_EQ(command_for({"--gpu=h100", "--mem=1G", "-t", "10"}, false),
              "srun --job-name=bash --nodes=1 --ntasks=1 --gpus=h100:1 --cpus-per-task=4 "
              "--mem=128000 --mem=1G -t 10 /bin/bash -l");
}

TEST(Sbash, TakesTheLeastOfAllNodesThatMayRunIt) {
    EXPECT_EQ(command_for({}),
              "srun --job-name=bash --nodes=1 --ntasks=1 --gpus=1 --cpus-per-task=2 "
              "--mem=32000 --pty /bin/bash -l");
}

TEST(Sbash, SaysWhichGpuThereIsNone) {
    EXPECT_EQ(command_for({"-gv100", "-pdebug"}),
              "no node of partition debug has a GPU of type v100; sinfo -o '%N %P %G' lists them");
}

}  // namespace
}  // namespace sluice
