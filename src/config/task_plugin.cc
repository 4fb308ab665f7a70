// TaskPlugin and TaskPluginParam: whether tasks are bound to CPUs, and how unless a step says it.
#include "config/setters.h"

namespace sluice {

namespace {

// Compat: these words are the kinds of binding that a site can choose.
std::optional<BindKind> kind_in(std::string_view word) {
    for (BindKind kind : {BindKind::None, BindKind::Sockets, BindKind::Cores, BindKind::Threads}) {
        if (equals_ignoring_case(word, cpu_bind_word(kind))) return kind;
    }
    return {};
}

std::string_view text_written(const Config& config, const char* key) {
    const auto found = config.as_written.find(key);
    return found == config.as_written.end() ? std::string_view{} : found->second;
}

// Words that are unknown have their warnings by now (unsupported.cc).
Result<void> apply_word(const Config& config, TaskPluginConfig& plugin, std::string_view word) {
    constexpr std::string_view kAutobind = "autobind=";
    if (starts_with_ignoring_case(word, kAutobind)) {
        const std::optional<BindKind> kind = kind_in(word.substr(kAutobind.size()));
        if (!kind || *kind == BindKind::None) {
            return Error{ErrorCode::ConfigInvalid,
                         fmt::format("{}: TaskPluginParam={}: expected autobind=threads, "
                                     "autobind=cores or autobind=sockets",
                                     base_name(config.path), word)};
        }
        plugin.autobind = *kind;
    } else if (const std::optional<BindKind> kind = kind_in(word)) {
        if (plugin.bind != BindKind::Unset && plugin.bind != *kind) {
            return Error{ErrorCode::ConfigInvalid,
                         fmt::format("{}: TaskPluginParam: {} and {} exclude each other",
                                     base_name(config.path), cpu_bind_word(plugin.bind), word)};
        }
        plugin.bind = *kind;
    } else if (equals_ignoring_case(word, "verbose")) {
        plugin.verbose = true;
    } else if (equals_ignoring_case(word, "SlurmdOffSpec")) {
        plugin.slurmd_off_spec = true;
    } else if (equals_ignoring_case(word, "OOMKillStep")) {
        plugin.oom_kill_step = true;
    }
    return {};
}

}  // namespace

Result<void> complete_task_plugin(Config& config) {
    TaskPluginConfig& plugin = config.task_plugin;
    const std::string_view plugins = text_written(config, "TaskPlugin");
    plugin.affinity =
        config.has_flag(plugins, "task/affinity") || config.has_flag(plugins, "affinity");
    for (std::string_view word : split(text_written(config, "TaskPluginParam"), ',')) {
        TRY(apply_word(config, plugin, trim(word)));
    }
    return {};
}

}  // namespace sluice
