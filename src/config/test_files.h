// config/test_files.h
//
// Configuration files that the tests of this room share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "config/config.h"

namespace sluice {

// The smallest file that is complete.
constexpr std::string_view kSmall =
    "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n[1-4] CPUs=4 RealMemory=1000\n"
    "PartitionName=all Nodes=ALL Default=YES\n";

inline Result<Config> parse(std::string_view text) {
    return parse_config(text, "/etc/slurm.conf");
}

inline Config must_parse(std::string_view text) {
    Result<Config> config = parse(text);
    if (config) return *std::move(config);
    ADD_FAILURE() << config.error().detail;
    return {};
}

// What is wrong with these lines after kSmall's.
inline std::string error_with(std::string_view more) {
    Result<Config> config = parse(std::string(kSmall) + std::string(more) + "\n");
    return config ? "no error" : config.error().detail;
}

inline std::string error_in(std::string_view text) {
    Result<Config> config = parse(text);
    return config ? "no error" : config.error().detail;
}

inline Config small_with(std::string_view more) {
    return must_parse(std::string(kSmall) + std::string(more) + "\n");
}

// A whole cluster as a real site describes one.
constexpr std::string_view kSite = R"(ClusterName=oracle
SlurmctldHost=vm(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/srv/oracle/run/munge.socket
CredType=cred/munge
StateSaveLocation=/srv/oracle/state
SlurmdSpoolDir=/srv/oracle/spool/%n
SlurmctldPidFile=/srv/oracle/run/slurmctld.pid
SlurmdPidFile=/srv/oracle/run/slurmd-%n.pid
SlurmctldLogFile=/srv/oracle/log/slurmctld.log
SlurmdLogFile=/srv/oracle/log/slurmd-%n.log
SlurmctldDebug=verbose
SlurmdDebug=verbose
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=5
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,bf_continue,sched_interval=10
PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityFavorSmall=NO
PriorityMaxAge=7-0
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightPartition=1000
PriorityWeightQOS=2000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=5
CompleteWait=0
MaxArraySize=10001
MaxJobCount=50000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=26819
AccountingStoragePass=/srv/oracle/run/munge.socket
AccountingStorageTRES=gres/gpu,gres/gpu:a40,gres/gpu:h100
AccountingStorageEnforce=associations,limits,qos
NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 State=UNKNOWN
NodeName=cpu1 NodeAddr=127.0.1.1 Port=26831 RealMemory=64000 Feature=cpu,epyc Weight=1
NodeName=cpu2 NodeAddr=127.0.1.2 Port=26832 RealMemory=64000 Feature=cpu,epyc Weight=1
NodeName=gpua1 NodeAddr=127.0.1.3 Port=26833 RealMemory=256000 Gres=gpu:a40:8 Feature=gpu,a40 Weight=10
NodeName=gpua2 NodeAddr=127.0.1.4 Port=26834 RealMemory=256000 Gres=gpu:a40:8 Feature=gpu,a40 Weight=10
NodeName=gpub1 NodeAddr=127.0.1.5 Port=26835 RealMemory=512000 Gres=gpu:h100:4 Feature=gpu,h100,nvlink Weight=20
NodeName=gpub2 NodeAddr=127.0.1.6 Port=26836 RealMemory=512000 Gres=gpu:h100:4 Feature=gpu,h100,nvlink Weight=20
PartitionName=debug Nodes=cpu[1-2],gpua1 Default=YES MaxTime=01:00:00 DefaultTime=00:10:00 MaxNodes=2 PriorityTier=30 PriorityJobFactor=10 PreemptMode=off State=UP
PartitionName=short Nodes=ALL MaxTime=2-00:00:00 DefaultTime=01:00:00 PriorityTier=20 PriorityJobFactor=5 PreemptMode=off State=UP
PartitionName=long Nodes=ALL MaxTime=7-00:00:00 DefaultTime=04:00:00 PriorityTier=20 PriorityJobFactor=1 PreemptMode=off State=UP
PartitionName=overcap Nodes=ALL MaxTime=7-00:00:00 DefaultTime=04:00:00 PriorityTier=1 PriorityJobFactor=1 PreemptMode=REQUEUE GraceTime=2 State=UP
)";

}  // namespace sluice
