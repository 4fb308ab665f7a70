// config/settings.cc
//
// Most members are copied under the same name. This file converts the others: lists of words that
// become switches, and numbers in such lists.
#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/scheduler_options.h"
#include "model/errors.h"
#include "model/sampling.h"

namespace sluice {
namespace {

// SelectType and SelectTypeParameters: CR_Core_Memory and its relatives. Whole nodes know of
// memory only when told so.
void take_select(const Config& config, Settings& settings) {
    const bool linear = equals_ignoring_case(config.select_type, "select/linear");
    settings.unit = linear ? Unit::Node : Unit::Core;
    settings.memory_is_consumable = false;
    for (std::string_view part : split(config.select_type_parameters, ',')) {
        const std::string word = to_lower(trim(part));
        if (word == "cr_memory" || (!linear && word.ends_with("_memory"))) {
            settings.memory_is_consumable = true;
        }
        if (!linear && word.starts_with("cr_cpu")) settings.unit = Unit::Cpu;
        if (!linear && word.starts_with("cr_socket")) settings.unit = Unit::Socket;
        settings.least_loaded = settings.least_loaded || word == "cr_lln";
        DeviceRules& rules = settings.device_rules;
        rules.enforces_binding = rules.enforces_binding || word == "enforce_binding_gres";
        rules.parts_of_several_gpus =
            rules.parts_of_several_gpus || word == "multiple_sharing_gres_pj";
        rules.one_task_per_gpu = rules.one_task_per_gpu || word == "one_task_per_sharing_gres";
        rules.spreads_parts = rules.spreads_parts || word == "ll_shared_gres";
    }
}

PreemptSettings preempt_from(const Config& config, const SchedulerOptions& options) {
    PreemptSettings preempt;
    if (config.preempt_type == "preempt/partition_prio") {
        preempt.by = PreemptSettings::By::Partition;
    } else if (config.preempt_type == "preempt/qos") {
        preempt.by = PreemptSettings::By::Qos;
    }
    const PreemptWords words = parse_preempt_words(config.preempt_mode);
    preempt.mode = words.mode;
    preempt.gang = words.gang;
    preempt.within = words.within;
    preempt.only_lower_priority = words.only_lower_priority;
    preempt.exempt_time = config.preempt_exempt_time;
    preempt.youngest_first = options.preempt_youngest_first;
    // SlurmctldParameters had it before Slurm 23.11.
    preempt.send_user_signal =
        options.preempt_send_user_signal ||
        config.has_flag(config.slurmctld_parameters, "preempt_send_user_signal");
    preempt.reclaim_limits = options.preempt_reclaim_limits;
    preempt.time_slice = config.scheduler_time_slice;
    return preempt;
}

// AccountingStorageEnforce: some words include others.
void take_enforcement(const Config& config, Settings& settings) {
    const auto has = [&](std::string_view word) {
        return config.has_flag(config.accounting_enforce, word);
    };
    const bool all = has("all");
    settings.enforce_safe = all || has("safe");
    settings.enforce_wckeys = all || has("wckeys");
    settings.enforce_limits = settings.enforce_safe || has("limits");
    const bool names_qos = settings.enforce_limits || has("qos");
    settings.enforce_associations = names_qos || settings.enforce_wckeys || has("associations");
    settings.enforce_qos = names_qos || settings.preempt.by == PreemptSettings::By::Qos;
    settings.accounts_for_jobs = !has("nojobs");
    settings.accounts_for_steps = settings.accounts_for_jobs && !has("nosteps");
}

Result<void> take_scheduling(const Config& config, Settings& settings) {
    const SchedulerOptions options =
        TRY(parse_scheduler_options(config.scheduler_parameters, config.preempt_parameters));
    settings.backfill = {.enabled = config.scheduler_type != "sched/builtin",
                         .window = options.window,
                         .interval = options.interval,
                         .max_job_test = options.max_job_test,
                         .max_job_user = options.max_job_user,
                         .max_job_part = options.max_job_part};
    settings.preempt = preempt_from(config, options);
    take_enforcement(config, settings);
    settings.disable_job_shrink = options.disable_job_shrink;
    settings.permit_job_expansion = options.permit_job_expansion;
    settings.kill_invalid_depend = options.kill_invalid_depend;
    settings.hold_on_prolog_failure = !options.nohold_on_prolog_fail;
    settings.max_switch_wait = options.max_switch_wait;
    settings.requeue_delay = options.requeue_delay;
    settings.licenses = TRY(parse_license_totals(config.licenses));
    for (const SwitchLine& line : config.switches) {
        settings.switches.push_back({line.name, line.nodes, line.switches});
    }
    return {};
}

PrioritySettings priority_from(const Config& config) {
    PrioritySettings priority;
    priority.multifactor = config.priority_type == "priority/multifactor";
    priority.weight_age = config.priority_weight_age;
    priority.weight_assoc = config.priority_weight_assoc;
    priority.weight_fairshare = config.priority_weight_fairshare;
    priority.weight_job_size = config.priority_weight_job_size;
    priority.weight_partition = config.priority_weight_partition;
    priority.weight_qos = config.priority_weight_qos;
    priority.weight_tres = config.priority_tres_weights;
    priority.max_age = config.priority_max_age;
    priority.calc_period = config.priority_calc_period;
    priority.favor_small = config.priority_favor_small;
    priority.flags = config.priority_flag_words;
    priority.decay_half_life = config.priority_decay_half_life;
    priority.usage_reset = config.priority_usage_reset;
    priority.dampening = config.fair_share_dampening;
    if (priority.has_flag("MAX_TRES")) priority.billing = BillingRule::MaxTres;
    if (priority.has_flag("MAX_TRES_GRES")) priority.billing = BillingRule::MaxTresGres;
    priority.user_top = config.has_flag(config.scheduler_parameters, "enable_user_top");
    return priority;
}

}  // namespace

std::optional<std::string_view> find_parameter(std::string_view list, std::string_view name) {
    for (std::string_view word : split(list, ',')) {
        word = trim(word);
        const std::size_t equals = word.find('=');
        if (equals == word.npos) continue;
        if (equals_ignoring_case(trim(word.substr(0, equals)), name)) {
            return trim(word.substr(equals + 1));
        }
    }
    return std::nullopt;
}

std::vector<std::string> tracked_tres(const Config& config) {
    std::vector<std::string> names;
    for (std::string_view name : split(config.gres_types, ','))
        if (!trim(name).empty()) names.push_back("gres/" + std::string(trim(name)));
    for (std::string_view name : split(config.accounting_tres, ','))
        if (!trim(name).empty()) names.push_back(to_lower(trim(name)));
    return names;
}

// On some nodes, where job_container.conf names an InitScript for them.
static bool has_prolog(const Config& config) {
    return !config.prolog.empty() ||
           std::any_of(config.job_containers.begin(), config.job_containers.end(),
                       [](const JobContainerLine& line) { return !line.init_script.empty(); });
}

// Programs around jobs, and of triggers.
static void take_programs(const Config& config, Settings& settings) {
    settings.has_controller_prolog = !config.prolog_slurmctld.empty();
    settings.has_controller_epilog = !config.epilog_slurmctld.empty();
    settings.max_batch_requeue = config.max_batch_requeue;
    settings.allow_user_triggers =
        config.has_flag(config.slurmctld_parameters, "allow_user_triggers");
    settings.disable_triggers = config.has_flag(config.slurmctld_parameters, "disable_triggers");
    settings.has_epilog = !config.epilog.empty();
    const PrologFlags& flags = config.prolog_flags;
    settings.prolog_rules = {.at_allocation = flags.alloc,
                             .contains = flags.contain,
                             .holds = flags.alloc && !flags.no_hold && has_prolog(config),
                             .holds_for_all = flags.defer_batch,
                             .force_requeue = flags.force_requeue};
    // The script starts after the Prolog, which may have no limit of its own.
    const bool is_limited = config.prolog.empty() || config.prolog_timeout > Seconds{0};
    if (is_limited && config.batch_start_timeout > Seconds{0}) {
        settings.batch_start_timeout = config.batch_start_timeout +
                                       (config.prolog.empty() ? Seconds{0} : config.prolog_timeout);
    }
}

static void take_health_check(const Config& config, Settings& settings) {
    const auto has = [&](std::string_view word) {
        return config.has_flag(config.health_check_node_state, word);
    };
    if (config.health_check_program.empty() || has("START_ONLY") || has("REBOOT_ONLY")) return;
    settings.health_check_interval = config.health_check_interval;
    HealthCheckNodes& nodes = settings.health_check_nodes;
    const bool any =
        has("ANY") || !(has("ALLOC") || has("MIXED") || has("IDLE") || has("NONDRAINED_IDLE"));
    nodes.allocated = any || has("ALLOC");
    nodes.mixed = any || has("MIXED");
    nodes.idle = any || has("IDLE") || has("NONDRAINED_IDLE");
    nodes.others = any;
    nodes.only_undrained_idle = !any && !has("IDLE");
    nodes.cycle = has("CYCLE");
}

// "ports=12000-12999".
static Result<std::optional<PortRange>> parse_mpi_ports(const std::string& params) {
    const std::optional<std::string_view> text = list_option(params, "ports");
    if (!text) return std::optional<PortRange>{};
    const std::size_t dash = std::min(text->find('-'), text->size());
    const auto first = to_number(text->substr(0, dash));
    const auto last = dash < text->size() ? to_number(text->substr(dash + 1)) : first;
    constexpr std::uint64_t kPortMax = 65535;
    if (!first || !last || *first == 0 || *first > *last || *last > kPortMax) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("MpiParams={}: expected ports=FIRST-LAST", params)};
    }
    return std::optional(
        PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)});
}

Result<Settings> settings_from(const Config& config, UserId slurm_user) {
    Settings settings;
    settings.cluster_name = config.cluster_name;
    settings.nodes = config.nodes;
    settings.partitions = config.partitions;
    for (PartitionConfig& partition : settings.partitions) partition.qos = to_lower(partition.qos);
    settings.down_nodes = config.down_nodes;
    settings.slurm_user = slurm_user;
    settings.first_job_id = config.first_job_id;
    settings.max_job_id = config.max_job_id;
    settings.max_job_count = config.max_job_count;
    settings.max_array_size = config.max_array_size;
    settings.max_tasks_per_node = config.max_tasks_per_node;
    settings.mpi_ports = TRY(parse_mpi_ports(config.mpi_params));
    for (std::string_view name : split(config.gres_types, ','))
        if (!trim(name).empty()) settings.gres_types.emplace_back(trim(name));
    settings.tracked_tres = tracked_tres(config);
    take_select(config, settings);
    settings.task_sampling =
        TRY(parse_task_sampling(config.job_acct_gather_frequency)).value_or(kSamplingDefault);
    TRY(take_scheduling(config, settings));
    settings.config_overrides = config.has_flag(config.slurmd_parameters, "config_overrides");
    settings.requeue_exit = TRY(parse_exit_codes(config.requeue_exit));
    settings.requeue_exit_hold = TRY(parse_exit_codes(config.requeue_exit_hold));
    settings.return_to_service = config.return_to_service;
    settings.kill_wait = config.kill_wait;
    settings.cred_expire = config.cred_expire;
    settings.min_job_age = config.min_job_age;
    settings.slurmd_timeout = config.slurmd_timeout;
    // A hundred years: nothing in the core needs to know a special case for "never".
    settings.over_time_limit = config.over_time_limit.unlimited() ? Seconds{3'155'760'000}
                                                                  : config.over_time_limit.length();
    settings.reboot_program = config.reboot_program;
    settings.resume_timeout = config.resume_timeout;
    settings.power = TRY(power_settings(config));
    settings.node_sets = config.node_sets;
    settings.max_node_count = config.max_node_count;
    take_health_check(config, settings);
    take_programs(config, settings);
    settings.complete_wait = config.complete_wait;
    settings.inactive_limit = config.inactive_limit;
    settings.resv_over_run =
        config.resv_over_run.unlimited() ? Seconds{3'155'760'000} : config.resv_over_run.length();
    settings.priority = priority_from(config);
    settings.enforce_part_limits = !equals_ignoring_case(config.enforce_part_limits, "NO");
    settings.enforce_all_part_limits = equals_ignoring_case(config.enforce_part_limits, "ALL");
    settings.disable_root_jobs = config.disable_root_jobs;
    settings.allow_spec_resources = config.allow_spec_resources;
    auto is_private = [&](std::string_view word) {
        return config.has_flag(config.private_data, word);
    };
    settings.private_data = {.jobs = is_private("jobs"),
                             .nodes = is_private("nodes"),
                             .partitions = is_private("partitions"),
                             .reservations = is_private("reservations"),
                             .usage = is_private("usage")};
    settings.def_mem_per_cpu = config.def_mem_per_cpu;
    settings.def_mem_per_node = config.def_mem_per_node;
    settings.max_mem_per_cpu = config.max_mem_per_cpu;
    settings.max_mem_per_node = config.max_mem_per_node;
    settings.def_cpus_per_gpu = config.def_cpus_per_gpu;
    settings.def_mem_per_gpu = config.def_mem_per_gpu;
    if (!config.gres.empty()) {
        for (const NodeConfig& node : config.nodes) {
            auto devices = config.gres_of(node.name);
            if (!devices.empty()) settings.gres.emplace(node.name, std::move(devices));
        }
    }
    return settings;
}

}  // namespace sluice
