// core/permission.cc: the table of permissions.
#include "core/permission.h"

#include <iterator>

#include "model/errors.h"

namespace sluice {

namespace {

struct Permission {
    Action action;
    std::string_view name;
    std::string_view allowed;  // by role, a blank between them
    ErrorCode refusal = ErrorCode::AccessDenied;
    std::string_view detail = {};
};

constexpr std::size_t kRoleWidth = 6;  // of a column

// clang-format off
constexpr Permission kPermissions[] = {
    //                                                          other owner coord opera Slurm root
    {Action::SubmitJob,             "submit job",             "y     y     y     y     y     y"},
    {Action::SubmitForOther,        "submit for other user",  "-     -     -     -     y     y",
        ErrorCode::AccessDenied, "only root and SlurmUser may use --uid and --gid"},
    {Action::CancelJob,             "cancel, signal job",     "-     y     y     y     y     y"},
    {Action::HoldJob,               "hold job",               "-     y     y     y     y     y"},
    {Action::HoldAsAdmin,           "hold as administrator",  "-     -     y     y     y     y"},
    {Action::ReleaseJob,            "release job",            "-     y     y     y     y     y"},
    {Action::ReleaseAdminHold,      "release admin hold",     "-     -     y     y     y     y"},
    {Action::RequeueJob,            "requeue job",            "-     y     y     y     y     y"},
    {Action::SuspendJob,            "suspend, resume job",    "-     -     -     y     y     y"},
    {Action::TopJob,                "top",                    "-     -     -     y     y     y"},
    {Action::TopOwnJob,             "top (enable_user_top)",  "-     y     y     y     y     y"},
    {Action::UpdateJob,             "update job",             "-     y     y     y     y     y"},
    {Action::RaisePriority,         "raise priority",         "-     -     -     y     y     y"},
    {Action::SetSiteFactor,         "set site factor",        "-     -     -     y     y     y"},
    {Action::SetAdminComment,       "set admin comment",      "-     -     -     y     y     y"},
    {Action::LengthenRunningJob,    "lengthen running job",   "-     -     -     y     y     y",
        ErrorCode::AccessDenied, "only an operator can give a running job more time"},
    {Action::UseAnyPartition,       "use any partition",      "-     -     -     y     y     y"},
    {Action::CreateStep,            "create step",            "-     y     -     -     y     y"},
    {Action::WaitForJob,            "wait for job",           "-     y     -     y     y     y"},
    {Action::CompleteJob,           "complete job",           "-     y     -     -     y     y"},
    {Action::ShowAllocation,        "show allocation",        "-     y     -     y     y     y"},
    {Action::ReadScript,            "read batch script",      "-     y     -     y     y     y"},
    {Action::ExplainJob,            "explain job",            "y     y     y     y     y     y"},
    {Action::SeePrivateJob,         "see private job",        "-     y     y     y     y     y",
        ErrorCode::InvalidJobId},
    {Action::SeePrivateNodes,       "see private nodes",      "-     -     -     y     y     y"},
    {Action::SeePrivatePartitions,  "see private partitions", "-     -     -     y     y     y"},
    {Action::SeePrivateReservation, "see private reservation","-     -     -     y     y     y"},
    {Action::SeePrivateUsage,       "see private usage",      "-     y     y     y     y     y"},
    {Action::SeeDamagedRecords,     "see damaged records",    "-     -     -     y     y     y",
        ErrorCode::AccessDenied, "only root and SlurmUser may see damaged records"},
    {Action::ResetStatistics,       "reset statistics",       "-     -     -     y     y     y"},
    {Action::UpdateNode,            "update node",            "-     -     -     -     y     y"},
    {Action::RebootNodes,           "reboot nodes",           "-     -     -     -     y     y"},
    {Action::UpdatePartition,       "change partition",       "-     -     -     -     y     y"},
    // Compat: the error that users without the right get from Slurm.
    {Action::ChangeReservation,     "change reservation",     "-     -     -     y     y     y",
        ErrorCode::UserUnknown},
    {Action::DeleteOpenReservation, "delete open reservation","y     y     y     y     y     y"},
    {Action::Reconfigure,           "reconfigure",            "-     -     -     -     y     y",
        ErrorCode::AccessDenied, "only root and SlurmUser may reconfigure"},
    {Action::Shutdown,              "shut down",              "-     -     -     -     y     y",
        ErrorCode::AccessDenied, "only root and SlurmUser may stop slurmctld"},
    {Action::SpeakForNode,          "speak for a node",       "-     -     -     -     y     y",
        ErrorCode::AccessDenied, "slurmd must run as root or SlurmUser"},
    {Action::ExceedRateLimit,       "exceed the rate limit",  "-     -     -     -     y     y",
        ErrorCode::RateLimited},
    // A trigger is a program that runs on the controller's host.
    {Action::SetTrigger,            "set trigger",            "-     -     -     -     y     y",
        ErrorCode::AccessDenied, "only root and SlurmUser may set triggers, unless "
                                 "SlurmctldParameters=allow_user_triggers is set"},
    {Action::SetUserJobTrigger,     "set trigger of job",     "-     y     y     y     y     y"},
    {Action::SetUserTrigger,        "set trigger (allow_user_triggers)",
                                                              "y     y     y     y     y     y"},
    {Action::ClearTrigger,          "clear trigger",          "-     y     -     -     y     y"},
};
// clang-format on

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < std::size(kPermissions); ++i) {
        if (static_cast<std::size_t>(kPermissions[i].action) != i) return false;
        if (kPermissions[i].allowed.size() != kRoleWidth * (kRoleCount - 1) + 1) return false;
    }
    return std::size(kPermissions) == kActionCount;
}
static_assert(rows_are_in_order(), "one row per action, in the order of the enum");

const Permission& row_of(Action action) {
    return kPermissions[static_cast<std::size_t>(action)];
}

}  // namespace

std::string_view name_of(Action action) {
    return row_of(action).name;
}

bool may(Role role, Action action) {
    return row_of(action).allowed[kRoleWidth * static_cast<std::size_t>(role)] == 'y';
}

Result<void> permit(Role role, Action action) {
    if (may(role, action)) return {};
    const Permission& row = row_of(action);
    return Error{row.refusal, std::string(row.detail)};
}

Role role_of(UserId caller, UserId slurm_user, std::optional<UserId> owner) {
    if (caller.value == 0) return Role::Root;
    if (caller == slurm_user) return Role::SlurmUser;
    return owner == caller ? Role::Owner : Role::Other;
}

Role with_level(Role role, AdminLevel level) {
    return level == AdminLevel::None ? role : std::max(role, Role::Operator);
}

Role role_in(const Cluster& cluster, const Caller& caller) {
    return with_level(role_of(caller.user, cluster.settings().slurm_user),
                      cluster.associations().admin_level(caller.user));
}

Role role_in(const Cluster& cluster, const Caller& caller, const Job& job) {
    const Role role = std::max(role_in(cluster, caller),
                               role_of(caller.user, cluster.settings().slurm_user, job.user));
    const bool coordinates =
        cluster.associations().is_coordinator(caller.user, job.request->account);
    return coordinates ? std::max(role, Role::Coordinator) : role;
}

}  // namespace sluice
