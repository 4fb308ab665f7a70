// cli/common/job_setup_test.cc: what of its surroundings a submission takes along.
#include "cli/common/job_setup.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

Environment exported(const std::string& list, Tool tool = kSbatch) {
    Invocation invocation{.tool = "sbatch",
                          .environment = Environment({"HOME=/h", "FOO=1", "SLURM_X=y"}),
                          .directory = "/d"};
    JobOptions options;
    options.export_list = list;
    options.request.name = "job";
    return *environment_for_job(options, invocation, tool);
}

TEST(JobSetup, TheWholeEnvironmentIsExportedUnlessToldOtherwise) {
    Environment environment = exported("");
    EXPECT_EQ(environment.find("FOO"), "1");
    EXPECT_EQ(environment.find("SLURM_JOB_NAME"), "job");
    EXPECT_EQ(environment.find("SLURM_SUBMIT_DIR"), "/d");
    EXPECT_FALSE(environment.find("SLURM_GET_USER_ENV"));
}

TEST(JobSetup, NoneAndListsStartFromTheLoginEnvironment) {
    Environment none = exported("NONE");
    EXPECT_FALSE(none.find("FOO"));
    EXPECT_EQ(none.find("SLURM_X"), "y");
    EXPECT_EQ(none.find("SLURM_GET_USER_ENV"), "1");
    EXPECT_EQ(none.find("SLURM_EXPORT_ENV"), "NONE");
    Environment list = exported("BAR=2,HOME");
    EXPECT_EQ(list.find("BAR"), "2");
    EXPECT_EQ(list.find("HOME"), "/h");
    EXPECT_FALSE(list.find("FOO"));
    EXPECT_EQ(list.find("SLURM_GET_USER_ENV"), "1");
    EXPECT_FALSE(exported("NIL").find("SLURM_GET_USER_ENV"));
}

TEST(JobSetup, AllWithAssignmentsKeepsTheRest) {
    Environment environment = exported("ALL,BAR='a,b'");
    EXPECT_EQ(environment.find("FOO"), "1");
    EXPECT_EQ(environment.find("BAR"), "a,b");
}

TEST(JobSetup, TheBindingOfATaskIsNotThatOfItsJobs) {
    Environment of_task({"SLURM_CPU_BIND=quiet,mask_cpu:0x1",
                         "SLURM_CPU_BIND_TYPE=mask_cpu:", "SLURM_CPU_BIND_LIST=0x1",
                         "SLURM_CPU_BIND_VERBOSE=quiet", "SLURM_MEM_BIND=local"});
    forget_own_binding(of_task);
    EXPECT_EQ(of_task.entries(), std::vector<std::string>{"SLURM_MEM_BIND=local"});
    Environment of_user({"SLURM_CPU_BIND=verbose"});
    forget_own_binding(of_user);
    EXPECT_EQ(of_user.find("SLURM_CPU_BIND"), "verbose");
}

TEST(JobSetup, TheBindingOfMemoryHasAVariableForEachPart) {
    Environment environment(std::vector<std::string>{});
    set_memory_binding_variables(environment, "SBATCH_MEM_BIND", "");
    EXPECT_TRUE(environment.entries().empty());
    set_memory_binding_variables(environment, "SBATCH_MEM_BIND", "prefer,map_mem:0,1");
    EXPECT_EQ(environment.find("SBATCH_MEM_BIND"), "prefer,map_mem:0,1");
    EXPECT_EQ(environment.find("SBATCH_MEM_BIND_TYPE"), "map_mem:");
    EXPECT_EQ(environment.find("SBATCH_MEM_BIND_LIST"), "0,1");
    EXPECT_EQ(environment.find("SBATCH_MEM_BIND_VERBOSE"), "quiet");
    EXPECT_EQ(environment.find("SBATCH_MEM_BIND_PREFER"), "prefer");
}

TEST(JobSetup, TheDependencyIsThatOfTheJobAndNotOfItsParent) {
    Environment environment({"SLURM_JOB_DEPENDENCY=afterok:7"});
    JobRequest request;
    request.dependency = "afterany:12";
    set_dependency_variable(environment, request);
    EXPECT_EQ(environment.find("SLURM_JOB_DEPENDENCY"), "afterany:12");
    set_dependency_variable(environment, JobRequest{});
    EXPECT_EQ(environment.find("SLURM_JOB_DEPENDENCY"), std::nullopt);
}

}  // namespace
}  // namespace sluice
