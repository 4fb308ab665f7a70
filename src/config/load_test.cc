// config/load_test.cc: slurm.conf as a whole: keys, warnings and errors.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "config/settings.h"
#include "config/test_files.h"

namespace sluice {
namespace {

TEST(Load, ASiteWithGpusAndPartitions) {
    Config config = must_parse(kSite);
    EXPECT_EQ(config.cluster_name, "oracle");
    EXPECT_EQ(config.controllers, (std::vector<ControllerHost>{{"vm", "127.0.0.1"}}));
    EXPECT_EQ(config.slurmctld_port, 26817);
    EXPECT_EQ(config.auth_info, "socket=/srv/oracle/run/munge.socket");
    EXPECT_EQ(config.cred_expire, Seconds{120});
    EXPECT_EQ(config.kill_wait, Seconds{5});
    EXPECT_EQ(config.slurmctld_debug, LogLevel::Verbose);
    EXPECT_EQ(config.return_to_service, 2);
    EXPECT_EQ(config.def_mem_per_cpu, 1000u);
    EXPECT_EQ(config.max_job_count, 50000u);
    ASSERT_EQ(config.nodes.size(), 6u);
    const NodeConfig& gpu = config.nodes[4];
    EXPECT_EQ(gpu.name, "gpub1");
    EXPECT_EQ(gpu.address, "127.0.1.5");
    EXPECT_EQ(gpu.port, 26835);
    EXPECT_EQ(gpu.cpus, 16u);
    EXPECT_EQ(gpu.gres, (std::vector<GresCount>{{"gpu", "h100", 4}}));
    EXPECT_EQ(gpu.features, (std::vector<std::string>{"gpu", "h100", "nvlink"}));
    ASSERT_EQ(config.partitions.size(), 4u);
    EXPECT_EQ(config.partitions[0].nodes, (std::vector<std::string>{"cpu1", "cpu2", "gpua1"}));
    EXPECT_TRUE(config.partitions[0].is_default);
    EXPECT_EQ(config.partitions[3].grace_time, Seconds{2});
    EXPECT_EQ(config.partitions[3].preempt_mode->mode, PreemptMode::Requeue);
}

TEST(Load, OldSitesFilesStillWork) {
    Config config = must_parse(
        "ClusterName=Old\nControlMachine=head\nControlAddr=10.0.0.1\n"
        "FastSchedule=1\nCryptoType=crypto/munge\nGetEnvTimeout=2\nTopologyPlugin=topology/none\n"
        "SelectType=select/cons_res\nSwitchType=switch/none\nTaskPlugin=task/none\n"
        "NodeName=n1 Procs=4 State=IDLE\nPartitionName=p Nodes=n1 Shared=YES Priority=7\n");
    EXPECT_EQ(config.cluster_name, "old");
    EXPECT_EQ(config.controllers, (std::vector<ControllerHost>{{"head", "10.0.0.1"}}));
    EXPECT_EQ(config.select_type, "select/cons_tres");
    EXPECT_EQ(config.nodes[0].cpus, 4u);
    EXPECT_EQ(config.nodes[0].state, "UNKNOWN");
    EXPECT_EQ(print(config.partitions[0].oversubscribe), "YES:4");
    EXPECT_EQ(config.partitions[0].priority_tier, 7u);
    EXPECT_EQ(config.warnings, std::vector<std::string>{});
}

TEST(Load, OldNamesBesideTheNewOneAreIgnoredWithAWarning) {
    Config config = small_with("ControlMachine=other");
    EXPECT_EQ(config.controllers.size(), 1u);
    EXPECT_EQ(config.warnings,
              (std::vector<std::string>{
                  "slurm.conf: ignoring ControlMachine=other since SlurmctldHost is set"}));
}

TEST(Load, WhatHasNoEffectIsSaid) {
    Config config = small_with(
        "JobCompType=jobcomp/filetxt\nSwitchType=switch/none\nTreeWidth=16\n"
        "SuspendTime=-1\nBurstBufferType=none\nKillWait=9\nkillwait=8");
    EXPECT_EQ(config.warnings,
              (std::vector<std::string>{
                  "slurm.conf line 5: JobCompType=jobcomp/filetxt has no effect in Sluice",
                  "slurm.conf line 11: KillWait=8: given more than once, the last one counts"}));
    EXPECT_EQ(config.kill_wait, Seconds{8});
    EXPECT_EQ(config.as_written.at("JobCompType"), "jobcomp/filetxt");
    EXPECT_TRUE(config.unsupported.empty());
}

TEST(Load, TlsIsRefusedByName) {
    EXPECT_TRUE(small_with("TLSType=tls/none").warnings.empty());
    EXPECT_EQ(error_with("TLSType=tls/s2n"),
              "slurm.conf: TLSType=tls/s2n: TLS is not supported by Sluice; remove the key, or set "
              "TLSType=tls/none");
    for (const char* key : {"TLSParameters", "CertgenType", "CertgenParameters", "CertmgrType",
                            "CertmgrParameters"}) {
        EXPECT_EQ(
            error_with(fmt::format("TLSType=tls/none\n{}=x", key)),
            fmt::format("slurm.conf: {}=x: TLS is not supported by Sluice; remove the key", key));
    }
}

TEST(Load, WordsOfCommunicationParametersWithoutEffectAreSaid) {
    Config config =
        small_with("CommunicationParameters=NoCtldInAddrAny,noinaddrany,block_null_hash");
    EXPECT_EQ(config.warnings,
              (std::vector<std::string>{
                  "slurm.conf: CommunicationParameters=block_null_hash has no effect in Sluice"}));
    EXPECT_TRUE(config.has_flag(config.communication_parameters, "NoInAddrAny"));
}

TEST(Load, MailGoesWhereItIsSaid) {
    EXPECT_EQ(small_with("").mail_prog, "/bin/mail");
    Config config = small_with("MailProg=/usr/sbin/smail\nMailDomain=example.org");
    EXPECT_EQ(config.mail_prog, "/usr/sbin/smail");
    EXPECT_EQ(config.mail_domain, "example.org");
    EXPECT_TRUE(config.warnings.empty());
}

TEST(Load, AllWordsOfWhatAccountingEnforcesHaveAnEffect) {
    EXPECT_TRUE(
        small_with("AccountingStorageEnforce=associations,limits,nojobs,nosteps,qos,safe,wckeys")
            .warnings.empty());
    EXPECT_EQ(small_with("AccountingStorageEnforce=limits,other").warnings,
              std::vector<std::string>{
                  "slurm.conf line 5: AccountingStorageEnforce=other has no effect in Sluice"});
}

TEST(Load, UnknownKeysAreErrors) {
    EXPECT_EQ(error_with("Foo=1"), "slurm.conf line 5: unrecognized key 'Foo'");
    EXPECT_EQ(error_with("KilWait=1"),
              "slurm.conf line 5: unrecognized key 'KilWait' (did you mean 'KillWait'?)");
    EXPECT_EQ(error_with("NodNames=x"),
              "slurm.conf line 5: unrecognized key 'NodNames' (did you mean 'NodeName'?)");
    EXPECT_EQ(error_with("SlurmctldPlugstack=x"),
              "slurm.conf line 5: unrecognized key 'SlurmctldPlugstack'");
    EXPECT_EQ(error_with("HASH_VAL=x"), "slurm.conf line 5: unrecognized key 'HASH_VAL'");
}

TEST(Load, BadValuesAreErrors) {
    const std::pair<const char*, const char*> cases[] = {
        {"KillWait=5x", "KillWait=5x: expected a number of seconds"},
        {"SlurmctldPort=99999", "SlurmctldPort=99999: expected a port number"},
        {"SlurmctldDebug=loud", "SlurmctldDebug=loud: expected quiet, fatal"},
        {"ReturnToService=3", "ReturnToService=3: expected one of 0, 1, 2"},
        {"SelectType=select/foo", "SelectType=select/foo: expected one of select/cons_tres"},
        {"SelectTypeParameters=CR_FOO", "'CR_FOO' is unknown"},
        {"AuthType=auth/foo", "AuthType=auth/foo: expected one of auth/munge"},
        {"GpuFreqDef=fast", "GpuFreqDef=fast: "},
        {"AuthInfo=cred_expire=x", "AuthInfo: cred_expire=x: expected a number"},
        {"SchedulerParameters=max_script_size=0", "max_script_size=0: expected"},
        {"PreemptType=preempt/foo", "PreemptType=preempt/foo: expected preempt/none"},
        {"PreemptMode=REQUEUE", "PreemptMode=REQUEUE: needs PreemptType"},
        {"PreemptType=preempt/qos", "PreemptType=preempt/qos: needs PreemptMode"},
        {"TopologyPlugin=topology/foo", "TopologyPlugin=topology/foo: expected topology/flat"},
        {"Licenses=matlab:x", "Licenses=matlab:x: expected names"},
        {"PartitionName=p TRESBillingWeights=CPU", "TRESBillingWeights=CPU: expected weights"},
        {"FirstJobId=0", "FirstJobId=0: expected 1 to MaxJobId"},
        {"MaxJobId=99999999", "MaxJobId=99999999: expected at most"},
        {"MaxJobCount=0", "MaxJobCount=0"},
        {"MaxArraySize=9999999", "MaxArraySize=9999999: expected at most"},
        {"DefMemPerCPU=much", "DefMemPerCPU=much: expected a number of megabytes"},
        {"TaskPlugin=", "TaskPlugin= has no value"},
        {"KillWait=5 MinJobAge=3", "'MinJobAge' after KillWait=5: put each key on a line"},
        {"SlurmctldHost=a(", "SlurmctldHost=a(: expected name or name(address)"},
        {"Prolog=/a\nProlog=/b", "Prolog=/b: given twice"},
        {"Include other", "Include other: no other file"},
    };
    for (const auto& [line, expected] : cases) {
        EXPECT_NE(error_with(line).find(expected), std::string::npos)
            << line << " gives: " << error_with(line);
    }
}

TEST(Load, WhatEveryClusterMustSay) {
    EXPECT_EQ(error_in("SlurmctldHost=a\nNodeName=n1\n"),
              "slurm.conf: no ClusterName: accounting needs a name for this cluster");
    EXPECT_EQ(error_in("ClusterName=c\nNodeName=n1\n"),
              "slurm.conf: no SlurmctldHost: name the host that runs slurmctld");
    EXPECT_EQ(error_in("ClusterName=c\nSlurmctldHost=a\n"),
              "slurm.conf: no nodes: at least one NodeName line is needed");
}

TEST(Load, ValuesInsideListsHaveMembers) {
    Config config = small_with(
        "AuthInfo=socket=/x,cred_expire=60\nMessageTimeout=20\n"
        "SchedulerParameters=bf_continue,max_script_size=1000\n"
        "PrologEpilogTimeout=30\nDefCpuPerGPU=2\nDefMemPerGPU=4G");
    EXPECT_EQ(config.cred_expire, Seconds{60});
    EXPECT_EQ(config.max_script_size, 1000u);
    EXPECT_EQ(config.unkillable_step_timeout, Seconds{100});
    EXPECT_EQ(config.prolog_timeout, Seconds{30});
    EXPECT_EQ(config.job_defaults, "DefCpuPerGPU=2,DefMemPerGPU=4096");
    EXPECT_TRUE(config.has_flag(config.scheduler_parameters, "bf_continue"));
    EXPECT_FALSE(config.has_flag(config.scheduler_parameters, "bf"));
}

TEST(Load, FilesBesideSlurmConfAreRead) {
    std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "sluice_load_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "slurm.conf") << kSmall << "GresTypes=gpu\nInclude more.conf\n";
    std::ofstream(folder / "more.conf") << "KillWait=7\n";
    std::ofstream(folder / "gres.conf") << "NodeName=n[1-2] Name=gpu File=/dev/nvidia[0-3]\n";
    std::ofstream(folder / "cgroup.conf") << "ConstrainCores=yes\n";
    Result<Config> config = load_config(folder / "slurm.conf");
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_EQ(config->kill_wait, Seconds{7});
    EXPECT_TRUE(config->cgroup.constrain_cores);
    EXPECT_EQ(config->gres_of("n2").at(0).count, 4u);
    EXPECT_TRUE(config->gres_of("n3").empty());

    std::ofstream(folder / "gres.conf") << "NodeName=x Name=gpu\n";
    config = load_config(folder / "slurm.conf");
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_EQ(config->warnings.back(), "gres.conf: NodeName=x: no such node in slurm.conf");
    std::ofstream(folder / "gres.conf") << "Name=fpga\n";
    EXPECT_EQ(load_config(folder / "slurm.conf").error().detail,
              "gres.conf: Name=fpga: not in GresTypes=gpu of slurm.conf");

    Result<Config> settings = load_settings(folder / "slurm.conf");
    ASSERT_TRUE(settings) << settings.error().detail;
    EXPECT_EQ(settings->kill_wait, Seconds{7});
    EXPECT_TRUE(settings->nodes.empty() && settings->partitions.empty());
    std::ofstream(folder / "more.conf") << "KillWait=soon\n";
    EXPECT_FALSE(load_settings(folder / "slurm.conf"));
    std::filesystem::remove_all(folder);
    EXPECT_FALSE(load_config(folder / "slurm.conf"));
}

TEST(Load, TenThousandNodesInOneLine) {
    Config config = must_parse(
        "ClusterName=c\nSlurmctldHost=a\nGresTypes=gpu\n"
        "NodeName=n[00001-10000] CPUs=64 RealMemory=512000 Gres=gpu:a40:8 Feature=a,b\n"
        "PartitionName=all Nodes=ALL\nPartitionName=half Nodes=n[00001-05000]\n");
    EXPECT_EQ(config.nodes.size(), 10000u);
    EXPECT_EQ(config.partitions[1].nodes.size(), 5000u);
    EXPECT_EQ(config.find_node("n07777")->name, "n07777");
    EXPECT_EQ(config.find_node("n7777"), nullptr);
}

TEST(Load, PathOfTheFile) {
    EXPECT_EQ(config_path("/a", "/b", "/usr/bin/squeue"), "/a");
    EXPECT_EQ(config_path("", "/b", "/usr/bin/squeue"), "/b");
    EXPECT_EQ(config_path("", "", "/nonexistent/bin/squeue"), "/etc/slurm/slurm.conf");
    std::filesystem::path prefix = std::filesystem::path(testing::TempDir()) / "sluice_path_test";
    std::filesystem::create_directories(prefix / "etc");
    std::ofstream(prefix / "etc/slurm.conf") << "\n";
    EXPECT_EQ(config_path("", "", (prefix / "sbin/slurmd").string()), prefix / "etc/slurm.conf");
    EXPECT_EQ(config_path("", "", (prefix / "lib/squeue").string()), "/etc/slurm/slurm.conf");
    std::filesystem::remove_all(prefix);
}

TEST(Load, NodePathsExpand) {
    EXPECT_EQ(expand_node_path("/x/%n/%h/%%/%q%", "n1", "host"), "/x/n1/host/%/%q%");
}

TEST(Load, GarbageNeverCrashes) {
    rc::check([](const std::string& text) { (void)parse(text); });
    // Garbage that looks like a file: known keys with random values.
    rc::check([] {
        std::string text(kSmall);
        auto keys = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "NodeName", "PartitionName", "Nodes", "Port", "Gres", "CPUs", "KillWait", "NodeSet",
            "DownNodes", "State", "AuthInfo", "SlurmctldHost", "Sockets", "Feature", "MaxTime"));
        for (const std::string& key : keys) {
            auto value = *rc::gen::container<std::string>(
                rc::gen::element('n', '1', '9', '[', ']', '-', ',', ':', '=', '"', 'x', '(', ')'));
            text += key + "=" + value + *rc::gen::element<std::string>(" ", "\n", "\\\n");
        }
        (void)parse(text);
        std::vector<std::string> warnings;
        (void)parse_gres_conf(text, "gres.conf", warnings);
        (void)parse_cgroup_conf(text, "cgroup.conf", warnings);
    });
}

TEST(Load, TheRateOfRequestsIsLimitedAsAsked) {
    EXPECT_FALSE(small_with("").rate_limits.enabled);
    Config config = small_with("SlurmctldParameters=rl_enable,no_backup_scheduling");
    EXPECT_TRUE(config.rate_limits.enabled);
    EXPECT_EQ(config.rate_limits.bucket_size, 30u);
    EXPECT_EQ(config.rate_limits.refill_rate, 2u);
    EXPECT_EQ(config.rate_limits.refill_period, Seconds{1});
    EXPECT_EQ(config.rate_limits.table_size, 8192u);
    EXPECT_EQ(config.rate_limits.log_every, Seconds{0});
    EXPECT_EQ(config.warnings, (std::vector<std::string>{
                                   "slurm.conf line 5: SlurmctldParameters=no_backup_scheduling "
                                   "has no effect in Sluice"}));
    config = small_with(
        "SlurmctldParameters=RL_ENABLE,rl_bucket_size=5,rl_refill_rate=1,rl_refill_period=60,"
        "rl_table_size=7,rl_log_freq=-1");
    EXPECT_EQ(config.rate_limits.bucket_size, 5u);
    EXPECT_EQ(config.rate_limits.refill_rate, 1u);
    EXPECT_EQ(config.rate_limits.refill_period, Seconds{60});
    EXPECT_EQ(config.rate_limits.table_size, 7u);
    EXPECT_EQ(config.rate_limits.log_every, std::nullopt);
    EXPECT_TRUE(config.warnings.empty());
}

TEST(Load, ARateThatWouldLockUsersOutIsRefused) {
    for (const char* wrong :
         {"rl_bucket_size=0", "rl_refill_rate=0", "rl_refill_period=0", "rl_table_size=0",
          "rl_bucket_size=x", "rl_bucket_size", "rl_refill_rate=-1", "rl_bucket_size=1000001"}) {
        const std::string error = error_with(std::string("SlurmctldParameters=") + wrong);
        EXPECT_NE(error.find(wrong), std::string::npos) << wrong << ": " << error;
    }
}

TEST(Load, PrivateDataIsWhatItNames) {
    const Config config = small_with("PrivateData=Jobs,reservations,users,usage");
    EXPECT_TRUE(config.warnings.empty());
    const PrivateData hidden = settings_from(config, UserId{0})->private_data;
    EXPECT_TRUE(hidden.jobs && hidden.reservations && hidden.usage);
    EXPECT_FALSE(hidden.nodes || hidden.partitions);
    EXPECT_FALSE(settings_from(small_with("PrivateData=users"), UserId{0})->private_data.any());
}

}  // namespace
}  // namespace sluice
