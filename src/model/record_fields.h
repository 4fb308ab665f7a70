// model/record_fields.h
//
// The members of a job's record, its run and its steps, as they are stored. See fields.h; the
// request has its list in job_fields.h. Number 1 of a stored record is the schema of its row.
#pragma once

#include "model/fields.h"
#include "model/gpu_use_fields.h"
#include "model/job_fields.h"
#include "model/sizes.h"
#include "model/stored.h"

namespace sluice {

constexpr FieldLimits kNodeNumbers{.most = sizes::kNodeCount, .entries = sizes::kNodeCount};
constexpr FieldLimits kGeneratedText = bytes_at_most(sizes::kGenerated);

template <>
inline constexpr auto kFields<NodeShare::Devices> = fields<NodeShare::Devices>(
    field(1, "gres name", &NodeShare::Devices::name, kGeneratedText),
    field(2, "gres type", &NodeShare::Devices::type, kGeneratedText),
    field(3, "devices", &NodeShare::Devices::indexes, entries_at_most(sizes::kNodeCount)),
    field(4, "gres count", &NodeShare::Devices::count, at_most(sizes::kAmount)),
    field(5, "parts of devices", &NodeShare::Devices::parts, entries_at_most(sizes::kNodeCount)));

template <>
inline constexpr auto kFields<NodeShare> =
    fields<NodeShare>(field(1, "node", &NodeShare::node),
                      field(2, "ntasks", &NodeShare::tasks, at_most(sizes::kCount)),
                      field(3, "CPUs", &NodeShare::cpus, kNodeNumbers),
                      field(4, "mem", &NodeShare::memory, at_most(sizes::kAmount)),
                      field(5, "gres", &NodeShare::gres, entries_at_most(sizes::kNodeCount)));

template <>
inline constexpr auto kFields<Allocation> =
    fields<Allocation>(field(1, "nodes", &Allocation::nodes, entries_at_most(sizes::kNodeCount)),
                       field(2, "NodeList", &Allocation::node_names, bytes_at_most(sizes::kFrame)),
                       field(3, "OverSubscribe", &Allocation::sharers));

template <>
inline constexpr auto kFields<ExitStatus> = fields<ExitStatus>(
    field(1, "exit code", &ExitStatus::code), field(2, "signal", &ExitStatus::signal),
    field(3, "out of memory", &ExitStatus::oom_killed));

template <>
inline constexpr auto kFields<TaskAmounts> = fields<TaskAmounts>(
    field(1, "total", &TaskAmounts::total), field(2, "most", &TaskAmounts::most),
    field(3, "node", &TaskAmounts::most_node, kGeneratedText),
    field(4, "task", &TaskAmounts::most_task), field(5, "least", &TaskAmounts::least),
    field(6, "node", &TaskAmounts::least_node, kGeneratedText),
    field(7, "task", &TaskAmounts::least_task));

template <>
inline constexpr auto kFields<TaskUsage> = fields<TaskUsage>(
    field(1, "tasks", &TaskUsage::tasks, at_most(sizes::kCount)),
    field(2, "CPU time", &TaskUsage::cpu_ms), field(3, "memory", &TaskUsage::rss_kb),
    field(4, "virtual memory", &TaskUsage::vm_kb), field(5, "pages", &TaskUsage::pages),
    field(6, "read", &TaskUsage::read_bytes), field(7, "written", &TaskUsage::written_bytes),
    field(8, "GPU use", &TaskUsage::gpu_percent), field(9, "GPU memory", &TaskUsage::gpu_memory_kb),
    field(10, "energy", &TaskUsage::energy_joules),
    field(11, "CPU frequency", &TaskUsage::cpu_khz));

template <>
inline constexpr auto kFields<Usage> = fields<Usage>(
    field(1, "user CPU time", &Usage::cpu_user, at_most(sizes::kCpuMicroseconds)),
    field(2, "system CPU time", &Usage::cpu_system, at_most(sizes::kCpuMicroseconds)),
    field(3, "memory", &Usage::rss_max_kb), field(4, "node", &Usage::rss_max_node, kGeneratedText),
    field(5, "tasks", &Usage::tasks));

template <>
inline constexpr auto kFields<Step> = fields<Step>(
    field(1, "step", &Step::id), field(2, "step name", &Step::name), field(3, "user", &Step::user),
    field(4, "nodes", &Step::nodes, entries_at_most(sizes::kNodeCount)),
    field(5, "NodeList", &Step::node_names, bytes_at_most(sizes::kFrame)),
    field(6, "ntasks", &Step::tasks, at_most(sizes::kCount)),
    field(7, "cpus-per-task", &Step::cpus_per_task, at_most(sizes::kCount)),
    field(30, "distribution", &Step::distribution), field(8, "tres-bind", &Step::tres_bind),
    field(9, "tres-per-node", &Step::tres_per_node, kGeneratedText),
    field(240, "container", &Step::container, bytes_at_most(sizes::kPath)),
    field(220, "resv-ports", &Step::resv_ports), field(10, "overlap", &Step::overlap),
    field(11, "mem", &Step::holds_memory),
    field(12, "step state", &Step::state, at_most(StepState::OutOfMemory)),
    field(13, "start", &Step::start_time), field(14, "end", &Step::end_time),
    field(15, "time", &Step::time_limit), field(31, "suspended time", &Step::suspended_before),
    field(32, "timed out", &Step::timed_out), field(16, "exit", &Step::exit),
    field(17, "usage", &Step::usage),
    field(18, "nodes left", &Step::nodes_left, entries_at_most(sizes::kNodeCount)),
    field(19, "idempotency key", &Step::key, binary_at_most(sizes::kKey)),
    field(20, "cancelled", &Step::cancelled));

template <>
inline constexpr auto kFields<Run> = fields<Run>(
    field(1, "restarts", &Run::restarts), field(2, "SLUID", &Run::sluid),
    field(3, "StartTime", &Run::start_time), field(4, "EndTime", &Run::end_time),
    field(5, "suspended time", &Run::suspended), field(6, "SuspendTime", &Run::suspend_time),
    field(7, "CPUs lent", &Run::cpus_lent), field(8, "CPUs awaited", &Run::awaits_cpus),
    field(9, "allocation", &Run::allocation),
    field(10, "completing nodes", &Run::completing_nodes, entries_at_most(sizes::kNodeCount)),
    field(11, "reservation", &Run::reservation),
    field(12, "licenses", &Run::licenses_held, kGeneratedText),
    field(40, "configuring", &Run::configuring),
    field(200, "preparing nodes", &Run::preparing_nodes, entries_at_most(sizes::kNodeCount)),
    derived(&Run::data_progress), field(13, "launched", &Run::launched),
    field(25, "overtook", &Run::overtook),
    field(14, "kill reason", &Run::kill_reason, at_most(KillReason::NodeFailRequeue)),
    field(15, "killed by", &Run::killed_by), field(16, "warned", &Run::warned),
    field(17, "PreemptTime", &Run::preempt_time), derived(&Run::preemptor),
    field(18, "LastCheckpoint", &Run::last_checkpoint),
    field(245, "DataProblem", &Run::data_problem, bytes_at_most(sizes::kWord)),
    field(150, "idle GPUs", &Run::gpus_idle_since), field(151, "idle GPUs", &Run::gpu_idle_warned),
    field(152, "hung", &Run::gpu_hung_warned),
    field(153, "use of nodes", &Run::node_use, entries_at_most(sizes::kNodeCount)),
    field(19, "exit", &Run::exit), field(20, "DerivedExitCode", &Run::derived_exit),
    field(21, "usage", &Run::usage), field(24, "accounted time", &Run::accounted),
    field(22, "steps", &Run::steps, entries_at_most(sizes::kNodeCount)),
    field(23, "next step", &Run::next_step));

template <>
inline constexpr auto kFields<Condition> = fields<Condition>(
    field(1, "dependency", &Condition::kind, at_most(DependencyKind::Expand)),
    field(2, "dependency", &Condition::job), field(3, "dependency", &Condition::task),
    field(4, "dependency", &Condition::all_tasks), field(5, "dependency delay", &Condition::delay),
    field(6, "dependency", &Condition::failed), field(7, "dependency", &Condition::seen_failure),
    field(8, "dependency due", &Condition::due));

template <>
inline constexpr auto kFields<Dependency> = fields<Dependency>(
    field(1, "dependency", &Dependency::left, entries_at_most(sizes::kConditionCount)),
    field(2, "dependency", &Dependency::any));

template <>
inline constexpr auto kFields<Job> = fields<Job>(
    field(1, "job", &Job::id), field(2, "request", &Job::request),
    field(3, "request", &Job::details), field(4, "user", &Job::user),
    field(5, "group", &Job::group),
    field(6, "state", &Job::state, at_most(static_cast<JobState>(kJobStateCount - 1))),
    field(7, "reason", &Job::reason, at_most(static_cast<Reason>(kReasonCount - 1))),
    field(8, "reason", &Job::reason_detail, binary_at_most(sizes::kFrame)),
    field(9, "partition", &Job::partition), field(10, "TimeLimit", &Job::time_limit),
    field(11, "Priority", &Job::priority), field(12, "hold", &Job::admin_hold),
    field(40, "special exit", &Job::special_exit), field(13, "Priority", &Job::priority_by_hand),
    field(14, "SiteFactor", &Job::site_factor), derived(&Job::priority_base),
    derived(&Job::wait_class), field(15, "array", &Job::array_job),
    field(16, "array", &Job::array_task), field(17, "array", &Job::array_tasks),
    field(18, "array", &Job::array_limit), field(19, "dependency", &Job::dependency),
    field(20, "SubmitTime", &Job::submit_time), field(21, "EligibleTime", &Job::eligible_time),
    field(22, "LastSchedEval", &Job::last_sched_eval), derived(&Job::refused_by),
    field(23, "idempotency key", &Job::idempotency_key, binary_at_most(sizes::kKey)),
    field(24, "AdminComment", &Job::admin_comment, kGeneratedText), field(25, "run", &Job::run));

template <>
inline constexpr auto kFields<StoredJob> =
    fields<StoredJob>(field(2, "nodes", &StoredJob::nodes, entries_at_most(sizes::kNodeCount)),
                      field(3, "job", &StoredJob::job));

}  // namespace sluice
