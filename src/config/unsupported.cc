#include "config/unsupported.h"

#include <algorithm>

#include "config/key_help.h"
#include "model/state_location.h"

namespace sluice {

namespace {

// clang-format off
// The text says what is missing, and what to do about it.
constexpr KeyHelp kRefusedKeys[] = {
    {"CliFilterPlugins",         "the commands run no filter plugins"},
    {"JobSubmitPlugins",         "slurmctld runs no submit plugins; limits of partitions and QOS are enforced"},
    {"MCSPlugin",                "there are no MCS labels"},
    {"PlugStackConfig",          "there are no SPANK plugins"},
    {"PrEpPlugins",              "only prep/script is available"},
    {"PrioritySiteFactorPlugin", "there are no site factor plugins; scontrol update SiteFactor= is available"},
    {"ResvEpilog",               "no program runs when a reservation ends"},
    {"ResvProlog",               "no program runs when a reservation starts"},
    {"UsePam",                   "jobs start without a PAM session"},
};

// Lists of which some words have an effect. A word that is in none of the columns gives a warning.
struct WordRule {
    std::string_view key;
    std::string_view acted_on;
    std::string_view refused;
    std::string_view hint;  // for the refused ones
};
constexpr WordRule kWordRules[] = {
    {"AccountingStorageEnforce",
     "none|associations|limits|nojobs|nosteps|qos|safe|wckeys|all", "", ""},
    {"BcastParameters",          "DestDir|Compression|send_libs", "", ""},
    {"LaunchParameters",         "use_interactive_step", "", ""},
    {"MpiParams",                "ports", "", ""},
    {"PrologFlags",
     "alloc|contain|deferbatch|forcerequeueonfail|nohold|serial|x11", "runinjob",
     "Prolog and Epilog run outside of the job's cgroup"},
    {"SlurmctldParameters",
     "ignore_unsupported|rl_enable|rl_bucket_size|rl_refill_rate|rl_refill_period|rl_table_size|"
     "rl_log_freq|idle_on_node_suspend|cloud_dns|cloud_reg_addrs|power_save_interval|"
     "power_save_min_interval|allow_user_triggers|disable_triggers|preempt_send_user_signal", "", ""},
    {"TaskPlugin",
     "task/none|none|task/affinity|affinity|task/cgroup|cgroup", "", ""},
    {"TaskPluginParam",
     "none|sockets|cores|threads|verbose|autobind|slurmdoffspec|oomkillstep", "slurmdspecoverride",
     "CPUs that are kept from jobs come from slurm.conf; use CpuSpecList or CoreSpecCount"},
};

struct ObsoleteKey {
    std::string_view key;
    std::string_view value;  // empty: any
    std::string_view hint;
};
constexpr ObsoleteKey kObsoleteKeys[] = {
    {"AccountingStoreJobComment", "", "use AccountingStoreFlags=job_comment"},
    {"CacheGroups",               "", "remove it; see GroupUpdateTime"},
    {"FastSchedule",              "2", "use SlurmdParameters=config_overrides"},
};
// clang-format on

bool is_among(std::string_view words, std::string_view word) {
    for (std::string_view each : split(words, '|')) {
        if (equals_ignoring_case(each, word)) return true;
    }
    return false;
}

void note_words(Config& config, const WordRule& rule, const Line& line) {
    for (std::string_view word : split(line.settings.front().value, ',')) {
        word = trim(word);
        const std::string_view name = word.substr(0, word.find('='));
        if (name.empty() || is_among(rule.acted_on, name)) continue;
        if (is_among(rule.refused, name)) {
            config.unsupported.push_back(
                note_at(line, "{}={} is not supported: {}", rule.key, word, rule.hint));
        } else {
            config.warnings.push_back(
                note_at(line, "{}={} has no effect in Sluice", rule.key, word));
        }
    }
}

}  // namespace

std::vector<RefusedKey> refused_keys() {
    std::vector<RefusedKey> all;
    for (const KeyHelp& refused : kRefusedKeys) all.push_back({refused.name, {}, refused.text});
    for (const WordRule& rule : kWordRules) {
        if (!rule.refused.empty()) all.push_back({rule.key, rule.refused, rule.hint});
    }
    return all;
}

void note_unsupported(Config& config, const Key<Config>& key, const Line& line, bool warned) {
    for (const WordRule& rule : kWordRules) {
        if (rule.key == key.name) return note_words(config, rule, line);
    }
    for (const KeyHelp& refused : kRefusedKeys) {
        if (refused.name != key.name || !warned) continue;
        config.warnings.pop_back();
        config.unsupported.push_back(note_at(line, "{}={} is not supported: {}", key.name,
                                             line.settings.front().value, refused.text));
    }
}

Result<void> check_obsolete(const Line& line) {
    const Setting& setting = line.settings.front();
    for (const ObsoleteKey& obsolete : kObsoleteKeys) {
        if (!equals_ignoring_case(obsolete.key, setting.key)) continue;
        if (!obsolete.value.empty() && obsolete.value != setting.value) continue;
        return error_at(line, "{}={} is no longer valid: {}", obsolete.key, setting.value,
                        obsolete.hint);
    }
    return {};
}

void note_backup_controllers(Config& config) {
    if (is_shared_state(config.state_save_location)) return;
    for (std::size_t i = 1; i < config.controllers.size(); ++i) {
        config.unsupported.push_back(fmt::format(
            "{}: backup controller {} is not supported with StateSaveLocation={}, which is a "
            "directory of one controller: let it name a PostgreSQL database that all controllers "
            "use (StateSaveLocation=postgresql://HOST/DATABASE), or take {} out",
            base_name(config.path), config.controllers[i].name, config.state_save_location,
            config.controllers[i].name));
    }
}

void check_unsupported(Config& config) {
    if (!config.has_flag(config.slurmctld_parameters, "ignore_unsupported")) return;
    std::move(config.unsupported.begin(), config.unsupported.end(),
              std::back_inserter(config.warnings));
    config.unsupported.clear();
}

Result<void> check_supported(const Config& config) {
    if (config.unsupported.empty()) return {};
    return Error{ErrorCode::ConfigInvalid,
                 fmt::format("{}\n{}", fmt::join(config.unsupported, "\n"),
                             "take these out, or set SlurmctldParameters=ignore_unsupported to "
                             "run without what they ask for")};
}

std::vector<std::string> new_warnings(const Config& config, const Config* before) {
    std::vector<std::string> added;
    auto add = [&](const std::vector<std::string>& notes, const std::vector<std::string>& old) {
        for (const std::string& note : notes) {
            if (std::find(old.begin(), old.end(), note) == old.end()) added.push_back(note);
        }
    };
    const Config none;
    add(config.warnings, (before ? *before : none).warnings);
    add(config.unsupported, (before ? *before : none).unsupported);
    return added;
}

}  // namespace sluice
