// config/setters.h
//
// The few keys whose value does more than fill one member.
#pragma once

#include <algorithm>
#include <iterator>

#include "config/config.h"
#include "config/values.h"

namespace sluice {

// The value takes effect through Config::as_written, once the whole file is known.
inline void set_elsewhere(Config&, const Value&) {}

inline void set_cluster_name(Config& config, const Value& value) {
    config.cluster_name = to_lower(value.text);
}

inline void set_enforce_part_limits(Config& config, const Value& value) {
    config.enforce_part_limits = value.text == "YES" ? "ANY" : value.text;
}

// Compat: the old key sets both; 65534 is how Slurm shows "no limit".
inline void set_prolog_epilog_timeout(Config& config, const Value& value) {
    Seconds limit{value.number >= 65534 ? 0 : static_cast<std::int64_t>(value.number)};
    config.prolog_timeout = limit;
    config.epilog_timeout = limit;
}

inline void set_return_to_service(Config& config, const Value& value) {
    config.return_to_service = static_cast<std::uint16_t>(value.text.front() - '0');
}

// Compat: cons_res is gone; files that name it get its successor.
inline void set_select_type(Config& config, const Value& value) {
    config.select_type = value.text == "select/cons_res" ? "select/cons_tres" : value.text;
}

inline void set_preempt_mode(Config& config, const Value& value) {
    config.preempt_mode = to_upper(value.text);
}

inline void set_preempt_type(Config& config, const Value& value) {
    config.preempt_type = to_lower(value.text);
    if (config.preempt_type == "preempt/none") config.preempt_type.clear();
}

// The words are in the order of the values.
inline void set_usage_reset(Config& config, const Value& value) {
    constexpr std::string_view kWords[] = {"NONE",    "NOW",       "DAILY", "WEEKLY",
                                           "MONTHLY", "QUARTERLY", "YEARLY"};
    const auto* word = std::find(std::begin(kWords), std::end(kWords), value.text);
    config.priority_usage_reset = static_cast<UsageReset>(word - std::begin(kWords));
}

// A size per CPU and one per node exclude each other: the later one counts.
template <auto Member, auto Excluded>
void set_instead(Config& config, const Value& value) {
    assign(config.*Member, value);
    (config.*Excluded).reset();
}

// PriorityFlags and PriorityWeightTRES, word by word (priority.cc).
Result<void> complete_priority(Config& config);
// TaskPlugin and TaskPluginParam, word by word (task_plugin.cc).
Result<void> complete_task_plugin(Config& config);
Result<void> complete_prolog_flags(Config& config);
std::string print_prolog_flags(const PrologFlags& flags);
// Keys of TLS and words of CommunicationParameters (communication.cc).
Result<void> complete_communication(Config& config);

// "DefCpuPerGPU=2,DefMemPerGPU=4096": one entry per name, the later one counts.
void put_job_default(std::string& list, std::string_view name, std::uint64_t number);
inline void set_def_cpu_per_gpu(Config& config, const Value& value) {
    put_job_default(config.job_defaults, "DefCpuPerGPU", value.number);
    assign(config.def_cpus_per_gpu, value);
}
inline void set_def_mem_per_gpu(Config& config, const Value& value) {
    put_job_default(config.job_defaults, "DefMemPerGPU", value.number);
    assign(config.def_mem_per_gpu, value);
}

}  // namespace sluice
