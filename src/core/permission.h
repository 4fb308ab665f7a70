// core/permission.h
//
// Which role may do what: one table for all requests (permission.cc). Every handler checks it
// before it changes anything. docs/security.md shows the table to administrators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/cluster.h"

namespace sluice {

// The role of a caller towards the object of its request. Operators and coordinators are those of
// accounting's policy.
enum class Role : std::uint8_t { Other, Owner, Coordinator, Operator, SlurmUser, Root };
inline constexpr std::size_t kRoleCount = 6;

// A request, or a part of one that needs a right of its own.
enum class Action : std::uint8_t {
    // jobs
    SubmitJob,
    SubmitForOther,      // --uid and --gid
    CancelJob,           // and signals, to the job or to one step
    HoldJob,             // hold, uhold, update Priority=0
    HoldAsAdmin,         // the hold counts as an administrator's
    ReleaseJob,          // from a hold of the owner
    ReleaseAdminHold,    // or weaken it
    RequeueJob,          // and requeuehold
    SuspendJob,          // and resume
    TopJob,              // scontrol top
    TopOwnJob,           // the same with SchedulerParameters=enable_user_top
    UpdateJob,           // scontrol update JobId=
    RaisePriority,       // --priority, a higher Priority=, a negative nice value
    SetSiteFactor,       // SiteFactor=
    SetAdminComment,     // AdminComment=
    LengthenRunningJob,  // TimeLimit= or EndTime= of a running job
    UseAnyPartition,     // update without the partition's access rules
    CreateStep,
    WaitForJob,
    CompleteJob,  // give an interactive allocation back
    ShowAllocation,
    ReadScript,
    ExplainJob,  // swhy
    // what PrivateData hides
    SeePrivateJob,
    SeePrivateNodes,
    SeePrivatePartitions,
    SeePrivateReservation,
    SeePrivateUsage,    // of a user or an account: sshare
    SeeDamagedRecords,  // scontrol show damaged
    ResetStatistics,    // sdiag -r
    // the cluster
    UpdateNode,
    RebootNodes,
    UpdatePartition,  // and create, delete
    ChangeReservation,
    DeleteOpenReservation,  // with the flag USER_DELETE, by a user who may use it
    Reconfigure,
    Shutdown,
    SpeakForNode,  // register as slurmd
    ExceedRateLimit,
    SetTrigger,         // strigger --set
    SetUserJobTrigger,  // with --jobid and SlurmctldParameters=allow_user_triggers
    SetUserTrigger,     // the same, of nodes and daemons
    ClearTrigger,       // that another user has set: `owner` is the user who did
};
inline constexpr std::size_t kActionCount = static_cast<std::size_t>(Action::ClearTrigger) + 1;

std::string_view name_of(Action action);
bool may(Role role, Action action);
Result<void> permit(Role role, Action action);  // otherwise the error of the table

// `owner`: of the job that the request is about.
Role role_of(UserId caller, UserId slurm_user, std::optional<UserId> owner = {});
// An operator or administrator of accounting has more rights than other users.
Role with_level(Role role, AdminLevel level);
Role role_in(const Cluster& cluster, const Caller& caller);
Role role_in(const Cluster& cluster, const Caller& caller, const Job& job);

}  // namespace sluice
