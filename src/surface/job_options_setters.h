// surface/job_options_setters.h
//
// The setters that the table of job options names: each takes the text of one option into
// JobOptions or says in Slurm's words what is wrong with it.
#pragma once

#include <fmt/format.h>

#include <limits>

#include "base/text.h"
#include "model/errors.h"
#include "surface/job_options.h"

namespace sluice::job_option {

// "Invalid --time specification"; the hint shows the value, and what was expected.
Error invalid(const OptionUse& use, std::string_view expected = "");
Error invalid_number(const OptionUse& use);  // "Invalid numeric value "x" for --ntasks."
Error unsupported(const OptionUse& use);     // "--foo=bar is not supported by Sluice yet"

// The member itself, wherever in JobOptions it lives.
template <auto Member>
auto& at(JobOptions& options) {
    if constexpr (requires { options.*Member; }) {
        return options.*Member;
    } else if constexpr (requires { options.request.*Member; }) {
        return options.request.*Member;
    } else {
        return options.request.shape.*Member;
    }
}

template <auto Member>
Result<void> text(JobOptions& options, const OptionUse& use) {
    at<Member>(options) = std::string(use.value);
    return {};
}

template <auto Member, bool kValue = true>
Result<void> flag(JobOptions& options, const OptionUse&) {
    at<Member>(options) = kValue;
    return {};
}

// A count of at least one.
template <auto Member>
Result<void> number(JobOptions& options, const OptionUse& use) {
    std::optional<std::uint64_t> value = to_number(use.value);
    if (!value || *value == 0 || *value > std::numeric_limits<std::int32_t>::max()) {
        return invalid_number(use);
    }
    at<Member>(options) = static_cast<std::uint32_t>(*value);
    return {};
}

using Setter = Result<void>(JobOptions&, const OptionUse&);
Setter set_accepted;   // has no effect to ask for: what it wants is how things are
Setter set_only_none;  // "none" is how things are; everything else is not supported
Setter set_array, set_begin, set_constraint, set_cpus_per_task, set_deadline;
Setter set_exclusive, set_external_launcher, set_x11, set_gpus, set_gpus_per_node;
Setter set_gpus_per_task, set_gres, set_immediate, set_job_id, set_kill_command;
Setter set_kill_on_bad_exit, set_mail_type, set_mail_user, set_mem, set_mem_per_cpu,
    set_mem_per_gpu, set_mpi;
Setter set_nice, set_no_kill, set_nodes, set_open_mode, set_prefer, set_priority, set_propagate,
    set_requeue, set_no_requeue;
Setter set_signal, set_time, set_time_min, set_tmp, set_tres_per_task, set_verbose;
Setter set_wait, set_wait_all_nodes, set_wrap;
// job_options_binding.cc
Setter set_cpu_bind, set_mem_bind, set_hint;
// job_options_layout.cc
Setter set_acctg_freq, set_core_spec, set_extra_node_info, set_gpus_per_socket, set_gres_flags,
    set_switches;
Setter set_distribution, set_relative, set_threads_per_core;
Setter set_kill_on_invalid_dep;
Setter set_gpu_bind, set_gpu_freq, set_tres_bind;
// job_options_container.cc
Setter set_container, set_container_image, set_container_mounts, set_container_name,
    set_container_workdir, set_container_env, set_container_mount_home, set_no_container_mount_home,
    set_container_writable, set_container_readonly, set_container_entrypoint,
    set_no_container_entrypoint;
Result<void> complete_container(JobOptions& options);
Setter set_sync;  // job_options_sync.cc
// job_options_data.cc
Setter set_stage_in;
// job_options_step.cc
Setter set_bcast, set_compress, set_cpu_freq, set_ignore_signals, set_oom_kill_step, set_resv_ports,
    set_send_libs, set_slurmd_debug, set_tree_width;

}  // namespace sluice::job_option
