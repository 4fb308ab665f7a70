// accounting/periods.cc
#include "accounting/periods.h"

#include <ctime>

namespace sluice::accounting {

namespace {

std::tm local(Time time) {
    const std::time_t seconds = to_unix(time);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

Time midnight(std::tm parts) {
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return from_unix(mktime(&parts));
}

}  // namespace

Time period_start(RollupPeriod period, Time time) {
    std::tm parts = local(time);
    // Of a day with 25 hours, one hour has the same numbers as another: it is found by subtraction.
    if (period == RollupPeriod::Hour) return time - Seconds(parts.tm_min * 60 + parts.tm_sec);
    if (period == RollupPeriod::Month) parts.tm_mday = 1;
    return midnight(parts);
}

Time next_period(RollupPeriod period, Time start) {
    if (period == RollupPeriod::Hour) {
        // Where the clock is changed by half an hour, an hour is shorter or longer.
        const Time next = period_start(RollupPeriod::Hour, start + Seconds(3600));
        return next > start ? next : start + Seconds(3600);
    }
    std::tm parts = local(start);
    if (period == RollupPeriod::Day) {
        ++parts.tm_mday;
    } else {
        ++parts.tm_mon;
    }
    return midnight(parts);
}

}  // namespace sluice::accounting
