#include "config/scheduler_options.h"

#include <fmt/format.h>

#include <iterator>
#include <span>

#include "base/text.h"
#include "config/key_help.h"
#include "model/errors.h"

namespace sluice {

namespace {

using O = SchedulerOptions;

// What an entry does here.
enum class Effect : std::uint8_t {
    Set,        // its row says what
    Natural,    // asks for how things are anyway, or tunes machinery that Sluice has no need of
    Elsewhere,  // read by another part of the program
    None,       // asks for something that Sluice does not do: a warning
};

struct Entry {
    std::string_view name;
    Effect effect = Effect::Set;
    void (*set)(SchedulerOptions&, std::uint64_t) = nullptr;  // flags get 1
    bool is_flag = false;
};

template <auto Member, std::int64_t kUnit = 1>
void seconds(SchedulerOptions& options, std::uint64_t value) {
    options.*Member = Seconds{static_cast<std::int64_t>(value) * kUnit};
}
template <auto Member>
void count(SchedulerOptions& options, std::uint64_t value) {
    options.*Member = static_cast<std::uint32_t>(value);
}
template <auto Member>
void flag(SchedulerOptions& options, std::uint64_t value) {
    options.*Member = value != 0;
}

using enum Effect;

// clang-format off
constexpr Entry kSchedulerEntries[] = {
    {"bf_window",                 Set, seconds<&O::window, 60>},
    {"bf_resolution",             Natural},
    {"bf_interval",               Set, seconds<&O::interval>},
    {"bf_max_job_test",           Set, count<&O::max_job_test>},
    {"bf_max_job_user",           Set, count<&O::max_job_user>},
    {"bf_max_job_part",           Set, count<&O::max_job_part>},
    {"max_depend_depth",          Natural},
    {"max_switch_wait",           Set, seconds<&O::max_switch_wait>},
    {"requeue_delay",             Set, seconds<&O::requeue_delay>},
    {"disable_job_shrink",        Set, flag<&O::disable_job_shrink>, true},
    {"permit_job_expansion",      Set, flag<&O::permit_job_expansion>, true},
    {"kill_invalid_depend",       Set, flag<&O::kill_invalid_depend>, true},
    {"nohold_on_prolog_fail",     Set, flag<&O::nohold_on_prolog_fail>, true},
    {"preempt_reorder_count",     Natural},
    {"preempt_strict_order",      Natural},
    {"preempt_youngest_first",    Set, flag<&O::preempt_youngest_first>, true},
    {"enable_user_top",           Elsewhere},
    {"max_script_size",           Elsewhere},
    // Scheduling follows events, in one thread that queries do not wait for: there are no cycles
    // with an interval, no locks to release and no time limit of a cycle.
    {"batch_sched_delay",         Natural},
    {"bf_continue",               Natural},
    {"bf_max_time",               Natural},
    {"bf_node_space_size",        Natural},
    {"bf_yield_interval",         Natural},
    {"bf_yield_rpc_cnt",          Natural},
    {"bf_yield_sleep",            Natural},
    {"build_queue_timeout",       Natural},
    {"default_queue_depth",       Natural},
    {"defer",                     Natural},
    {"defer_batch",               Natural},
    {"max_rpc_cnt",               Natural},
    {"max_sched_time",            Natural},
    {"no_backup_scheduling",      Natural},
    {"no_env_cache",              Natural},
    {"partition_job_depth",       Natural},
    {"sched_interval",            Natural},
    {"sched_max_job_start",       Natural},
    {"sched_min_interval",        Natural},
    {"step_retry_count",          Natural},
    {"step_retry_time",           Natural},
    // Slurm acts on these, Sluice does not.
    {"allow_zero_lic",            None},
    {"assoc_limit_stop",          None},
    {"bb_array_stage_cnt",        None},
    {"bf_allow_magnetic_slot",    None},
    {"bf_busy_nodes",             None},
    {"bf_hetjob_immediate",       None},
    {"bf_hetjob_prio",            None},
    {"bf_job_part_count_reserve", None},
    {"bf_licenses",               None},
    {"bf_max_job_array_resv",     None},
    {"bf_max_job_assoc",          None},
    {"bf_max_job_start",          None},
    {"bf_max_job_user_part",      None},
    {"bf_min_age_reserve",        None},
    {"bf_min_prio_reserve",       None},
    {"bf_one_resv_per_job",       None},
    {"bf_running_job_reserve",    None},
    {"bf_topopt_enable",          None},
    {"bf_topopt_iterations",      None},
    {"bf_window_linear",          None},
    {"correspond_after_task_cnt", None},
    {"delay_boot",                None},
    {"disable_hetjob_steps",      None},
    {"enable_hetjob_steps",       None},
    {"extra_constraints",         None},
    {"ignore_constraint_validation", None},
    {"ignore_numa",               None},
    {"ignore_prefer_validation",  None},
    {"max_array_tasks",           None},
    {"max_submit_line_size",      None},
    {"pack_serial_at_end",        None},
    {"reduce_completing_frag",    None},
    {"requeue_on_resume_failure", None},
    {"requeue_setup_env_fail",    None},
    {"salloc_wait_nodes",         None},
    {"sbatch_wait_nodes",         None},
    {"spec_cores_first",          None},
    {"time_min_as_soft_limit",    None},
    {"whole_hetjob",              None},
};

constexpr Entry kPreemptEntries[] = {
    {"reorder_count",       Natural},
    {"send_user_signal",    Set, flag<&O::preempt_send_user_signal>, true},
    {"strict_order",        Natural},
    {"youngest_first",      Set, flag<&O::preempt_youngest_first>, true},
    {"reclaim_limits",      Set, flag<&O::preempt_reclaim_limits>, true},
    {"min_exempt_priority", None},
    {"reclaim_licenses",    None},
    {"suspend_grace_time",  None},
};
// clang-format on

const Entry* find_entry(std::span<const Entry> entries, std::string_view name) {
    for (const Entry& entry : entries) {
        if (equals_ignoring_case(entry.name, name)) return &entry;
    }
    return nullptr;
}

Result<void> take(SchedulerOptions& options, const Entry& entry, std::string_view key,
                  std::string_view word) {
    const std::size_t equals = word.find('=');
    if (entry.is_flag) {
        entry.set(options, 1);
        return {};
    }
    std::string_view text = equals == word.npos ? "" : trim(word.substr(equals + 1));
    constexpr std::uint64_t kMost = 1u << 30;
    std::optional<std::uint64_t> value = to_number(text);
    // Compat: -1 turns what comes at intervals off; here that is the longest one.
    if (text == "-1") value = kMost;
    if (!value || *value > kMost) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("{}: {}={}: expected a number", key, entry.name, text)};
    }
    entry.set(options, *value);
    return {};
}

Result<void> take_list(SchedulerOptions& options, std::string_view key,
                       std::span<const Entry> entries, std::string_view list,
                       std::vector<std::string>* warnings) {
    for (std::string_view word : split(list, ',')) {
        word = trim(word);
        if (word.empty()) continue;
        const Entry* entry = find_entry(entries, trim(word.substr(0, word.find('='))));
        if (entry && entry->effect == Set) TRY(take(options, *entry, key, word));
        if (warnings && !entry) {
            warnings->push_back(fmt::format("{}: '{}' is unknown", key, word));
        } else if (warnings && entry->effect == None) {
            warnings->push_back(fmt::format("{}: {} has no effect in Sluice", key, word));
        }
    }
    return {};
}

std::vector<KeyRow> entry_rows(std::span<const Entry> entries) {
    std::vector<KeyRow> rows;
    for (const Entry& entry : entries) {
        rows.push_back({.name = entry.name,
                        .kind = entry.is_flag ? Kind::Switch : Kind::Number,
                        .has_effect = entry.effect == Set || entry.effect == Elsewhere});
    }
    return rows;
}

}  // namespace

std::vector<KeyRow> scheduler_key_rows() {
    return entry_rows(kSchedulerEntries);
}

std::vector<KeyRow> preempt_key_rows() {
    return entry_rows(kPreemptEntries);
}

Result<SchedulerOptions> parse_scheduler_options(std::string_view scheduler,
                                                 std::string_view preempt,
                                                 std::vector<std::string>* warnings) {
    SchedulerOptions options;
    TRY(take_list(options, "SchedulerParameters", kSchedulerEntries, scheduler, warnings));
    TRY(take_list(options, "PreemptParameters", kPreemptEntries, preempt, warnings));
    return options;
}

}  // namespace sluice
