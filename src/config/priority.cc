// config/priority.cc
//
// The lists among the Priority keys: which words they may hold.
#include <fmt/format.h>

#include <algorithm>

#include "config/setters.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kFlags[] = {
    "ACCRUE_ALWAYS",   "CALCULATE_RUNNING",
    "DEPTH_OBLIVIOUS", "FAIR_TREE",
    "INCR_ONLY",       "MAX_TRES",
    "MAX_TRES_GRES",   "NO_FAIR_TREE",
    "NO_NORMAL_ALL",   "NO_NORMAL_ASSOC",
    "NO_NORMAL_PART",  "NO_NORMAL_QOS",
    "NO_NORMAL_TRES",  "SMALL_RELATIVE_TO_TIME",
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
        if (std::find(std::begin(kFlags), std::end(kFlags), name) == std::end(kFlags))
            return wrong(config, fmt::format("PriorityFlags={}: '{}' is unknown",
                                             config.priority_flags, word));
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
    if (config.fair_share_dampening == 0)
        return wrong(config, "FairShareDampeningFactor=0: expected a number above 0");
    if (config.priority_decay_half_life < Seconds{0})
        return wrong(config, "PriorityDecayHalfLife: expected a length of time, 0 for no decay");
    return {};
}

}  // namespace sluice
