// config/print_test.cc: scontrol show config, byte for byte.
#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

// What the reference prints for kSite, with the lines and words that changed since its release.
constexpr std::string_view kSitePrinted = R"(AccountingStorageBackupHost = (null)
AccountingStorageEnforce = associations,limits,qos
AccountingStorageHost   = 127.0.0.1
AccountingStorageExternalHost = (null)
AccountingStorageParameters = (null)
AccountingStoragePort   = 26819
AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu,gres/gpu:a40,gres/gpu:h100
AccountingStorageType   = accounting_storage/slurmdbd
AccountingStoreFlags    = (null)
AcctGatherEnergyType    = (null)
AcctGatherFilesystemType = (null)
AcctGatherInterconnectType = (null)
AcctGatherNodeFreq      = 0 sec
AcctGatherProfileType   = (null)
AllowSpecResourcesUsage = no
AuthAltTypes            = (null)
AuthAltParameters       = (null)
AuthInfo                = socket=/srv/oracle/run/munge.socket
AuthType                = auth/munge
BatchStartTimeout       = 10 sec
BcastExclude            = /lib,/usr/lib,/lib64,/usr/lib64
BcastParameters         = (null)
BurstBufferType         = (null)
CertgenParameters       = (null)
CertgenType             = (null)
CertmgrParameters       = (null)
CertmgrType             = (null)
CliFilterParameters     = (null)
CliFilterPlugins        = (null)
ClusterName             = oracle
CommunicationParameters = (null)
CompleteWait            = 0 sec
CpuFreqDef              = Unknown
CpuFreqGovernors        = OnDemand,Performance,UserSpace
CredType                = cred/munge
DataParserParameters    = (null)
DebugFlags              = (null)
DefMemPerCPU            = 1000
DependencyParameters    = (null)
DisableRootJobs         = no
EioTimeout              = 60
EnforcePartLimits       = NO
EpilogMsgTime           = 2000 usec
EpilogSlurmctld         = (null)
FairShareDampeningFactor = 1
FederationParameters    = (null)
FirstJobId              = 1
GresTypes               = gpu
GpuFreqDef              = (null)
GroupUpdateForce        = 1
GroupUpdateTime         = 600 sec
HASH_VAL                = Match
HashPlugin              = hash/k12
HealthCheckInterval     = 0 sec
HealthCheckNodeState    = ANY
HealthCheckProgram      = (null)
HealthCheckTimeout      = 60 sec
HttpParserType          = http_parser/libhttp_parser
InactiveLimit           = 0 sec
InteractiveStepOptions  = --interactive --preserve-env --pty $SHELL
JobAcctGatherFrequency  = 5
JobAcctGatherType       = jobacct_gather/linux
JobAcctGatherParams     = (null)
JobCompHost             = localhost
JobCompLoc              = (null)
JobCompParams           = (null)
JobCompPass             = (null)
JobCompPort             = 0
JobCompType             = (null)
JobCompUser             = root
JobDefaults             = (null)
JobFileAppend           = 0
JobRequeue              = 1
JobSubmitPlugins        = (null)
KillOnBadExit           = 0
KillWait                = 5 sec
LaunchParameters        = (null)
LicenseParameters       = (null)
Licenses                = (null)
LogTimeFormat           = iso8601_ms
MailDomain              = (null)
MailProg                = /bin/true
MaxArraySize            = 10001
MaxBatchRequeue         = 5
MaxDBDMsgs              = 100024
MaxJobCount             = 50000
MaxJobId                = 67043328
MaxMemPerNode           = UNLIMITED
MaxNodeCount            = 6
MaxStepCount            = 40000
MaxTasksPerNode         = 512
MCSPlugin               = (null)
MCSParameters           = (null)
MessageTimeout          = 10 sec
MetricsAuthUsers        = (null)
MetricsParameters       = (null)
MetricsType             = (null)
MinJobAge               = 300 sec
MpiDefault              = none
MpiParams               = (null)
MULTIPLE_SLURMD         = Yes
NamespaceType           = (null)
NodeFeaturesPlugins     = (null)
OverTimeLimit           = 0 min
PluginDir               = /usr/lib/slurm
PlugStackConfig         = (null)
PreemptMode             = REQUEUE
PreemptParameters       = (null)
PreemptType             = preempt/partition_prio
PreemptExemptTime       = 00:00:00
PrEpParameters          = (null)
PrEpPlugins             = prep/script
PriorityParameters      = (null)
PrioritySiteFactorParameters = (null)
PrioritySiteFactorPlugin = (null)
PriorityDecayHalfLife   = 7-00:00:00
PriorityCalcPeriod      = 00:05:00
PriorityFavorSmall      = no
PriorityFlags           = 
PriorityMaxAge          = 7-00:00:00
PriorityUsageResetPeriod = NONE
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
PriorityWeightAssoc     = 0
PriorityWeightFairShare = 10000
PriorityWeightJobSize   = 0
PriorityWeightPartition = 1000
PriorityWeightQOS       = 2000
PriorityWeightTRES      = (null)
PrivateData             = none
ProctrackType           = proctrack/linuxproc
PrologEpilogTimeout     = 65534
PrologSlurmctld         = (null)
PrologFlags             = (null)
PropagatePrioProcess    = 0
PropagateResourceLimits = ALL
PropagateResourceLimitsExcept = (null)
RebootProgram           = (null)
ReconfigFlags           = (null)
RequeueExit             = (null)
RequeueExitHold         = (null)
ResumeFailProgram       = (null)
ResumeProgram           = (null)
ResumeRate              = 300 nodes/min
ResumeTimeout           = 60 sec
ResvEpilog              = (null)
ResvOverRun             = 0 min
ResvProlog              = (null)
ReturnToService         = 2
SchedulerParameters     = bf_interval=5,bf_continue,sched_interval=10
SchedulerTimeSlice      = 30 sec
SchedulerType           = sched/backfill
ScronParameters         = (null)
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CORE_MEMORY
SlurmUser               = root(0)
SlurmctldAddr           = (null)
SlurmctldDebug          = verbose
SlurmctldHost[0]        = vm(127.0.0.1)
SlurmctldHttpAuthParameters = (null)
SlurmctldLogFile        = /srv/oracle/log/slurmctld.log
SlurmctldPort           = 26817
SlurmctldSyslogDebug    = (null)
SlurmctldPrimaryOffProg = (null)
SlurmctldPrimaryOnProg  = (null)
SlurmctldTimeout        = 120 sec
SlurmctldParameters     = (null)
SlurmdDebug             = verbose
SlurmdHttpAuthParameters = (null)
SlurmdLogFile           = /srv/oracle/log/slurmd-%n.log
SlurmdParameters        = config_overrides
SlurmdPidFile           = /srv/oracle/run/slurmd-%n.pid
SlurmdPort              = 6818
SlurmdSpoolDir          = /srv/oracle/spool/%n
SlurmdSyslogDebug       = (null)
SlurmdTimeout           = 300 sec
SlurmdUser              = root(0)
SlurmSchedLogFile       = (null)
SlurmSchedLogLevel      = 0
SlurmctldPidFile        = /srv/oracle/run/slurmctld.pid
SLURM_CONF              = /etc/slurm.conf
SLURM_VERSION           = 26.05.3
SrunEpilog              = (null)
SrunPortRange           = 0-0
SrunProlog              = (null)
StateSaveLocation       = /srv/oracle/state
SuspendExcNodes         = (null)
SuspendExcParts         = (null)
SuspendExcStates        = (null)
SuspendProgram          = (null)
SuspendRate             = 60 nodes/min
SuspendTime             = INFINITE
SuspendTimeout          = 30 sec
SwitchParameters        = (null)
SwitchType              = (null)
TaskEpilog              = (null)
TaskPlugin              = (null)
TaskPluginParam         = (null type)
TaskProlog              = (null)
TCPTimeout              = 2 sec
TLSParameters           = (null)
TLSType                 = (null)
TmpFS                   = /tmp
TopologyParam           = (null)
TopologyPlugin          = topology/flat
TrackWCKey              = no
TreeWidth               = 16
UsePam                  = no
UnkillableStepProgram   = (null)
UnkillableStepTimeout   = 60 sec
UrlParserType           = url_parser/libhttp_parser
VSizeFactor             = 0 percent
WaitTime                = 0 sec
X11Parameters           = (null)
)";

bool has_line(const std::string& text, std::string_view line) {
    return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

TEST(PrintConfig, ASiteAsTheReferencePrintsIt) {
    EXPECT_EQ(print_config(must_parse(kSite)), kSitePrinted);
}

TEST(PrintConfig, WhatOnlyTheControllerKnows) {
    ControllerFacts facts{.boot_time = from_unix(0), .next_job_id = 7, .slurm_user_id = 64030};
    std::string text = print_config(small_with("SlurmUser=slurm"), facts);
    EXPECT_TRUE(has_line(text, "NEXT_JOB_ID             = 7"));
    EXPECT_TRUE(has_line(text, "SlurmUser               = slurm(64030)"));
    EXPECT_NE(text.find("\nBOOT_TIME               = 19"), std::string::npos);
    text = print_config(small_with("SlurmUser=slurm"));
    EXPECT_TRUE(has_line(text, "SlurmUser               = slurm"));
    EXPECT_EQ(text.find("NEXT_JOB_ID"), std::string::npos);
}

TEST(PrintConfig, LinesThatComeAndGo) {
    std::string text = print_config(small_with(
        "Prolog=/p\nSlurmctldHost=b(1.2.3.4)\nDefMemPerNode=5\nMaxMemPerCPU=6\nDefCpuPerGPU=2\n"
        "MessageTimeout=30\nPrivateData=Jobs\nEnforcePartLimits=yes"));
    for (const char* line :
         {"Prolog[0]               = /p", "SlurmctldHost[0]        = ctl",
          "SlurmctldHost[1]        = b(1.2.3.4)", "DefMemPerNode           = 5",
          "MaxMemPerCPU            = 6", "JobDefaults             = DefCpuPerGPU=2",
          "UnkillableStepTimeout   = 150 sec", "PrivateData             = jobs",
          "EnforcePartLimits       = ANY", "MaxDBDMsgs              = 0"}) {
        EXPECT_TRUE(has_line(text, line)) << line;
    }
    EXPECT_EQ(text.find("DefMemPerCPU"), std::string::npos);
    EXPECT_EQ(text.find("MaxMemPerNode"), std::string::npos);
    EXPECT_EQ(text.find("Epilog["), std::string::npos);
}

TEST(PrintConfig, CgroupsWhereTheyAreUsed) {
    std::string text = print_config(must_parse(kSmall));
    std::size_t at = text.find("\nCgroup Support Configuration:\n");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(text.substr(at), R"(
Cgroup Support Configuration:
AllowedRAMSpace         = 100.0%
AllowedSwapSpace        = 0.0%
CgroupMountpoint        = /sys/fs/cgroup
CgroupPlugin            = autodetect
ConstrainCores          = no
ConstrainDevices        = no
ConstrainRAMSpace       = no
ConstrainSwapSpace      = no
EnableControllers       = no
EnableExtraControllers  = (null)
IgnoreSystemd           = no
IgnoreSystemdOnFailure  = no
MaxRAMPercent           = 100.0%
MaxSwapPercent          = 100.0%
MemorySwappiness        = (null)
MinRAMSpace             = 30 MB
SystemdTimeout          = 1000 ms
)");
    EXPECT_EQ(print_config(small_with("ProctrackType=proctrack/pgid")).find("Cgroup"),
              std::string::npos);
}

}  // namespace
}  // namespace sluice
