// model/job_fields.h
//
// The members of a job's request. See fields.h; JobDetails has its list in job_details.h.
#pragma once

#include "model/fields.h"
#include "model/job.h"
#include "model/sizes.h"

namespace sluice {

template <>
inline constexpr auto kFields<GresCount> = fields<GresCount>(field(1, "gres", &GresCount::name),
                                                             field(2, "gres", &GresCount::type),
                                                             field(3, "gres", &GresCount::count,
                                                                   at_most(sizes::kAmount)));

template <>
inline constexpr auto kFields<ArraySpec> = fields<ArraySpec>(  //
    field(1, "array", &ArraySpec::tasks), field(2, "array", &ArraySpec::limit));

template <>
inline constexpr auto kFields<WarnSignal> = fields<WarnSignal>(
    field(1, "signal", &WarnSignal::signal, at_most(64)), field(2, "signal", &WarnSignal::before),
    field(3, "signal", &WarnSignal::batch_shell_only),
    field(4, "signal", &WarnSignal::allow_reservation));

template <>
inline constexpr auto kFields<Shape> = fields<Shape>(
    field(1, "nodes", &Shape::nodes_min, at_most(sizes::kCount)),
    field(2, "nodes", &Shape::nodes_max, at_most(sizes::kCount)),
    field(40, "nodes", &Shape::node_sizes),
    field(3, "ntasks", &Shape::ntasks, at_most(sizes::kCount)),
    field(4, "ntasks-per-node", &Shape::ntasks_per_node, at_most(sizes::kCount)),
    field(19, "ntasks-per-socket", &Shape::ntasks_per_socket, at_most(sizes::kCount)),
    field(20, "ntasks-per-core", &Shape::ntasks_per_core, at_most(sizes::kCount)),
    field(21, "ntasks-per-gpu", &Shape::ntasks_per_gpu, at_most(sizes::kCount)),
    field(5, "cpus-per-task", &Shape::cpus_per_task, at_most(sizes::kCount)),
    field(6, "cpus-per-task", &Shape::cpus_per_task_set),
    field(7, "mem", &Shape::mem_per_node, at_most(sizes::kAmount)),
    field(8, "mem-per-cpu", &Shape::mem_per_cpu, at_most(sizes::kAmount)),
    field(22, "mem-per-gpu", &Shape::mem_per_gpu, at_most(sizes::kAmount)),
    field(23, "cpus-per-gpu", &Shape::cpus_per_gpu, at_most(sizes::kCount)),
    field(9, "gres", &Shape::gres_per_node, entries_at_most(sizes::kGresCount)),
    field(10, "gpus", &Shape::gpus, entries_at_most(sizes::kGresCount)),
    field(11, "gpus-per-task", &Shape::gpus_per_task, entries_at_most(sizes::kGresCount)),
    field(24, "gpus-per-socket", &Shape::gpus_per_socket, entries_at_most(sizes::kGresCount)),
    field(25, "sockets-per-node", &Shape::sockets_per_node, at_most(sizes::kCount)),
    field(26, "cores-per-socket", &Shape::cores_per_socket, at_most(sizes::kCount)),
    field(27, "threads-per-core", &Shape::threads_per_core, at_most(sizes::kCount)),
    field(28, "hint", &Shape::one_thread_per_core),
    field(12, "constraint", &Shape::constraint, bytes_at_most(sizes::kFeatures)),
    field(29, "prefer", &Shape::prefer, bytes_at_most(sizes::kFeatures)),
    field(13, "nodelist", &Shape::nodelist, bytes_at_most(sizes::kNodeList)),
    field(14, "exclude", &Shape::exclude, bytes_at_most(sizes::kNodeList)),
    field(15, "exclusive", &Shape::exclusive, at_most(Exclusive::User)),
    field(16, "oversubscribe", &Shape::oversubscribe), field(50, "overcommit", &Shape::overcommit),
    field(51, "distribution", &Shape::arbitrary),
    field(42, "NumCPUs", &Shape::cpus_min, at_most(sizes::kCount)),
    field(17, "mincpus", &Shape::cpus_min_per_node, at_most(sizes::kCount)),
    field(18, "tmp", &Shape::tmp_min, at_most(sizes::kAmount)),
    field(30, "core-spec", &Shape::core_spec, at_most(sizes::kCount)),
    field(41, "thread-spec", &Shape::thread_spec, at_most(sizes::kCount)),
    field(31, "spread-job", &Shape::spread), field(32, "use-min-nodes", &Shape::use_min_nodes),
    field(33, "contiguous", &Shape::contiguous),
    field(34, "gres-flags", &Shape::bind_gpus_to_cores),
    field(43, "gres-flags", &Shape::unbind_gpus), field(44, "gres-flags", &Shape::one_task_per_gpu),
    field(35, "switches", &Shape::switches_max, at_most(sizes::kCount)),
    field(36, "switches", &Shape::switches_wait));

constexpr std::uint64_t kNiceMax = 2147483645;  // Compat: sbatch's limit

template <>
inline constexpr auto kFields<JobTerms> = fields<JobTerms>(
    field(1, "kind", &JobTerms::kind, at_most(JobKind::Salloc)),
    field(3, "partition", &JobTerms::partition), field(4, "account", &JobTerms::account),
    field(5, "qos", &JobTerms::qos), field(6, "wckey", &JobTerms::wckey),
    field(8, "reservation", &JobTerms::reservation), field(9, "licenses", &JobTerms::licenses),
    field(15, "open-mode", &JobTerms::open_mode, at_most(OpenMode::Truncate)),
    field(19, "mail-user", &JobTerms::mail_user), field(20, "mail-type", &JobTerms::mail_types),
    field(21, "submit host", &JobTerms::submit_host), field(23, "time", &JobTerms::time_limit),
    field(24, "time-min", &JobTerms::time_min), field(25, "begin", &JobTerms::begin),
    field(26, "deadline", &JobTerms::deadline), field(27, "priority", &JobTerms::priority),
    field(28, "nice", &JobTerms::nice, at_most(kNiceMax)), field(29, "hold", &JobTerms::hold),
    field(30, "requeue", &JobTerms::requeue), field(31, "requeue", &JobTerms::requeue_set),
    field(32, "immediate", &JobTerms::immediate),
    field(33, "no-kill", &JobTerms::kill_on_node_fail),
    field(60, "kill-on-invalid-dep", &JobTerms::kill_on_invalid_dep),
    field(35, "get-user-env", &JobTerms::get_user_env), field(36, "signal", &JobTerms::warn_signal),
    field(37, "array", &JobTerms::array), field(38, "umask", &JobTerms::umask, at_most(0777)),
    field(39, "rlimits", &JobTerms::rlimits, entries_at_most(sizes::kRlimitCount)),
    field(70, "tres-bind", &JobTerms::tres_bind), field(71, "gpu-freq", &JobTerms::tres_freq),
    field(72, "acctg-freq", &JobTerms::acctg_freq),
    field(80, "oom-kill-step", &JobTerms::oom_kill_step), field(40, "shape", &JobTerms::shape));

static_assert(numbers_differ<Shape>());
static_assert(numbers_differ<JobTerms, JobDetails>(), "a JobRequest is one message");

}  // namespace sluice
