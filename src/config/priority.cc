// config/priority.cc
//
// The lists among the Priority keys: which words they may hold, and which of them do something.
#include <fmt/format.h>

#include <algorithm>

#include "config/setters.h"
#include "model/errors.h"

namespace sluice {

namespace {

struct Flag {
    std::string_view name;
    bool has_effect;
};

constexpr Flag kFlags[] = {
    {"ACCRUE_ALWAYS", true},
    {"CALCULATE_RUNNING", true},
    {"DEPTH_OBLIVIOUS", false},
    {"INCR_ONLY", true},
    {"MAX_TRES", false},
    {"MAX_TRES_GRES", false},
    {"NO_FAIR_TREE", false},
    {"NO_NORMAL_ALL", true},
    {"NO_NORMAL_ASSOC", true},
    {"NO_NORMAL_PART", true},
    {"NO_NORMAL_QOS", true},
    {"NO_NORMAL_TRES", true},
    {"SMALL_RELATIVE_TO_TIME", true},
};

// What jobs can be weighed by, besides gres/... and license/...
constexpr std::string_view kTresNames[] = {"cpu", "mem", "node", "billing"};

Error wrong(const Config& config, std::string text) {
    const std::size_t slash = config.path.rfind('/');
    std::string name = config.path.substr(slash == std::string::npos ? 0 : slash + 1);
    return {ErrorCode::ConfigInvalid, fmt::format("{}: {}", name, text)};
}

Result<void> complete_flags(Config& config) {
    for (std::string_view word : split(config.priority_flags, ',')) {
        std::string name = to_upper(trim(word));
        if (name.empty()) continue;
        const Flag* flag = nullptr;
        for (const Flag& each : kFlags) {
            if (each.name == name) flag = &each;
        }
        if (!flag)
            return wrong(config, fmt::format("PriorityFlags={}: '{}' is unknown",
                                             config.priority_flags, word));
        if (!flag->has_effect) {
            config.warnings.push_back(
                fmt::format("slurm.conf: PriorityFlags={} has no effect in Sluice", name));
        }
        config.priority_flag_words.push_back(name);
        if (name != "NO_NORMAL_ALL") continue;
        for (const char* each :
             {"NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES"}) {
            config.priority_flag_words.emplace_back(each);
        }
    }
    return {};
}

// "GRES/gpu:a40" is "gres/gpu:a40": the kind in any case, the name as written.
std::optional<std::string> tres_name(std::string_view text) {
    const std::size_t slash = text.find('/');
    std::string kind = to_lower(text.substr(0, slash));
    if (slash == std::string_view::npos) {
        bool known =
            std::find(std::begin(kTresNames), std::end(kTresNames), kind) != std::end(kTresNames);
        return known ? std::optional(kind) : std::nullopt;
    }
    if ((kind != "gres" && kind != "license") || slash + 1 == text.size()) return {};
    return kind + std::string(text.substr(slash));
}

Result<void> complete_tres_weights(Config& config) {
    for (std::string_view word : split(config.priority_weight_tres, ',')) {
        word = trim(word);
        if (word.empty()) continue;
        const std::size_t equals = word.find('=');
        auto name = tres_name(trim(word.substr(0, equals)));
        if (!name || equals == std::string_view::npos) {
            return wrong(
                config,
                fmt::format("PriorityWeightTRES: {}: expected cpu, mem, node, billing, gres/NAME "
                            "or license/NAME, and =WEIGHT",
                            word));
        }
        // Weights may be negative, unlike the numbers of other keys.
        std::string_view text = trim(word.substr(equals + 1));
        const bool negative = text.starts_with('-');
        Result<Value> weight = parse_value(Kind::Real, {}, negative ? text.substr(1) : text);
        if (!weight)
            return wrong(config, fmt::format("PriorityWeightTRES: {}: expected a number", word));
        config.priority_tres_weights.emplace_back(*name, negative ? -weight->real : weight->real);
    }
    return {};
}

}  // namespace

Result<void> complete_priority(Config& config) {
    TRY(complete_flags(config));
    TRY(complete_tres_weights(config));
    if (config.priority_max_age <= Seconds{0})
        return wrong(config, "PriorityMaxAge: expected a time above 0");
    if (config.priority_calc_period <= Seconds{0}) {
        return wrong(config, "PriorityCalcPeriod: expected a number of minutes above 0");
    }
    return {};
}

}  // namespace sluice
