// config/settings.cc
//
// Most members carry over under the same name. What differs is said here: lists of words that
// become switches, and numbers hidden in such lists.
#include "config/settings.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {
namespace {

// SchedulerParameters=requeue_delay=N. Slurm waits for the credential of the last run to expire (two
// minutes); ours name the run they are for, so a second is enough to slow a script down that always
// requeues itself.
constexpr Seconds kRequeueDelay{1};

Result<Seconds> requeue_delay(const Config& config) {
    const auto text = find_parameter(config.scheduler_parameters, "requeue_delay");
    if (!text) return kRequeueDelay;
    const auto number = to_number(*text);
    if (!number || *number > 0xffffffffu) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("SchedulerParameters: requeue_delay={}: a number of seconds is "
                                 "expected",
                                 *text)};
    }
    return Seconds{static_cast<std::int64_t>(*number)};
}

// CR_Core_Memory and its relatives; CR_Memory alone too.
bool memory_is_consumable(const Config& config) {
    for (std::string_view word : split(config.select_type_parameters, ',')) {
        if (to_lower(trim(word)).ends_with("_memory")) return true;
    }
    return false;
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

Result<Settings> settings_from(const Config& config, UserId slurm_user) {
    Settings settings;
    settings.cluster_name = config.cluster_name;
    settings.nodes = config.nodes;
    settings.partitions = config.partitions;
    settings.down_nodes = config.down_nodes;
    settings.slurm_user = slurm_user;
    settings.first_job_id = config.first_job_id;
    settings.max_job_id = config.max_job_id;
    settings.max_job_count = config.max_job_count;
    settings.max_array_size = config.max_array_size;
    settings.job_requeue = config.job_requeue;
    settings.memory_is_consumable = memory_is_consumable(config);
    settings.config_overrides = config.has_flag(config.slurmd_parameters, "config_overrides");
    settings.return_to_service = config.return_to_service;
    settings.kill_wait = config.kill_wait;
    settings.min_job_age = config.min_job_age;
    settings.slurmd_timeout = config.slurmd_timeout;
    settings.requeue_delay = TRY(requeue_delay(config));
    // A hundred years: nothing in the core needs to know a special case for "never".
    settings.over_time_limit = config.over_time_limit.unlimited() ? Seconds{3'155'760'000}
                                                                  : config.over_time_limit.length();
    settings.enforce_part_limits = !equals_ignoring_case(config.enforce_part_limits, "NO");
    settings.def_mem_per_cpu = config.def_mem_per_cpu;
    settings.def_mem_per_node = config.def_mem_per_node;
    settings.max_mem_per_cpu = config.max_mem_per_cpu;
    settings.max_mem_per_node = config.max_mem_per_node;
    if (!config.gres.empty()) {
        for (const NodeConfig& node : config.nodes) {
            auto devices = config.gres_of(node.name);
            if (!devices.empty()) settings.gres.emplace(node.name, std::move(devices));
        }
    }
    return settings;
}

}  // namespace sluice
