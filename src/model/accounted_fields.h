// model/accounted_fields.h
//
// The members of what accounting keeps. See fields.h. Number 1 is the schema of a row.
#pragma once

#include "model/accounted.h"
#include "model/record_fields.h"

namespace sluice {

constexpr FieldLimits kAnyText = bytes_at_most(sizes::kFrame);

template <>
inline constexpr auto kFields<AccountedJob> = fields<AccountedJob>(
    field(2, "job", &AccountedJob::job), field(3, "restarts", &AccountedJob::restarts),
    field(4, "SLUID", &AccountedJob::sluid), field(5, "array", &AccountedJob::array_job),
    field(6, "array", &AccountedJob::array_task), field(7, "array", &AccountedJob::array_tasks),
    field(8, "array", &AccountedJob::array_limit), field(9, "name", &AccountedJob::name, kAnyText),
    field(10, "user", &AccountedJob::user), field(11, "group", &AccountedJob::group),
    field(12, "account", &AccountedJob::account),
    field(13, "association", &AccountedJob::association), field(14, "QOS", &AccountedJob::qos),
    field(15, "QOS", &AccountedJob::qos_requested),
    field(16, "partition", &AccountedJob::partition), field(17, "wckey", &AccountedJob::wckey),
    field(18, "reservation", &AccountedJob::reservation),
    field(19, "reservation", &AccountedJob::reservation_requested),
    field(20, "state", &AccountedJob::state, at_most(ShownState::Stopped)),
    field(21, "reason", &AccountedJob::reason, at_most(static_cast<Reason>(kReasonCount - 1))),
    field(22, "submit", &AccountedJob::submit), field(23, "eligible", &AccountedJob::eligible),
    field(24, "start", &AccountedJob::start), field(25, "end", &AccountedJob::end),
    field(26, "suspended", &AccountedJob::suspended),
    field(27, "suspended", &AccountedJob::suspend_time),
    field(28, "time limit", &AccountedJob::time_limit),
    field(29, "priority", &AccountedJob::priority),
    field(30, "CPUs", &AccountedJob::cpus_requested),
    field(31, "nodes", &AccountedJob::nodes_requested),
    field(32, "TRES", &AccountedJob::tres_requested),
    field(33, "TRES", &AccountedJob::tres_allocated),
    field(34, "memory", &AccountedJob::memory_per_node),
    field(35, "memory", &AccountedJob::memory_per_cpu),
    field(36, "nodes", &AccountedJob::node_names, kAnyText),
    field(37, "nodes", &AccountedJob::node_count), field(38, "exit", &AccountedJob::exit),
    field(39, "exit", &AccountedJob::derived_exit),
    field(40, "killed by", &AccountedJob::killed_by),
    field(41, "failed node", &AccountedJob::failed_node),
    field(42, "comment", &AccountedJob::comment, kAnyText),
    field(43, "admin comment", &AccountedJob::admin_comment, kAnyText),
    field(44, "system comment", &AccountedJob::system_comment, kAnyText),
    field(45, "extra", &AccountedJob::extra, kAnyText),
    field(46, "work dir", &AccountedJob::work_dir, kAnyText),
    field(47, "submit line", &AccountedJob::submit_line, kAnyText),
    field(48, "constraint", &AccountedJob::constraint, kAnyText),
    field(49, "licenses", &AccountedJob::licenses, kAnyText),
    field(50, "container", &AccountedJob::container, kAnyText),
    field(51, "input", &AccountedJob::std_in, kAnyText),
    field(52, "output", &AccountedJob::std_out, kAnyText),
    field(53, "error", &AccountedJob::std_err, kAnyText), field(54, "flags", &AccountedJob::flags),
    field(55, "batch", &AccountedJob::is_batch), field(56, "script", &AccountedJob::script_hash),
    field(57, "environment", &AccountedJob::environment_hash),
    field(200, "GPU use", &AccountedJob::gpu_use));

template <>
inline constexpr auto kFields<AccountedStep> = fields<AccountedStep>(
    field(2, "job", &AccountedStep::job), field(3, "restarts", &AccountedStep::restarts),
    field(4, "step", &AccountedStep::step), field(5, "name", &AccountedStep::name, kAnyText),
    field(6, "user", &AccountedStep::user),
    field(7, "state", &AccountedStep::state, at_most(ShownState::Stopped)),
    field(8, "exit", &AccountedStep::exit), field(9, "killed by", &AccountedStep::killed_by),
    field(10, "start", &AccountedStep::start), field(11, "end", &AccountedStep::end),
    field(12, "suspended", &AccountedStep::suspended),
    field(13, "time limit", &AccountedStep::time_limit), field(14, "tasks", &AccountedStep::tasks),
    field(15, "CPUs", &AccountedStep::cpus), field(16, "nodes", &AccountedStep::node_count),
    field(17, "nodes", &AccountedStep::node_names, kAnyText),
    field(18, "TRES", &AccountedStep::tres_allocated), field(19, "usage", &AccountedStep::usage),
    field(20, "layout", &AccountedStep::layout),
    field(21, "submit line", &AccountedStep::submit_line, kAnyText),
    field(22, "work dir", &AccountedStep::work_dir, kAnyText),
    field(23, "container", &AccountedStep::container, kAnyText),
    field(24, "input", &AccountedStep::std_in, kAnyText),
    field(25, "output", &AccountedStep::std_out, kAnyText),
    field(26, "error", &AccountedStep::std_err, kAnyText));

template <>
inline constexpr auto kFields<AccountedEvent> = fields<AccountedEvent>(
    field(2, "node", &AccountedEvent::node), field(3, "start", &AccountedEvent::start),
    field(4, "end", &AccountedEvent::end), field(5, "state", &AccountedEvent::state),
    field(6, "reason", &AccountedEvent::reason, kAnyText),
    field(7, "user", &AccountedEvent::reason_user), field(8, "TRES", &AccountedEvent::tres),
    field(9, "nodes", &AccountedEvent::cluster_nodes, kAnyText));

template <>
inline constexpr auto kFields<AccountedReservation> = fields<AccountedReservation>(
    field(2, "id", &AccountedReservation::id), field(3, "name", &AccountedReservation::name),
    field(4, "start", &AccountedReservation::start), field(5, "end", &AccountedReservation::end),
    field(6, "associations", &AccountedReservation::associations, kNodeNumbers),
    field(7, "nodes", &AccountedReservation::node_names, kAnyText),
    field(8, "flags", &AccountedReservation::flags), field(9, "TRES", &AccountedReservation::tres),
    field(10, "comment", &AccountedReservation::comment, kAnyText));

template <>
inline constexpr auto kFields<JobSelection> = fields<JobSelection>(
    field(2, "clusters", &JobSelection::clusters),
    field(3, "jobs", &JobSelection::jobs, entries_at_most(sizes::kNodeCount)),
    field(4, "users", &JobSelection::users), field(5, "groups", &JobSelection::groups),
    field(6, "accounts", &JobSelection::accounts),
    field(7, "partitions", &JobSelection::partitions), field(8, "QOS", &JobSelection::qos),
    field(9, "names", &JobSelection::names), field(10, "wckeys", &JobSelection::wckeys),
    field(11, "reasons", &JobSelection::reasons),
    field(12, "constraints", &JobSelection::constraints),
    field(13, "states", &JobSelection::states, at_most(ShownState::Stopped)),
    field(14, "nodes", &JobSelection::nodes, kAnyText), field(15, "start", &JobSelection::start),
    field(16, "end", &JobSelection::end), field(17, "CPUs", &JobSelection::cpus_min),
    field(18, "CPUs", &JobSelection::cpus_max), field(19, "nodes", &JobSelection::nodes_min),
    field(20, "nodes", &JobSelection::nodes_max), field(21, "time limit", &JobSelection::limit_min),
    field(22, "time limit", &JobSelection::limit_max),
    field(23, "duplicates", &JobSelection::all_runs), field(24, "steps", &JobSelection::no_steps),
    field(25, "live", &JobSelection::only_live), field(26, "scripts", &JobSelection::scripts),
    field(27, "environments", &JobSelection::environments));

template <>
inline constexpr auto kFields<AccountedRun> = fields<AccountedRun>(
    field(2, "cluster", &AccountedRun::cluster), field(3, "job", &AccountedRun::job),
    field(4, "steps", &AccountedRun::steps, entries_at_most(sizes::kNodeCount)),
    field(5, "script", &AccountedRun::script, binary_at_most(sizes::kFrame)),
    field(6, "environment", &AccountedRun::environment, binary_at_most(sizes::kFrame)));

static_assert(numbers_differ<AccountedJob>() && numbers_differ<AccountedStep>());
static_assert(numbers_differ<AccountedEvent>() && numbers_differ<AccountedReservation>());
static_assert(numbers_differ<JobSelection>() && numbers_differ<AccountedRun>());

}  // namespace sluice
