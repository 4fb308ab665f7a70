// model/errors.h
//
// Every way a request can be refused: the code crosses the wire, the text is what Slurm's users
// and their tools know. One row per error in errors.cc.
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
    NodesBusy,              // it cannot run now, and was asked to be immediate
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
    CredentialInvalid,  // launch credential forged, altered or for somebody else
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
    ReservationName,  // there is one of that name
    ReservationInUse,
    ReservationStarted,
    ReservationNotSkippable,
    GroupUnknown,
    ReservationUsersAndGroups,
    ReservationCoresFixed,  // a reservation of cores cannot have others
    ReservationCoreCounts,  // not one for each node
    PrologFailed,           // the node must not be used as it is
    PartitionInUse,         // by jobs or reservations
    JobIsOver,              // and cannot be changed any more
    UnknownField,           // scontrol update of a field that is not there; detail is "key=value"
    QosPolicy,              // a limit of a QOS; detail is the reason's word
    NodeUnable,             // the node cannot launch any job as it is: full disk, no cgroups, ...
    RateLimited,            // the user asks too often or too much at once: ask again after a pause
};

// Of a launch that failed: is the node to blame, so that the job may well run on another one? All
// other codes mean that the job itself cannot be launched anywhere.
bool is_fault_of_node(ErrorCode code);

// "Invalid partition name specified": what follows "sbatch: error: Batch job submission failed: ".
std::string_view text_of(ErrorCode code);

// The text, and the detail after a colon when there is one.
std::string to_string(const Error& error);

}  // namespace sluice
