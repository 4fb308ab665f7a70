// Reading the table of job options: command lines, variables, and what follows from all together.
#include <fmt/format.h>

#include <algorithm>

#include "surface/job_options.h"
#include "surface/job_options_setters.h"

namespace sluice {

namespace {

Argument argument_of(const JobOption& option) {
    if (!option.value) return Argument::None;
    bool is_optional = option.value[0] == '[' && option.value[1] != '[';
    return is_optional ? Argument::Optional : Argument::Required;
}

// Second names of variables. Those that begin with SRUN_ win over the regular ones.
struct VariableAlias {
    std::string_view variable;
    std::uint8_t tools;
    std::string_view option;
    std::string_view before = "";  // goes before the value
};
constexpr VariableAlias kAliases[] = {
    {"SLURM_NPROCS", kSrun, "ntasks"},
    {"SLURM_NNODES", kSrun, "nodes"},
    {"SLURM_DIST_PLANESIZE", kSrun, "distribution", "plane="},
    {"SLURM_JOBID", kSrun, "jobid"},
    {"SLURM_WORKING_DIR", kSrun, "chdir"},
    {"SLURM_STEP_GRES", kSrun, "gres"},
    {"SLURM_OOM_KILL_STEP", kSrun, "oom-kill-step"},
    {"SLURM_EXPORT_ENV", kSrun, "export"},
    {"SRUN_EXPORT_ENV", kSrun, "export"},
    {"SRUN_OUTPUT", kSrun, "output"},
    {"SRUN_ERROR", kSrun, "error"},
    {"SRUN_INPUT", kSrun, "input"},
    {"SLURM_CLUSTERS", kSbatch | kSalloc, "clusters"},
    {"SLURM_HINT", kSbatch | kSalloc, "hint"},
    {"SBATCH_WAIT4SWITCH", kSbatch, "switches", "@"},
    {"SALLOC_WAIT4SWITCH", kSalloc, "switches", "@"},
    {"SLURM_WAIT4SWITCH", kSrun, "switches", "@"},
};

std::string_view variable_prefix(Tool tool) {
    switch (tool) {
        case kSbatch:
            return "SBATCH_";
        case kSalloc:
            return "SALLOC_";
        default:
            return "SLURM_";
    }
}

Result<void> apply_one(JobOptions& options, std::size_t index, const OptionUse& use,
                       Source source) {
    const JobOption& option = job_options()[index];
    if (!option.set) return job_option::unsupported(use);
    TRY(option.set(options, use));
    options.sources.resize(job_options().size());
    options.sources[index] = source;
    options.values.resize(job_options().size());
    options.values[index] = use.value;
    return {};
}

Result<void> apply_variable(JobOptions& options, std::size_t index, std::string_view value,
                            Tool tool, Time now) {
    const JobOption& option = job_options()[index];
    bool is_flag = argument_of(option) == Argument::None;
    bool is_count = is_flag && option.letter == 'v';
    // Compat: these two take effect if the variable exists, with any value.
    bool is_mark =
        option.set == job_option::set_requeue || option.set == job_option::set_no_requeue;
    if (is_flag && !is_mark && value == "0") return {};
    bool takes_value = is_count || (!is_flag && !is_mark &&
                                    !(value.empty() && argument_of(option) == Argument::Optional));
    return apply_one(options, index,
                     {option, takes_value ? value : std::string_view{}, takes_value, tool, now},
                     Source::Environment);
}

Result<void> apply_aliases(JobOptions& options, const FindVariable& find, Tool tool, Time now,
                           bool winning) {
    for (const VariableAlias& alias : kAliases) {
        if (!(alias.tools & tool) || alias.variable.starts_with("SRUN_") != winning) continue;
        std::optional<std::string_view> value = find(alias.variable);
        if (!value) continue;
        const std::string text = fmt::format("{}{}", alias.before, *value);
        TRY(apply_variable(options, option_index(alias.option), text, tool, now));
    }
    return {};
}

}  // namespace

std::string_view tool_name(Tool tool) {
    return tool == kSbatch ? "sbatch" : tool == kSalloc ? "salloc" : "srun";
}

Result<Arguments> parse_job_arguments(Tool tool, const std::vector<std::string>& args) {
    std::vector<OptionSpelling> spellings;
    std::span<const JobOption> table = job_options();
    spellings.reserve(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (!(table[i].tools & tool)) continue;
        spellings.push_back({table[i].name.data(), table[i].letter, argument_of(table[i]), i});
    }
    return parse_arguments(args, spellings, OptionsEnd::AtFirstOperand);
}

Result<void> apply_options(JobOptions& options, const std::vector<GivenOption>& given,
                           Source source, Tool tool, Time now) {
    for (const GivenOption& each : given) {
        std::string_view value = each.value ? std::string_view(*each.value) : std::string_view{};
        TRY(apply_one(options, each.id,
                      {job_options()[each.id], value, each.value.has_value(), tool, now}, source));
    }
    return {};
}

std::vector<std::string> variables_of(const JobOption& option, Tool tool) {
    std::vector<std::string> names;
    if (option.env && (option.env_tools & option.tools & tool)) {
        names.push_back(fmt::format("{}{}", variable_prefix(tool), option.env));
    }
    for (const VariableAlias& alias : kAliases) {
        const bool is_meant = alias.option == option.name && (alias.tools & tool);
        if (is_meant) names.emplace_back(alias.variable);
    }
    return names;
}

Result<void> apply_environment(JobOptions& options, const FindVariable& find, Tool tool, Time now) {
    TRY(apply_aliases(options, find, tool, now, false));
    std::span<const JobOption> table = job_options();
    const std::string_view prefix = variable_prefix(tool);
    std::string name(prefix);
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (!table[i].env || !(table[i].env_tools & table[i].tools & tool)) continue;
        name.replace(prefix.size(), std::string::npos, table[i].env);
        std::optional<std::string_view> value = find(name);
        if (value) TRY(apply_variable(options, i, *value, tool, now));
    }
    return apply_aliases(options, find, tool, now, true);
}

}  // namespace sluice
