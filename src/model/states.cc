// model/states.cc: the tables of states and reasons, and how a node's flags become words.
#include "model/states.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace sluice {

namespace {

struct StateRow {
    ShownState state;
    std::string_view name, letters;
};

// clang-format off
constexpr StateRow kStates[] = {
    {ShownState::Pending,     "PENDING",       "PD"},
    {ShownState::Running,     "RUNNING",       "R"},
    {ShownState::Suspended,   "SUSPENDED",     "S"},
    {ShownState::Completed,   "COMPLETED",     "CD"},
    {ShownState::Cancelled,   "CANCELLED",     "CA"},
    {ShownState::Failed,      "FAILED",        "F"},
    {ShownState::Timeout,     "TIMEOUT",       "TO"},
    {ShownState::NodeFail,    "NODE_FAIL",     "NF"},
    {ShownState::Preempted,   "PREEMPTED",     "PR"},
    {ShownState::BootFail,    "BOOT_FAIL",     "BF"},
    {ShownState::Deadline,    "DEADLINE",      "DL"},
    {ShownState::OutOfMemory, "OUT_OF_MEMORY", "OOM"},
    {ShownState::Completing,  "COMPLETING",    "CG"},
    {ShownState::Configuring, "CONFIGURING",   "CF"},
    {ShownState::Expediting,  "EXPEDITING",    "EX"},
    {ShownState::Resizing,    "RESIZING",      "RS"},
    {ShownState::ResvDelHold, "RESV_DEL_HOLD", "RD"},
    {ShownState::Requeued,    "REQUEUED",      "RQ"},
    {ShownState::RequeueFed,  "REQUEUE_FED",   "RF"},
    {ShownState::RequeueHold, "REQUEUE_HOLD",  "RH"},
    {ShownState::Revoked,     "REVOKED",       "RV"},
    {ShownState::Signaling,   "SIGNALING",     "SI"},
    {ShownState::SpecialExit, "SPECIAL_EXIT",  "SE"},
    {ShownState::StageOut,    "STAGE_OUT",     "SO"},
    {ShownState::Stopped,     "STOPPED",       "ST"},
};

struct ReasonRow {
    Reason reason;
    std::string_view name;
};

constexpr ReasonRow kReasons[] = {
    {Reason::None,                     "None"},
    {Reason::Priority,                 "Priority"},
    {Reason::Dependency,               "Dependency"},
    {Reason::Resources,                "Resources"},
    {Reason::PartitionNodeLimit,       "PartitionNodeLimit"},
    {Reason::PartitionTimeLimit,       "PartitionTimeLimit"},
    {Reason::PartitionDown,            "PartitionDown"},
    {Reason::PartitionInactive,        "PartitionInactive"},
    {Reason::JobHeldAdmin,             "JobHeldAdmin"},
    {Reason::JobHeldUser,              "JobHeldUser"},
    {Reason::BeginTime,                "BeginTime"},
    {Reason::Licenses,                 "Licenses"},
    {Reason::AssociationJobLimit,      "AssociationJobLimit"},
    {Reason::AssociationResourceLimit, "AssociationResourceLimit"},
    {Reason::AssociationTimeLimit,     "AssociationTimeLimit"},
    {Reason::Reservation,              "Reservation"},
    {Reason::ReqNodeNotAvail,          "ReqNodeNotAvail"},
    {Reason::Prolog,                   "Prolog"},
    {Reason::NodeDown,                 "NodeDown"},
    {Reason::SystemFailure,            "SystemFailure"},
    {Reason::JobLaunchFailure,         "JobLaunchFailure"},
    {Reason::NonZeroExitCode,          "NonZeroExitCode"},
    {Reason::TimeLimit,                "TimeLimit"},
    {Reason::InactiveLimit,            "InactiveLimit"},
    {Reason::InvalidAccount,           "InvalidAccount"},
    {Reason::InvalidQos,               "InvalidQOS"},
    {Reason::QosUsageThreshold,        "QOSUsageThreshold"},
    {Reason::RaisedSignal,             "RaisedSignal"},
    {Reason::OutOfMemory,              "OutOfMemory"},
    {Reason::BadConstraints,           "BadConstraints"},
    {Reason::JobArrayTaskLimit,        "JobArrayTaskLimit"},
    {Reason::DependencyNeverSatisfied, "DependencyNeverSatisfied"},
    {Reason::JobHoldMaxRequeue,        "JobHoldMaxRequeue"},
    {Reason::PartitionConfig,          "PartitionConfig"},
    {Reason::Cleaning,                 "Cleaning"},
    {Reason::AccountNotAllowed,        "AccountNotAllowed"},
    {Reason::DeadlinePassed,           "DeadLine"},
    {Reason::InvalidWorkDir,           "InvalidWorkDir"},
    {Reason::FileError,                "FileError"},
    {Reason::UserUnknown,              "UserUnknown"},
    {Reason::ReservationDeleted,       "ReservationDeleted"},
    {Reason::NodesUnavailable,
     "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"},
    {Reason::QosNotAllowed,            "QOSNotAllowed"},
    {Reason::MaxMemPerLimit,           "MaxMemPerLimit"},
    {Reason::QosMaxWall,                 "QOSMaxWallDurationPerJobLimit"},
    {Reason::QosMaxCpuPerJob,            "QOSMaxCpuPerJobLimit"},
    {Reason::QosMaxMemoryPerJob,         "QOSMaxMemoryPerJob"},
    {Reason::QosMaxNodePerJob,           "QOSMaxNodePerJobLimit"},
    {Reason::QosMaxGresPerJob,           "QOSMaxGRESPerJob"},
    {Reason::QosMaxBillingPerJob,        "QOSMaxBillingPerJob"},
    {Reason::QosMaxCpuPerNode,           "QOSMaxCpuPerNode"},
    {Reason::QosMaxMemoryPerNode,        "QOSMaxMemoryPerNode"},
    {Reason::QosMaxGresPerNode,          "QOSMaxGRESPerNode"},
    {Reason::QosMaxBillingPerNode,       "QOSMaxBillingPerNode"},
    {Reason::QosMinCpu,                  "QOSMinCpuNotSatisfied"},
    {Reason::QosMinMemory,               "QOSMinMemory"},
    {Reason::QosMinNode,                 "QOSMinNode"},
    {Reason::QosMinGres,                 "QOSMinGRES"},
    {Reason::QosMinBilling,              "QOSMinBilling"},
    {Reason::QosGrpCpu,                  "QOSGrpCpuLimit"},
    {Reason::QosGrpMemory,               "QOSGrpMemLimit"},
    {Reason::QosGrpNode,                 "QOSGrpNodeLimit"},
    {Reason::QosGrpGres,                 "QOSGrpGRES"},
    {Reason::QosGrpBilling,              "QOSGrpBilling"},
    {Reason::QosMaxCpuPerUser,           "QOSMaxCpuPerUserLimit"},
    {Reason::QosMaxMemoryPerUser,        "QOSMaxMemoryPerUser"},
    {Reason::QosMaxNodePerUser,          "QOSMaxNodePerUserLimit"},
    {Reason::QosMaxGresPerUser,          "QOSMaxGRESPerUser"},
    {Reason::QosMaxBillingPerUser,       "QOSMaxBillingPerUser"},
    {Reason::MaxCpuPerAccount,           "MaxCpuPerAccount"},
    {Reason::MaxMemoryPerAccount,        "MaxMemoryPerAccount"},
    {Reason::MaxNodePerAccount,          "MaxNodePerAccount"},
    {Reason::MaxGresPerAccount,          "MaxGRESPerAccount"},
    {Reason::MaxBillingPerAccount,       "MaxBillingPerAccount"},
    {Reason::QosGrpJobs,                 "QOSGrpJobsLimit"},
    {Reason::QosMaxJobsPerUser,          "QOSMaxJobsPerUserLimit"},
    {Reason::MaxJobsPerAccount,          "MaxJobsPerAccount"},
    {Reason::QosGrpSubmitJobs,           "QOSGrpSubmitJobsLimit"},
    {Reason::QosMaxSubmitJobPerUser,     "QOSMaxSubmitJobPerUserLimit"},
    {Reason::MaxSubmitJobsPerAccount,    "MaxSubmitJobsPerAccount"},
    {Reason::AssocGrpCpu,                  "AssocGrpCpuLimit"},
    {Reason::AssocGrpMemory,               "AssocGrpMemLimit"},
    {Reason::AssocGrpNode,                 "AssocGrpNodeLimit"},
    {Reason::AssocGrpGres,                 "AssocGrpGRES"},
    {Reason::AssocGrpBilling,              "AssocGrpBilling"},
    {Reason::AssocGrpCpuMinutes,           "AssocGrpCPUMinutesLimit"},
    {Reason::AssocGrpMemoryMinutes,        "AssocGrpMemMinutes"},
    {Reason::AssocGrpNodeMinutes,          "AssocGrpNodeMinutes"},
    {Reason::AssocGrpGresMinutes,          "AssocGrpGRESMinutes"},
    {Reason::AssocGrpBillingMinutes,       "AssocGrpBillingMinutes"},
    {Reason::AssocGrpCpuRunMinutes,        "AssocGrpCPURunMinutesLimit"},
    {Reason::AssocGrpMemoryRunMinutes,     "AssocGrpMemRunMinutes"},
    {Reason::AssocGrpNodeRunMinutes,       "AssocGrpNodeRunMinutes"},
    {Reason::AssocGrpGresRunMinutes,       "AssocGrpGRESRunMinutes"},
    {Reason::AssocGrpBillingRunMinutes,    "AssocGrpBillingRunMinutes"},
    {Reason::AssocGrpJobs,                 "AssocGrpJobsLimit"},
    {Reason::AssocGrpSubmitJobs,           "AssocGrpSubmitJobsLimit"},
    {Reason::AssocGrpWall,                 "AssocGrpWallLimit"},
    {Reason::AssocMaxCpuPerJob,            "AssocMaxCpuPerJobLimit"},
    {Reason::AssocMaxMemoryPerJob,         "AssocMaxMemPerJob"},
    {Reason::AssocMaxNodePerJob,           "AssocMaxNodePerJobLimit"},
    {Reason::AssocMaxGresPerJob,           "AssocMaxGRESPerJob"},
    {Reason::AssocMaxBillingPerJob,        "AssocMaxBillingPerJob"},
    {Reason::AssocMaxCpuPerNode,           "AssocMaxCpuPerNode"},
    {Reason::AssocMaxMemoryPerNode,        "AssocMaxMemPerNode"},
    {Reason::AssocMaxGresPerNode,          "AssocMaxGRESPerNode"},
    {Reason::AssocMaxBillingPerNode,       "AssocMaxBillingPerNode"},
    {Reason::AssocMaxCpuMinutesPerJob,     "AssocMaxCpuMinutesPerJobLimit"},
    {Reason::AssocMaxMemoryMinutesPerJob,  "AssocMaxMemMinutesPerJob"},
    {Reason::AssocMaxNodeMinutesPerJob,    "AssocMaxNodeMinutesPerJob"},
    {Reason::AssocMaxGresMinutesPerJob,    "AssocMaxGRESMinutesPerJob"},
    {Reason::AssocMaxBillingMinutesPerJob, "AssocMaxBillingMinutesPerJob"},
    {Reason::AssocMaxJobs,                 "AssocMaxJobsLimit"},
    {Reason::AssocMaxSubmitJob,            "AssocMaxSubmitJobLimit"},
    {Reason::AssocMaxWall,                 "AssocMaxWallDurationPerJobLimit"},
    {Reason::QosGrpCpuMinutes,             "QOSGrpCPUMinutesLimit"},
    {Reason::QosGrpMemoryMinutes,          "QOSGrpMemoryMinutes"},
    {Reason::QosGrpNodeMinutes,            "QOSGrpNodeMinutes"},
    {Reason::QosGrpGresMinutes,            "QOSGrpGRESMinutes"},
    {Reason::QosGrpBillingMinutes,         "QOSGrpBillingMinutes"},
    {Reason::QosGrpCpuRunMinutes,          "QOSGrpCPURunMinutesLimit"},
    {Reason::QosGrpMemoryRunMinutes,       "QOSGrpMemoryRunMinutes"},
    {Reason::QosGrpNodeRunMinutes,         "QOSGrpNodeRunMinutes"},
    {Reason::QosGrpGresRunMinutes,         "QOSGrpGRESRunMinutes"},
    {Reason::QosGrpBillingRunMinutes,      "QOSGrpBillingRunMinutes"},
    {Reason::QosGrpWall,                   "QOSGrpWallLimit"},
    {Reason::QosMaxCpuMinutesPerJob,       "QOSMaxCpuMinutesPerJobLimit"},
    {Reason::QosMaxMemoryMinutesPerJob,    "QOSMaxMemoryMinutesPerJob"},
    {Reason::QosMaxNodeMinutesPerJob,      "QOSMaxNodeMinutesPerJob"},
    {Reason::QosMaxGresMinutesPerJob,      "QOSMaxGRESMinutesPerJob"},
    {Reason::QosMaxBillingMinutesPerJob,   "QOSMaxBillingMinutesPerJob"},
    {Reason::QosMaxRunMinutesPerUser,      "QOSMaxTRESRunMinsPerUser"},
    {Reason::MaxRunMinutesPerAccount,      "MaxTRESRunMinsPerAccount"},
    {Reason::AssocMaxRunMinutes,           "AssocMaxTRESRunMins"},
    {Reason::StageInFailed,                "StageInFailed"},
};

struct NodeRow {
    NodeBase base;
    std::string_view complete, word, compact;
};

constexpr NodeRow kNodeBases[] = {
    {NodeBase::Unknown,   "UNKNOWN",   "unknown",   "unk"},
    {NodeBase::Down,      "DOWN",      "down",      "down"},
    {NodeBase::Idle,      "IDLE",      "idle",      "idle"},
    {NodeBase::Allocated, "ALLOCATED", "allocated", "alloc"},
    {NodeBase::Mixed,     "MIXED",     "mixed",     "mix"},
    {NodeBase::Error,     "ERROR",     "error",     "error"},
    {NodeBase::Future,    "FUTURE",    "future",    "futr"},
};

// In the order in which `scontrol show node` joins them.
struct FlagRow {
    std::uint32_t flag;
    std::string_view name;
};
constexpr FlagRow kNodeFlags[] = {
    {kNodeCloud,        "CLOUD"},
    {kNodeCompleting,   "COMPLETING"},
    {kNodeDrain,        "DRAIN"},
    {kNodeDynamicFuture, "DYNAMIC_FUTURE"},
    {kNodeDynamic,      "DYNAMIC_NORM"},
    {kNodeInvalidReg,   "INVALID_REG"},
    {kNodeFail,         "FAIL"},
    {kNodeMaint,        "MAINTENANCE"},
    {kNodePowerDown,    "POWER_DOWN"},
    {kNodePowerDrain,   "POWER_DRAIN"},
    {kNodePowerUp,      "POWER_UP"},
    {kNodePoweredDown,  "POWERED_DOWN"},
    {kNodeReboot,       "REBOOT_REQUESTED"},
    {kNodeRebootIssued, "REBOOT_ISSUED"},
    {kNodeReserved,     "RESERVED"},
    {kNodeNoRespond,    "NOT_RESPONDING"},
    {kNodePoweringDown, "POWERING_DOWN"},
    {kNodePoweringUp,   "POWERING_UP"},
    {kNodePlanned,      "PLANNED"},
};
// clang-format on

template <typename Row, std::size_t N, typename Key>
constexpr bool rows_are_in_order(const Row (&rows)[N], Key Row::*key, int count) {
    for (std::size_t i = 0; i < N; ++i) {
        if (static_cast<std::size_t>(rows[i].*key) != i) return false;
    }
    return N == static_cast<std::size_t>(count);
}
static_assert(rows_are_in_order(kStates, &StateRow::state, kShownStateCount));
static_assert(rows_are_in_order(kReasons, &ReasonRow::reason, kReasonCount));
static_assert(rows_are_in_order(kNodeBases, &NodeRow::base, 7));

struct Words {
    std::string_view word, compact;
};

// The flags that replace the base state's word, the strongest first.
Words node_words(NodeBase base, std::uint32_t flags) {
    const NodeRow& row = kNodeBases[static_cast<int>(base)];
    bool busy = base == NodeBase::Allocated || base == NodeBase::Mixed || (flags & kNodeCompleting);
    if (flags & kNodeInvalidReg) return {"inval", "inval"};
    if ((flags & (kNodeReboot | kNodeRebootIssued)) && !busy) return {"reboot", "boot"};
    if (flags & kNodeDrain) return busy ? Words{"draining", "drng"} : Words{"drained", "drain"};
    if (flags & kNodeFail) return busy ? Words{"failing", "failg"} : Words{"fail", "fail"};
    if ((flags & kNodeCompleting) && base == NodeBase::Allocated) return {"allocated+", "alloc+"};
    if ((flags & kNodeCompleting) && base != NodeBase::Mixed) return {"completing", "comp"};
    if (base == NodeBase::Idle) {
        if (flags & kNodeMaint) return {"maint", "maint"};
        if (flags & kNodeReserved) return {"reserved", "resv"};
        if (flags & kNodePlanned) return {"planned", "plnd"};
    }
    return {row.word, row.compact};
}

// At most one character; where several flags are set, the one that explains the others.
std::string_view node_suffix(NodeBase base, std::uint32_t flags) {
    if (flags & kNodePoweringUp) return "#";
    if (flags & kNodePoweringDown) return "%";
    if (flags & kNodePoweredDown) return "~";
    if (flags & kNodePowerDown) return "!";
    if (flags & kNodeRebootIssued) return "^";
    bool busy = base == NodeBase::Allocated || base == NodeBase::Mixed || (flags & kNodeCompleting);
    if (flags & kNodeReboot) return busy ? "@" : "";  // Compat: "boot" says it already
    if (flags & kNodeNoRespond) return "*";
    if (base == NodeBase::Idle || (flags & (kNodeDrain | kNodeFail | kNodeInvalidReg))) return "";
    if (flags & kNodeMaint) return "$";
    if (flags & kNodePlanned) return "-";
    return "";
}

}  // namespace

std::string_view state_name(ShownState state) {
    return kStates[static_cast<int>(state)].name;
}

std::string_view state_letters(ShownState state) {
    return kStates[static_cast<int>(state)].letters;
}

std::optional<ShownState> find_state(std::string_view text) {
    for (const StateRow& row : kStates) {
        if (equals_ignoring_case(text, row.name) || equals_ignoring_case(text, row.letters)) {
            return row.state;
        }
    }
    return {};
}

std::string_view reason_name(Reason reason) {
    return kReasons[static_cast<int>(reason)].name;
}

std::string print_reason(Reason reason, std::string_view detail) {
    constexpr Reason kSentences[] = {Reason::ReservationDeleted, Reason::QosNotAllowed,
                                     Reason::JobHeldUser};
    if (detail.empty()) return std::string(reason_name(reason));
    if (std::find(std::begin(kSentences), std::end(kSentences), reason) != std::end(kSentences))
        return std::string(detail);
    return std::string(reason_name(reason)).append(", ").append(detail);
}

std::string print_node_state(NodeBase base, std::uint32_t flags) {
    return std::string(node_words(base, flags).word).append(node_suffix(base, flags));
}

std::string print_node_state_compact(NodeBase base, std::uint32_t flags) {
    return std::string(node_words(base, flags).compact).append(node_suffix(base, flags));
}

std::string print_node_state_complete(NodeBase base, std::uint32_t flags) {
    std::string text(kNodeBases[static_cast<int>(base)].complete);
    for (const FlagRow& row : kNodeFlags) {
        if (flags & row.flag) text.append("+").append(row.name);
    }
    return text;
}

}  // namespace sluice
