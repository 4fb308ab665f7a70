// model/columns.h
//
// The raw values that listings can contain. core/query fills them, surface/ formats them for users.
// The numbers are part of the protocol: append, never renumber. (t) marks a text column, the others
// are numbers; times are Unix seconds, lengths seconds, memory megabytes, flags 0 or 1.
#pragma once

#include <cstdint>

namespace sluice {

enum class JobColumn : std::uint16_t {
    Id,
    ArrayJobId,   // absent unless part of an array
    ArrayTaskId,  // absent unless a task that is a job of its own
    ArrayTasks,   // (t) tasks of an array's record that have not started: "1-5,9"
    ArrayLimit,   // %limit, 0: none
    Name,         // (t)
    UserId,
    GroupId,
    Account,       // (t)
    Qos,           // (t)
    Partition,     // (t)
    State,         // ShownState
    BaseState,     // JobState
    Reason,        // Reason
    ReasonDetail,  // (t)
    Priority,
    Nice,
    Requeue,
    Restarts,
    Batch,     // 1: batch
    ExitCode,  // code * 256 + signal
    DerivedExitCode,
    SubmitTime,
    EligibleTime,
    StartTime,  // expected start for pending ones, when known
    EndTime,    // expected end for running ones
    Deadline,
    TimeLimit,  // seconds, kUnlimited; absent: partition's default, not yet known
    TimeMin,
    LastSchedEval,
    SuspendedSeconds,
    AllocNode,  // (t) submit host
    AllocSid,
    ReqNodes,         // (t)
    ExcNodes,         // (t)
    NodeList,         // (t) allocated
    CompletingNodes,  // (t) while completing
    BatchHost,        // (t)
    NodeCount,        // allocated, or wanted at least
    NodeCountMax,     // wanted at most; absent: no maximum
    CpuCount,         // allocated, or wanted at least
    TaskCount,
    CpusPerTask = 43,  // absent unless given
    NtasksPerNode,     // absent unless given
    MinCpusNode,
    MemPerNode,  // absent unless asked for or by default
    MemPerCpu,   // absent unless asked for or by default
    MinTmpDisk,
    ReqTres,        // (t)
    AllocTres,      // (t)
    TresPerNode,    // (t) "gres/gpu:a40:2"
    TresPerJob,     // (t)
    TresPerTask,    // (t) "cpu=2,gres/gpu=1"
    Features,       // (t)
    OverSubscribe,  // 1: requested, 2: by its partition
    Exclusive,      // Exclusive
    Licenses,       // (t)
    Reservation,    // (t)
    Dependency,     // (t)
    Command,        // (t)
    SubmitLine,     // (t)
    WorkDir,        // (t)
    StdIn,          // (t) pattern
    StdOut,         // (t) pattern, "" for interactive
    StdErr,         // (t) pattern, "" unless given
    Comment,        // (t)
    AdminComment,   // (t)
    MailUser,       // (t)
    MailType,       // (t)
    Wckey,          // (t)
    Sluid,          // (t)
    // (t) per node: "Nodes=n1 CPU_IDs=0-1 Mem=4096 GRES=gpu:h100:2(IDX:0-1)\n..."
    AllocDetail = 73,
    NtasksPerSocket = 75,  // absent unless given, as the next ones
    NtasksPerCore,
    NtasksPerGpu,
    SocketsPerNode,
    CoresPerSocket,
    ThreadsPerCore,
    CoreSpec,
    MemPerGpu,
    Contiguous,
    SpreadJob,
    UseMinNodes,
    GresEnforceBind,
    SwitchesMax,        // absent unless given
    SwitchesWait,       // seconds, no longer than the controller allows
    Prefer,             // (t)
    CpusPerTres,        // (t) "gres/gpu:3"
    MemPerTres,         // (t) "gres/gpu:2048"
    TresPerSocket,      // (t) "gres/gpu:a40:1"
    SuspendTime,        // last suspended or resumed; absent: never
    LicensesAlloc,      // (t) "matlab:2"
    KillOnInvalidDep,   // 1: asked for; 0: forbidden; absent: neither
    TresBind = 130,     // (t) "gres/gpu:single:1"
    ThreadSpec,         // absent unless given
    NodeSizes,          // (t) "1,5,9": the allowed node counts; empty: all from minimum to maximum
    TresFreq = 140,     // (t) "gpu:medium,memory=high"
    SchedNodes = 160,   // (t) where a waiting job is expected to start, when known
    LastCheckpoint,     // absent: it has reported none
    Extra,              // (t)
    AllocLayout = 170,  // (t) of each line of AllocDetail: sockets, cores of each, CPUs of a core:
                        // "2:8:1\n..."
    PriorityFactors =
        200,          // (t) a line per partition, see model/priority.h; empty: it has none to show
    Container = 340,  // (t) a bundle or an image
    Sync = 450,       // (t) --sync, a line each
    DataProblem = 451,  // (t) what last went wrong with its files on a node
    StageIn = 330,      // (t) as asked for: "/data/a:a,/data/b:b,stream"
    StageState,         // (t) "STAGING", "READY"; empty: nothing to stage, or not started
    StageBytes,         // on all nodes together; absent: as StageState
    StageTotal,         // absent: not known yet
    StageRead,          // from the source, by all nodes; absent: as StageState
    GpuState = 500,     // (t) "IDLE" or "HUNG": it was warned
    GpusIdleSince,      // absent: they are used
};

enum class NodeColumn : std::uint16_t {
    Name,      // (t)
    Hostname,  // (t)
    Address,   // (t)
    Port,
    Arch,       // (t) empty: never registered
    Os,         // (t)
    Version,    // (t)
    BaseState,  // NodeBase with use taken into account: Idle, Mixed, Allocated, Down, Unknown
    Flags,      // NodeFlag
    Cpus,
    AllocCpus,
    Boards,
    Sockets,
    CoresPerSocket,
    ThreadsPerCore,
    RealMemory,
    AllocMemory,
    FreeMemory,  // absent: never registered
    TmpDisk,
    Weight,
    Load,        // hundredths; absent: never registered
    Features,    // (t)
    Gres,        // (t) as configured: "gpu:a40:8"
    GresUsed,    // (t) "gpu:a40:2(IDX:0-1)"
    Partitions,  // (t) comma list
    BootTime,
    SlurmdStartTime,
    LastBusyTime,
    Reason,  // (t)
    ReasonTime,
    ReasonUser,
    CfgTres,    // (t)
    AllocTres,  // (t)
    Comment,    // (t)
    CoreSpecCount,
    MemSpecLimit,
    Reservation,        // (t) the active one on this node
    NextState,          // AfterReboot, of a node with a requested reboot
    FreeScratch,        // MB; absent: never registered
    ResumeAfter,        // absent: none
    SuspendTime,        // seconds, kUnlimited
    GresDrained = 500,  // (t) "gpu:0,3"
    GresDrainReason,    // (t) "gpu:0: XID 79, ..."
};

enum class PartitionColumn : std::uint16_t {
    Name,  // (t)
    IsDefault,
    State,     // (t) UP DOWN DRAIN INACTIVE
    Nodes,     // (t) compact
    NodeSets,  // (t)
    TotalNodes,
    TotalCpus,
    MaxTime,      // seconds, kUnlimited
    DefaultTime,  // absent: NONE
    MinNodes,
    MaxNodes,          // kUnlimited
    MaxCpusPerNode,    // kUnlimited
    MaxCpusPerSocket,  // kUnlimited
    DefMemPerCpu,      // absent
    DefMemPerNode,     // absent: UNLIMITED
    MaxMemPerCpu,
    MaxMemPerNode,
    Hidden,
    RootOnly,
    ReqResv,
    DisableRootJobs,
    Lln,
    AllowGroups,    // (t) "ALL"
    AllowAccounts,  // (t) "ALL"
    DenyAccounts,   // (t)
    AllowQos,       // (t) "ALL"
    DenyQos,        // (t)
    AllocNodes,     // (t) "ALL"
    Alternate,      // (t)
    Qos,            // (t)
    OverSubscribe,  // (t) "NO"
    Exclusive,      // (t) "NO"
    PreemptMode,    // (t) "OFF"
    GraceTime,
    PriorityJobFactor,
    PriorityTier,
    OverTimeLimit,
    JobDefaults,         // (t)
    Tres,                // (t)
    TresBillingWeights,  // (t)
    ResumeTimeout,       // absent: the cluster's
    SuspendTimeout,      // likewise
    SuspendTime,         // likewise; kUnlimited
    PowerDownOnIdle,
    GpuPolicy = 500,  // (t) "GpuIdleWarn=00:30:00 GpuIdlePercent=5 ..."; empty: none
};

enum class StepColumn : std::uint16_t {
    JobId,
    ArrayJobId,
    ArrayTaskId,
    StepId,  // kBatchStep for the batch script
    Name,    // (t)
    UserId,
    Partition,  // (t)
    State,      // StepState
    StartTime,
    TimeLimit,  // kUnlimited
    NodeList,   // (t)
    NodeCount,
    TaskCount,
    CpuCount,
    Tres,         // (t)
    TresPerNode,  // (t)
    SubmitHost,   // (t)
    ExitCode,
    TresBind = 40,      // (t) "gres/gpu:per_task:1"
    Distribution = 50,  // (t) "block:cyclic"
    Container = 340,    // (t) a bundle or an image
};

enum class LicenseColumn : std::uint16_t {
    Name,  // (t)
    Total,
    Used,
    Reserved,  // by reservations that are active now
};

enum class ReservationColumn : std::uint16_t {
    Name,  // (t)
    StartTime,
    EndTime,
    IsActive,
    Nodes,  // (t) compact
    NodeCount,
    CoreCount,
    Tres,         // (t)
    Features,     // (t)
    Partition,    // (t)
    Flags,        // (t)
    Users,        // (t) user ids: "0,1000"
    UsersDenied,  // 1: all users but these
    Accounts,     // (t)
    AccountsDenied,
    PurgeAfter,         // absent: stays
    Groups,             // (t)
    Licenses,           // (t)
    MaxStartDelay,      // absent: none
    Comment,            // (t)
    Qos,                // (t)
    QosDenied,          // 1: all but these
    AllowedPartitions,  // (t)
    PartitionsDenied,
    CoreIds,  // (t) per node: "NodeName=n1 CoreIDs=0-1\n..."; empty: no fixed cores
};

// Associations, in the order of their tree: parents first. Fractions are texts, "0.364706" or
// "inf".
enum class ShareColumn : std::uint16_t {
    Id,
    ParentId,        // absent: of the root
    Cluster,         // (t)
    Account,         // (t)
    User,            // (t) empty: of the account itself
    Partition,       // (t)
    ParentAccount,   // (t)
    RawShares,       // kUnlimited: those of the parent; absent: of the root
    NormShares,      // (t)
    RawUsage,        // (t)
    NormUsage,       // (t)
    EffectiveUsage,  // (t)
    FairShare,       // (t) empty: accounts have none
    LevelFs,         // (t) empty: not calculated
    GrpTresMins,     // (t) "cpu=6000"
    TresRunSeconds,  // (t) "cpu=600,mem=0,...": what running jobs may use up to their limits
    TresSeconds,     // (t) what was used
    IsFairTree,
    Depth,  // how many of the associations above it are listed, without a gap
};

}  // namespace sluice
