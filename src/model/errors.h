// model/errors.h
//
// Every way a request can be refused: the code is part of the protocol, the text is known to
// Slurm's users and their tools. One row per error in errors.cc.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

// Numbers are part of the protocol: append, never renumber.
enum class ErrorCode : unsigned short {
    None = 0,
    InvalidPartition,
    InvalidNodeName,
    InvalidJobId,
    InvalidStepId,
    InvalidTimeLimit,
    InvalidFeature,
    InvalidGres,
    InvalidAccount,
    InvalidQos,
    InvalidArray,
    InvalidTaskCount,
    InvalidNodeCount,
    InvalidCpuCount,
    InvalidSignal,
    InvalidNodeState,
    InvalidReservation,
    InvalidLicense,
    InvalidWckey,
    NodeConfigUnavailable,  // it can never run on this cluster
    NodesBusy,              // it cannot run now, and was requested with --immediate
    TooManyCpus,
    PartitionDown,
    PartitionUnavailable,  // the user may not use it
    MemoryInvalid,
    JobPending,
    JobNotRunning,
    JobFinished,  // already completing or completed
    JobNotRequeueable,
    JobHeld,
    AccessDenied,
    AuthenticationFailed,
    CredentialInvalid,  // launch credential forged, altered or for another user
    CredentialExpired,
    CredentialReplayed,
    ClockSkew,
    ProtocolVersion,
    ProtocolError,
    MessageTooLarge,
    ControllerUnreachable,
    Timeout,
    ShuttingDown,
    QueueFull,  // MaxJobCount
    StoreFailed,
    ScriptMissing,  // empty script
    ScriptTooLarge,
    NotSupported,
    DependencyProblem,
    DisabledForJob,
    ConfigInvalid,
    ConfigStrandsJobs,
    BadArgument,  // a value that does not parse; detail names option and value
    NotFound,
    SystemError,  // errno text in detail
    StepTasksExceed,
    InvalidDirectory,
    UserUnknown,
    LaunchFailed,
    InvalidPrefer,
    InvalidTimeMin,
    JobNotPending,
    JobNotSuspended,
    CircularDependency,
    InvalidTime,
    ReservationAccess,
    ReservationOverlap,
    ReservationName,  // the name is in use
    ReservationInUse,
    ReservationStarted,
    ReservationNotSkippable,
    GroupUnknown,
    ReservationUsersAndGroups,
    ReservationCoresFixed,  // a reservation of cores cannot be changed
    ReservationCoreCounts,  // not one count for each node
    PrologFailed,           // the node must not be used in this state
    PartitionInUse,         // by jobs or reservations
    JobIsOver,              // and cannot be changed any more
    UnknownField,           // scontrol update of an unknown field; detail is "key=value"
    QosPolicy,              // a limit of a QOS; detail is the name of the reason
    NodeUnable,             // the node cannot launch any job: full disk, no cgroups, ...
    RateLimited,            // too many requests or bytes of this user: ask again after a pause
    InvalidSampling,        // --acctg-freq
    AccountingBusy,         // another writer has changed the accounting policy meanwhile
    InStandby,              // of a controller that is not the active one; detail says which is
    DataUnavailable,   // data that the job needs before it starts (--stage-in); the detail says why
    DuplicateTrigger,  // strigger --set
};

// Whether a failed launch is the node's fault, so that the job may run on another one. All other
// codes mean that the job cannot be launched anywhere.
bool is_fault_of_node(ErrorCode code);

// "Invalid partition name specified": what follows "sbatch: error: Batch job submission failed: ".
std::string_view text_of(ErrorCode code);

// The text, and the detail after a colon when there is one.
std::string to_string(const Error& error);

}  // namespace sluice
