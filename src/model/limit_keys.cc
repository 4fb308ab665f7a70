// See limit_keys.h.
#include "model/limit_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::uint64_t kCountMax = 0xfffffffd;  // larger ones have other meanings in Slurm
constexpr double kFactorMax = 1e6;

constexpr std::string_view kPlainTres[] = {"cpu",     "mem",     "energy", "node",
                                           "billing", "fs/disk", "vmem",   "pages"};

bool may_be_tres(std::string_view name) {
    const bool is_plain =
        std::find(std::begin(kPlainTres), std::end(kPlainTres), name) != std::end(kPlainTres);
    return is_plain || name.starts_with("gres/") || name.starts_with("license/");
}

}  // namespace

Error invalid_limit(const LimitWord& word) {
    return {ErrorCode::BadArgument, fmt::format("Invalid value for {} ({})", word.key, word.value)};
}

bool removes_limit(const LimitWord& word) {
    return word.value == "-1";
}

Result<void> change_tres_limit(TresChange& tres, const LimitWord& word) {
    const std::string text =
        word.tres.empty() ? word.value : fmt::format("{}={}", word.tres, word.value);
    for (std::string_view entry : split(text, ',')) {
        const std::size_t equals = std::min(entry.find('='), entry.size());
        const std::string name = to_lower(trim(entry.substr(0, equals)));
        if (!may_be_tres(name)) {
            return Error{ErrorCode::BadArgument, fmt::format("{}={}: no TRES known by type {}",
                                                             word.key, word.value, name)};
        }
        const std::string_view count = trim(entry.substr(std::min(equals + 1, entry.size())));
        if (count == "-1") {
            tres[name].reset();
            continue;
        }
        Result<Tres> parsed = parse_tres(fmt::format("{}={}", name, count));
        if (!parsed || parsed->size() != 1) return invalid_limit(word);
        tres[name] = parsed->begin()->second;
    }
    return {};
}

Result<void> change_count_limit(std::optional<LimitChange<std::uint32_t>>& limit,
                                const LimitWord& word) {
    limit.emplace();
    if (removes_limit(word)) return {};
    const std::optional<std::uint64_t> number = to_number(word.value);
    if (!number || *number > kCountMax) return invalid_limit(word);
    limit->value = static_cast<std::uint32_t>(*number);
    return {};
}

Result<void> change_wall_limit(std::optional<LimitChange<Seconds>>& limit, const LimitWord& word) {
    limit.emplace();
    if (removes_limit(word)) return {};
    Result<TimeLimit> length = parse_time_limit(word.value);
    if (!length || length->unlimited()) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Bad {} time format: {}={}", word.key, word.key, word.value)};
    }
    limit->value = Seconds{(length->length().count() + 59) / 60 * 60};
    return {};
}

Result<void> change_factor_limit(std::optional<LimitChange<std::uint32_t>>& limit,
                                 const LimitWord& word) {
    limit.emplace();
    if (removes_limit(word)) return {};
    char* end = nullptr;
    const double value = std::strtod(word.value.c_str(), &end);
    const bool is_number = !word.value.empty() && end == word.value.c_str() + word.value.size();
    if (!is_number || !(value >= 0) || value > kFactorMax) return invalid_limit(word);
    limit->value = static_cast<std::uint32_t>(std::lround(value * kUnitFactor));
    return {};
}

}  // namespace sluice
