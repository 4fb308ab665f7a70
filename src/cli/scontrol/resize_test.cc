// cli/scontrol/resize_test.cc
//
// The script that a user sources after a job was resized, for each kind of shell.
#include <gtest/gtest.h>

#include "cli/scontrol/session.h"

namespace sluice {
namespace {

TEST(ResizeScript, SetsWhatChangedAndForgetsTheTasks) {
    wire::JobAllocation job;
    job.set_job(22);
    job.set_node_names("n[1-3]");
    for (int cpus : {4, 2, 2}) {
        wire::NodeShare& node = *job.add_nodes();
        for (int cpu = 0; cpu < cpus; ++cpu) node.add_cpus(static_cast<std::uint32_t>(cpu));
    }
    EXPECT_EQ(resize_script(job, Shell::Bourne),
              "export SLURM_NODELIST=\"n[1-3]\"\n"
              "export SLURM_JOB_NODELIST=\"n[1-3]\"\n"
              "export SLURM_NNODES=3\n"
              "export SLURM_JOB_NUM_NODES=3\n"
              "export SLURM_JOB_CPUS_PER_NODE=\"4,2(x2)\"\n"
              "unset SLURM_NPROCS\n"
              "unset SLURM_NTASKS\n"
              "unset SLURM_TASKS_PER_NODE\n");
}

TEST(ResizeScript, OfAJobThatHasNothingLeft) {
    EXPECT_EQ(resize_script(wire::JobAllocation{}, Shell::C),
              "setenv SLURM_NODELIST \"\"\n"
              "setenv SLURM_JOB_NODELIST \"\"\n"
              "setenv SLURM_NNODES 0\n"
              "setenv SLURM_JOB_NUM_NODES 0\n"
              "setenv SLURM_JOB_CPUS_PER_NODE \"\"\n"
              "unsetenv SLURM_NPROCS\n"
              "unsetenv SLURM_NTASKS\n"
              "unsetenv SLURM_TASKS_PER_NODE\n");
}

}  // namespace
}  // namespace sluice
