// config/unsupported_test.cc: what slurmctld refuses to run without.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "config/keys.h"
#include "config/settings.h"
#include "config/test_files.h"

namespace sluice {
namespace {

std::string refusal_of(std::string_view more) {
    const Config config = small_with(more);
    const Result<void> ok = check_supported(config);
    EXPECT_TRUE(config.warnings.empty()) << config.warnings.front();
    return ok ? "" : ok.error().detail.substr(0, ok.error().detail.find('\n'));
}

TEST(Unsupported, KeysThatChangeWhatHappensToJobsAreRefusedWithTheirLine) {
    EXPECT_EQ(refusal_of("KillWait=5\nJobSubmitPlugins=lua"),
              "slurm.conf line 6: JobSubmitPlugins=lua is not supported: slurmctld runs no submit "
              "plugins; limits of partitions and QOS are enforced");
    const std::string_view lines[] = {
        "CliFilterPlugins=cli_filter/lua",
        "MCSPlugin=mcs/user",
        "PlugStackConfig=/etc/plugstack.conf",
        "PrEpPlugins=prep/other",
        "PrioritySiteFactorPlugin=site_factor/x",
        "ResvEpilog=/x",
        "ResvProlog=/x",
        "UsePAM=1",
        "PrologFlags=Contain,RunInJob",
        "TaskPluginParam=SlurmdSpecOverride",
        "TaskPluginParam=cores,SlurmdSpecOverride",
    };
    for (std::string_view line : lines) {
        EXPECT_TRUE(refusal_of(line).starts_with("slurm.conf line 5: ")) << line;
    }
}

TEST(Unsupported, AskingForWhatHappensAnywayIsFine) {
    for (std::string_view line :
         {"MpiDefault=none", "UsePAM=0", "PriorityWeightFairshare=0", "InactiveLimit=0",
          "PrEpPlugins=prep/script", "JobContainerType=job_container/none", "TaskPlugin=task/none",
          "TaskPlugin=task/cgroup", "TaskPlugin=task/affinity,task/cgroup",
          "TaskPluginParam=autobind=cores,verbose", "AccountingStorageEnforce=associations,wckeys",
          "FastSchedule=1", "LaunchParameters=use_interactive_step", "KillOnBadExit=1",
          "JobFileAppend=1"}) {
        EXPECT_EQ(refusal_of(line), "") << line;
    }
}

TEST(Unsupported, SecondControllersNeedASharedState) {
    const std::string refusal = refusal_of("SlurmctldHost=b(10.0.0.2)");
    EXPECT_NE(refusal.find("backup controller b is not supported with StateSaveLocation=/var/"),
              std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find("StateSaveLocation=postgresql://HOST/DATABASE"), std::string::npos);
    const Config old = must_parse(
        "ClusterName=c\nControlMachine=a\nBackupController=b\nNodeName=n1\n"
        "PartitionName=p Nodes=n1\n");
    EXPECT_EQ(old.unsupported.size(), 1u);
    EXPECT_EQ(refusal_of("SlurmctldHost=b\nStateSaveLocation=postgresql://db1,db2/sluice?a=b"), "");
}

TEST(Unsupported, TheFileMayAskToRunWithoutThem) {
    const Config config = small_with(
        "UsePAM=1\nSlurmctldHost=b\nTaskPluginParam=SlurmdSpecOverride\n"
        "SlurmctldParameters=ignore_unsupported,enable_configless");
    EXPECT_TRUE(check_supported(config).has_value());
    EXPECT_EQ(config.warnings,
              (std::vector<std::string>{
                  "slurm.conf line 8: SlurmctldParameters=enable_configless has no effect in "
                  "Sluice",
                  "slurm.conf line 5: UsePam=1 is not supported: jobs start without a PAM session",
                  "slurm.conf line 7: TaskPluginParam=SlurmdSpecOverride is not supported: CPUs "
                  "that are kept from jobs come from slurm.conf; use CpuSpecList or CoreSpecCount",
                  "slurm.conf: backup controller b is not supported with "
                  "StateSaveLocation=/var/spool, which is a directory of one controller: let it "
                  "name a PostgreSQL database that all controllers use "
                  "(StateSaveLocation=postgresql://HOST/DATABASE), or take b out"}));
}

TEST(Unsupported, OnlyNewWarningsAreToldAgain) {
    const Config before = small_with("UsePAM=1\nEioTimeout=20");
    const Config after = small_with("UsePAM=1\nEioTimeout=30");
    EXPECT_EQ(new_warnings(before, nullptr).size(), 2u);
    EXPECT_TRUE(new_warnings(before, &before).empty());
    EXPECT_EQ(new_warnings(after, &before),
              std::vector<std::string>{"slurm.conf line 6: EioTimeout=30 has no effect in Sluice"});
}

TEST(Unsupported, ObsoleteKeysNameTheirReplacement) {
    EXPECT_EQ(error_with("AccountingStoreJobComment=YES"),
              "slurm.conf line 5: AccountingStoreJobComment=YES is no longer valid: use "
              "AccountingStoreFlags=job_comment");
    EXPECT_EQ(error_with("FastSchedule=2"),
              "slurm.conf line 5: FastSchedule=2 is no longer valid: use "
              "SlurmdParameters=config_overrides");
}

TEST(Unsupported, ExitCodesThatRequeueAreRanges) {
    const auto settings = settings_from(small_with("RequeueExit=1-3,9\nRequeueExitHold=255"), {});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->requeue_exit, (std::vector<std::uint8_t>{1, 2, 3, 9}));
    EXPECT_EQ(settings->requeue_exit_hold, (std::vector<std::uint8_t>{255}));
    EXPECT_EQ(error_with("RequeueExit=256"),
              "slurm.conf: RequeueExit=256: expected exit codes from 0 to 255 such as 1-9,18");
    EXPECT_EQ(error_with("RequeueExitHold=x"),
              "slurm.conf: RequeueExitHold=x: expected exit codes from 0 to 255 such as 1-9,18");
}

}  // namespace
}  // namespace sluice
