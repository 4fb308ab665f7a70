#include "model/used.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "model/field_checks.h"
#include "model/used_fields.h"
#include "model/validate.h"

namespace sluice {

UsedAmounts scaled(UsedAmounts amounts, double factor) {
    for (auto& [name, amount] : amounts.tres_seconds) amount *= factor;
    amounts.wall_seconds *= factor;
    return amounts;
}

double decay(Seconds age, Seconds half_life) {
    if (half_life <= Seconds{0} || age <= Seconds{0}) return 1;
    return std::exp2(-static_cast<double>(age.count()) / static_cast<double>(half_life.count()));
}

std::string usage_key(const StoredUsage& row) {
    switch (row.of) {
        case UsageOf::Clock:
            break;
        case UsageOf::Association:
            return fmt::format("association {}", row.id);
        case UsageOf::Qos:
            return fmt::format("qos {}", row.id);
    }
    return "clock";
}

bool is_gone(const StoredUsage& row) {
    return row.of != UsageOf::Clock && row.amounts == UsedAmounts{};
}

Result<void> validate(const StoredUsage& row) {
    TRY(validate_fields(row));
    const auto is_amount = [](double value) { return std::isfinite(value) && value >= 0; };
    for (const auto& [name, amount] : row.amounts.tres_seconds) {
        if (!is_amount(amount))
            return invalid_value(name, fmt::format("{}", amount), "expected an amount");
    }
    if (!is_amount(row.amounts.wall_seconds)) {
        return invalid_value("wall time", fmt::format("{}", row.amounts.wall_seconds),
                             "expected an amount");
    }
    if (row.half_life < Seconds{0})
        return invalid_value("PriorityDecayHalfLife", fmt::format("{}", row.half_life.count()),
                             "expected a length of time");
    return {};
}

Time start_of_period(UsageReset period, Time now) {
    if (period == UsageReset::None || period == UsageReset::Now) return Time{};
    const std::time_t seconds = to_unix(now);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;  // that of the first day may differ
    switch (period) {
        case UsageReset::Weekly:
            parts.tm_mday -= parts.tm_wday;
            break;
        case UsageReset::Monthly:
            parts.tm_mday = 1;
            break;
        case UsageReset::Quarterly:
            parts.tm_mday = 1;
            parts.tm_mon -= parts.tm_mon % 3;
            break;
        case UsageReset::Yearly:
            parts.tm_mday = 1;
            parts.tm_mon = 0;
            break;
        case UsageReset::None:
        case UsageReset::Now:
        case UsageReset::Daily:
            break;
    }
    return from_unix(std::mktime(&parts));
}

}  // namespace sluice
