// model/errors.cc: one row per error. Compat: the texts are Slurm's wherever Slurm has the case.
#include "model/errors.h"

#include <iterator>

namespace sluice {

namespace {

struct Row {
    ErrorCode code;
    std::string_view text;
};

// clang-format off
constexpr Row kRows[] = {
    {ErrorCode::None,                  "No error"},
    {ErrorCode::InvalidPartition,      "Invalid partition name specified"},
    {ErrorCode::InvalidNodeName,       "Invalid node name specified"},
    {ErrorCode::InvalidJobId,          "Invalid job id specified"},
    {ErrorCode::InvalidStepId,         "Invalid job step id specified"},
    {ErrorCode::InvalidTimeLimit,      "Requested time limit is invalid (missing or exceeds some limit)"},
    {ErrorCode::InvalidFeature,        "Invalid feature specification"},
    {ErrorCode::InvalidGres,           "Invalid generic resource (gres) specification"},
    {ErrorCode::InvalidAccount,        "Invalid account or account/partition combination specified"},
    {ErrorCode::InvalidQos,            "Invalid qos specification"},
    {ErrorCode::InvalidArray,          "Invalid job array specification"},
    {ErrorCode::InvalidTaskCount,      "Task count specification invalid"},
    {ErrorCode::InvalidNodeCount,      "Node count specification invalid"},
    {ErrorCode::InvalidCpuCount,       "CPU count specification invalid"},
    {ErrorCode::InvalidSignal,         "Invalid signal specified"},
    {ErrorCode::InvalidNodeState,      "Invalid node state specified"},
    {ErrorCode::InvalidReservation,    "Requested reservation is invalid"},
    {ErrorCode::InvalidLicense,        "Invalid license specification"},
    {ErrorCode::InvalidWckey,          "Invalid wckey specification"},
    {ErrorCode::NodeConfigUnavailable, "Requested node configuration is not available"},
    {ErrorCode::NodesBusy,             "Requested nodes are busy"},
    {ErrorCode::TooManyCpus,           "More processors requested than permitted"},
    {ErrorCode::PartitionDown,         "Required partition not available (inactive or drain)"},
    {ErrorCode::PartitionUnavailable,  "User's group not permitted to use this partition"},
    {ErrorCode::MemoryInvalid,         "Memory required by task is not available"},
    {ErrorCode::JobPending,            "Job is pending execution"},
    {ErrorCode::JobNotRunning,         "Job is not running"},
    {ErrorCode::JobFinished,           "Job/step already completing or completed"},
    {ErrorCode::JobNotRequeueable,     "Requested operation is presently disabled"},
    {ErrorCode::JobHeld,               "Job is held"},
    {ErrorCode::AccessDenied,          "Access/permission denied"},
    {ErrorCode::AuthenticationFailed,  "Protocol authentication error"},
    {ErrorCode::CredentialInvalid,     "Invalid job credential"},
    {ErrorCode::CredentialExpired,     "Job credential expired"},
    {ErrorCode::CredentialReplayed,    "Job credential replayed"},
    {ErrorCode::ClockSkew,             "The clocks of the two hosts differ too much"},
    {ErrorCode::ProtocolVersion,       "Incompatible versions of client and server code"},
    {ErrorCode::ProtocolError,         "Unexpected message received"},
    {ErrorCode::MessageTooLarge,       "Message is larger than permitted"},
    {ErrorCode::ControllerUnreachable, "Unable to contact slurm controller (connect failure)"},
    {ErrorCode::Timeout,               "Socket timed out on send/recv operation"},
    {ErrorCode::ShuttingDown,          "The daemon is shutting down"},
    {ErrorCode::QueueFull,             "Slurm temporarily unable to accept job, sleeping and retrying"},
    {ErrorCode::StoreFailed,           "The controller could not save its state"},
    {ErrorCode::ScriptMissing,         "Batch script is empty!"},
    {ErrorCode::ScriptTooLarge,        "Job script is larger than permitted"},
    {ErrorCode::NotSupported,          "Requested operation not supported on this system"},
    {ErrorCode::DependencyProblem,     "Job dependency problem"},
    {ErrorCode::DisabledForJob,        "Requested operation is presently disabled"},
    {ErrorCode::ConfigInvalid,         "Invalid configuration"},
    {ErrorCode::ConfigStrandsJobs,     "The new configuration would strand jobs"},
    {ErrorCode::BadArgument,           "Invalid value"},
    {ErrorCode::NotFound,              "Not found"},
    {ErrorCode::SystemError,           "System call failed"},
    {ErrorCode::StepTasksExceed,       "More processors requested than permitted"},
    {ErrorCode::InvalidDirectory,      "Invalid working directory"},
    {ErrorCode::UserUnknown,           "Invalid user id"},
    {ErrorCode::LaunchFailed,          "Job launch failure"},
    {ErrorCode::InvalidPrefer,         "Invalid preferred feature specification"},
    {ErrorCode::InvalidTimeMin,        "Invalid time-min specification (exceeds job's time or other limits)"},
    {ErrorCode::JobNotPending,         "Job is no longer pending execution"},
    {ErrorCode::JobNotSuspended,       "Job is not suspended"},
    {ErrorCode::CircularDependency,    "Circular job dependency"},
    {ErrorCode::InvalidTime,           "Invalid time specified"},
    {ErrorCode::ReservationAccess,     "Access denied to requested reservation"},
    {ErrorCode::ReservationOverlap,    "Requested reservation overlaps with another reservation"},
    {ErrorCode::ReservationName,       "Duplicate reservation name"},
    {ErrorCode::ReservationInUse,      "Requested reservation is in use"},
    {ErrorCode::ReservationStarted,    "Reservation already started"},
    {ErrorCode::ReservationNotSkippable, "Reservation given is not skipable, try deleting instead"},
    {ErrorCode::GroupUnknown,          "Invalid group id"},
    {ErrorCode::ReservationUsersAndGroups, "Reservations can't have users and groups specified, only one or the other"},
    {ErrorCode::ReservationCoresFixed, "Core-based reservation can not be updated"},
    {ErrorCode::ReservationCoreCounts, "Core count for reservation node list is not consistent!"},
    {ErrorCode::PrologFailed,          "Job prolog failed"},
    {ErrorCode::PartitionInUse,        "Partition is in use"},
    {ErrorCode::JobIsOver,             "Job has already finished"},
    {ErrorCode::UnknownField,          "Update of this parameter is not supported"},
    {ErrorCode::QosPolicy,             "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"},
    {ErrorCode::NodeUnable,            "Job launch failure"},
    {ErrorCode::RateLimited,           "Too many requests, try again later"},
    {ErrorCode::InvalidSampling,       "Invalid accounting frequency requested"},
    {ErrorCode::AccountingBusy,        "The accounting data was changed meanwhile, try again"},
    {ErrorCode::InStandby,             "Slurm backup controller in standby mode"},
    {ErrorCode::DataUnavailable,       "Data of the job is not available"},
    {ErrorCode::DuplicateTrigger,      "Duplicate event trigger"},
};
// clang-format on

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
        if (static_cast<std::size_t>(kRows[i].code) != i) return false;
    }
    return static_cast<std::size_t>(ErrorCode::DuplicateTrigger) + 1 == std::size(kRows);
}
static_assert(rows_are_in_order(), "one row per code, in the order of the enum");

}  // namespace

std::string_view text_of(ErrorCode code) {
    // A newer peer may send a code that this version does not know.
    auto number = static_cast<std::size_t>(code);
    return number < std::size(kRows) ? kRows[number].text : "Unspecified error";
}

std::string to_string(const Error& error) {
    std::string text(text_of(error.code));
    if (!error.detail.empty()) text.append(": ").append(error.detail);
    return text;
}

bool is_fault_of_node(ErrorCode code) {
    switch (code) {
        case ErrorCode::NodeUnable:
        case ErrorCode::PrologFailed:
        case ErrorCode::UserUnknown:  // the controller has accepted the job of that user
        case ErrorCode::ClockSkew:
        case ErrorCode::CredentialInvalid:
        case ErrorCode::CredentialExpired:
        case ErrorCode::CredentialReplayed:
            return true;
        default:
            return false;
    }
}

}  // namespace sluice
