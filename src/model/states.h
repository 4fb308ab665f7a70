// model/states.h
//
// The states of jobs and nodes and the reasons for waiting, with the words and letters that all
// tools print and accept. Tables in states.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class JobState : std::uint8_t {
    Pending,
    Running,
    Suspended,
    Completed,
    Cancelled,
    Failed,
    Timeout,
    NodeFail,
    Preempted,
    BootFail,
    Deadline,
    OutOfMemory,
};
constexpr int kJobStateCount = 12;

constexpr bool is_finished(JobState state) {
    return state >= JobState::Completed;
}

// The state that is shown: a state, or a flag that hides it ("COMPLETING", "CONFIGURING",
// "REQUEUED", ...). squeue -t accepts all of them.
enum class ShownState : std::uint8_t {
    Pending,
    Running,
    Suspended,
    Completed,
    Cancelled,
    Failed,
    Timeout,
    NodeFail,
    Preempted,
    BootFail,
    Deadline,
    OutOfMemory,  // in JobState's order
    Completing,
    Configuring,
    Expediting,
    Resizing,
    ResvDelHold,
    Requeued,
    RequeueFed,
    RequeueHold,
    Revoked,
    Signaling,
    SpecialExit,
    StageOut,
    Stopped,
};
constexpr int kShownStateCount = 25;

std::string_view state_name(ShownState state);     // "OUT_OF_MEMORY"
std::string_view state_letters(ShownState state);  // "OOM"
inline std::string_view state_name(JobState state) {
    return state_name(static_cast<ShownState>(state));
}
inline std::string_view state_letters(JobState state) {
    return state_letters(static_cast<ShownState>(state));
}
std::optional<ShownState> find_state(std::string_view text);  // names or letters, any case

// Why a job waits, or how it ended: squeue's %r. The number is part of the protocol, so append
// only.
enum class Reason : std::uint8_t {
    None,
    Priority,
    Dependency,
    Resources,
    PartitionNodeLimit,
    PartitionTimeLimit,
    PartitionDown,
    PartitionInactive,
    JobHeldAdmin,
    JobHeldUser,
    BeginTime,
    Licenses,
    AssociationJobLimit,
    AssociationResourceLimit,
    AssociationTimeLimit,
    Reservation,
    ReqNodeNotAvail,
    Prolog,
    NodeDown,
    SystemFailure,
    JobLaunchFailure,
    NonZeroExitCode,
    TimeLimit,
    InactiveLimit,
    InvalidAccount,
    InvalidQos,
    QosUsageThreshold,
    RaisedSignal,
    OutOfMemory,
    BadConstraints,
    JobArrayTaskLimit,
    DependencyNeverSatisfied,
    JobHoldMaxRequeue,
    PartitionConfig,
    Cleaning,
    AccountNotAllowed,
    DeadlinePassed,
    InvalidWorkDir,
    FileError,
    UserUnknown,
    ReservationDeleted,
    NodesUnavailable,
    QosNotAllowed,
    MaxMemPerLimit,
    QosMaxWall,
    QosMaxCpuPerJob,
    QosMaxMemoryPerJob,
    QosMaxNodePerJob,
    QosMaxGresPerJob,
    QosMaxBillingPerJob,
    QosMaxCpuPerNode,
    QosMaxMemoryPerNode,
    QosMaxGresPerNode,
    QosMaxBillingPerNode,
    QosMinCpu,
    QosMinMemory,
    QosMinNode,
    QosMinGres,
    QosMinBilling,
    QosGrpCpu,
    QosGrpMemory,
    QosGrpNode,
    QosGrpGres,
    QosGrpBilling,
    QosMaxCpuPerUser,
    QosMaxMemoryPerUser,
    QosMaxNodePerUser,
    QosMaxGresPerUser,
    QosMaxBillingPerUser,
    MaxCpuPerAccount,
    MaxMemoryPerAccount,
    MaxNodePerAccount,
    MaxGresPerAccount,
    MaxBillingPerAccount,
    QosGrpJobs,
    QosMaxJobsPerUser,
    MaxJobsPerAccount,
    QosGrpSubmitJobs,
    QosMaxSubmitJobPerUser,
    MaxSubmitJobsPerAccount,
    AssocGrpCpu,
    AssocGrpMemory,
    AssocGrpNode,
    AssocGrpGres,
    AssocGrpBilling,
    AssocGrpCpuMinutes,
    AssocGrpMemoryMinutes,
    AssocGrpNodeMinutes,
    AssocGrpGresMinutes,
    AssocGrpBillingMinutes,
    AssocGrpCpuRunMinutes,
    AssocGrpMemoryRunMinutes,
    AssocGrpNodeRunMinutes,
    AssocGrpGresRunMinutes,
    AssocGrpBillingRunMinutes,
    AssocGrpJobs,
    AssocGrpSubmitJobs,
    AssocGrpWall,
    AssocMaxCpuPerJob,
    AssocMaxMemoryPerJob,
    AssocMaxNodePerJob,
    AssocMaxGresPerJob,
    AssocMaxBillingPerJob,
    AssocMaxCpuPerNode,
    AssocMaxMemoryPerNode,
    AssocMaxGresPerNode,
    AssocMaxBillingPerNode,
    AssocMaxCpuMinutesPerJob,
    AssocMaxMemoryMinutesPerJob,
    AssocMaxNodeMinutesPerJob,
    AssocMaxGresMinutesPerJob,
    AssocMaxBillingMinutesPerJob,
    AssocMaxJobs,
    AssocMaxSubmitJob,
    AssocMaxWall,
    QosGrpCpuMinutes,
    QosGrpMemoryMinutes,
    QosGrpNodeMinutes,
    QosGrpGresMinutes,
    QosGrpBillingMinutes,
    QosGrpCpuRunMinutes,
    QosGrpMemoryRunMinutes,
    QosGrpNodeRunMinutes,
    QosGrpGresRunMinutes,
    QosGrpBillingRunMinutes,
    QosGrpWall,
    QosMaxCpuMinutesPerJob,
    QosMaxMemoryMinutesPerJob,
    QosMaxNodeMinutesPerJob,
    QosMaxGresMinutesPerJob,
    QosMaxBillingMinutesPerJob,
    QosMaxRunMinutesPerUser,
    MaxRunMinutesPerAccount,
    AssocMaxRunMinutes,
    StageInFailed,
};
constexpr int kReasonCount = 135;

// "Resources", "JobHeldUser", "QOSUsageThreshold", "ReqNodeNotAvail"; also reasons of our own.
std::string_view reason_name(Reason reason);
// With the detail: "ReqNodeNotAvail, UnavailableNodes:n1". Compat: some details are sentences that
// replace the word.
std::string print_reason(Reason reason, std::string_view detail);

// A node's base state and flags, as registered, drained or set by the administrator.
enum class NodeBase : std::uint8_t { Unknown, Down, Idle, Allocated, Mixed, Error, Future };
enum NodeFlag : std::uint32_t {
    kNodeDrain = 1 << 0,
    kNodeNoRespond = 1 << 1,
    kNodeCompleting = 1 << 2,
    kNodeFail = 1 << 3,
    kNodeMaint = 1 << 4,
    kNodeReboot = 1 << 5,
    kNodePlanned = 1 << 6,
    kNodeReserved = 1 << 7,
    kNodeInvalidReg = 1 << 8,
    kNodePoweredDown = 1 << 9,
    kNodePoweringUp = 1 << 10,
    kNodePoweringDown = 1 << 11,
    kNodeCloud = 1 << 12,
    kNodeRebootIssued = 1 << 13,  // kNodeReboot: only requested so far
    kNodePowerDown = 1 << 14,     // requested: as soon as no job has it
    kNodePowerUp = 1 << 15,       // likewise: as soon as it is down
    kNodePowerDrain = 1 << 16,    // drained until it is down
    kNodeDynamic = 1 << 17,
    kNodeDynamicFuture = 1 << 18,
};

// sinfo's words: "idle", "mixed", "allocated", "draining", "drained", "down*", "completing",
// "mixed-"; the compact ones: "idle", "mix", "alloc", "drng", "drain", "down*", "comp", "mix-".
std::string print_node_state(NodeBase base, std::uint32_t flags);
std::string print_node_state_compact(NodeBase base, std::uint32_t flags);
// scontrol show node: "IDLE", "MIXED+DRAIN", "DOWN+DRAIN+NOT_RESPONDING", "IDLE+PLANNED".
std::string print_node_state_complete(NodeBase base, std::uint32_t flags);

}  // namespace sluice
