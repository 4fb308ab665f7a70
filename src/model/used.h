// model/used.h
//
// What the jobs of an association or of a QOS have used: the basis of fair share and of limits on
// used minutes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace sluice {

struct UsedAmounts {
    std::map<std::string, double> tres_seconds;  // by TRES: amount * seconds
    double wall_seconds = 0;
    bool operator==(const UsedAmounts&) const = default;
};

UsedAmounts scaled(UsedAmounts amounts, double factor);
// What is left after this time; a half-life of 0: all.
double decay(Seconds age, Seconds half_life);

enum class UsageOf : std::uint8_t {
    Clock,  // one row: until when all others have decayed
    Association,
    Qos,
};

// As it is stored. Amounts decay from `as_of` on; what they are now follows from the row of the
// clock, so that time alone changes only that one.
struct StoredUsage {
    UsageOf of = UsageOf::Clock;
    std::uint32_t id = 0;  // of the association or QOS
    UsedAmounts amounts;
    Time as_of{};  // of the clock: the time of the last calculation
    bool decays = true;
    // Of the clock.
    Seconds half_life{0};  // 0: no decay
    Time last_reset{};
    std::uint64_t last_import = 0;  // the number of the last UsageImport that was added
    bool operator==(const StoredUsage&) const = default;
};

// Its key in the store: "clock", "association 12", "qos 3".
std::string usage_key(const StoredUsage& row);
// Nothing is left of it: the store deletes it.
bool is_gone(const StoredUsage& row);

// What runs used that ended in one hour, before this cluster had records of its own (sluice import
// history): without decay, without the factor of the QOS.
struct ImportedUsage {
    std::uint32_t association = 0;
    std::string qos;
    Time ended{};  // the beginning of the hour
    UsedAmounts amounts;
    bool operator==(const ImportedUsage&) const = default;
};
// Part of an import. The numbers of a cluster grow, so that each counts once.
struct UsageImport {
    std::uint64_t number = 0;
    std::vector<ImportedUsage> used;
    bool operator==(const UsageImport&) const = default;
};

// PriorityUsageResetPeriod
enum class UsageReset : std::uint8_t { None, Now, Daily, Weekly, Monthly, Quarterly, Yearly };

// When the day, week (from Sunday), month, quarter or year of `now` began, in local time. None and
// Now have no beginning.
Time start_of_period(UsageReset period, Time now);

}  // namespace sluice
