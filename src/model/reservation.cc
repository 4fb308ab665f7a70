// model/reservation.cc: the words for flags, and the next occurrence of a repeating reservation.
#include "model/reservation.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

// AtFirst: for a new one only.
enum class May : std::uint8_t { SetAndClear, SetOnly, AtFirst, Nothing };

struct FlagRow {
    std::string_view word;
    std::uint32_t flag;  // 0: PURGE_COMP, which has a length instead
    May may;
};

// In the order in which they are shown. Compat: some cannot be cleared.
// clang-format off
constexpr FlagRow kFlags[] = {
    {"MAINT",                  kResvMaint,       May::SetAndClear},
    {"FLEX",                   kResvFlex,        May::SetAndClear},
    {"OVERLAP",                kResvOverlap,     May::SetOnly},
    {"IGNORE_JOBS",            kResvIgnoreJobs,  May::SetAndClear},
    {"HOURLY",                 kResvHourly,      May::SetAndClear},
    {"DAILY",                  kResvDaily,       May::SetAndClear},
    {"WEEKDAY",                kResvWeekday,     May::SetAndClear},
    {"WEEKEND",                kResvWeekend,     May::SetAndClear},
    {"WEEKLY",                 kResvWeekly,      May::SetAndClear},
    {"SPEC_NODES",             kResvSpecNodes,   May::Nothing},
    {"ALL_NODES",              kResvAllNodes,    May::Nothing},
    {"ANY_NODES",              kResvAnyNodes,    May::SetAndClear},
    {"STATIC",                 kResvStaticAlloc, May::SetAndClear},
    {"PART_NODES",             kResvPartNodes,   May::SetAndClear},
    {"FIRST_CORES",            kResvFirstCores,  May::AtFirst},
    {"TIME_FLOAT",             kResvTimeFloat,   May::AtFirst},
    {"REPLACE",                kResvReplace,     May::SetOnly},
    {"REPLACE_DOWN",           kResvReplaceDown, May::SetOnly},
    {"PURGE_COMP",             0,                May::SetAndClear},
    {"NO_HOLD_JOBS_AFTER_END", kResvNoHoldJobs,  May::SetOnly},
    {"MAGNETIC",               kResvMagnetic,    May::SetAndClear},
    {"USER_DELETE",            kResvUserDelete,  May::SetAndClear},
    {"FORCE_START",            kResvForceStart,  May::SetAndClear},
};
// clang-format on

// Full words, and the shorter forms of some in Slurm's documents.
const FlagRow* find_flag(std::string_view word) {
    if (equals_ignoring_case(word, "STATIC_ALLOC")) word = "STATIC";
    if (equals_ignoring_case(word, "NO_HOLD_JOBS_AFTER")) word = "NO_HOLD_JOBS_AFTER_END";
    if (equals_ignoring_case(word, "LICENSE_ONLY")) word = "ANY_NODES";
    for (const FlagRow& row : kFlags) {
        if (equals_ignoring_case(word, row.word)) return &row;
    }
    return nullptr;
}

constexpr Seconds kPurgeDefault{300};

Result<void> set_purge(std::string_view length, bool clear, ReservationChange& change) {
    change.purge_cleared = clear;
    change.purge_after = kPurgeDefault;
    if (!length.empty()) {
        Result<TimeLimit> parsed = parse_time_limit(length);
        if (!parsed || parsed->unlimited()) {
            return Error{ErrorCode::BadArgument, fmt::format("PURGE_COMP={}", length)};
        }
        change.purge_after = parsed->length();
    }
    if (clear) change.purge_after.reset();
    return {};
}

bool wanted_day(int weekday, std::uint32_t flags) {
    const bool weekend = weekday == 0 || weekday == 6;
    if ((flags & kResvWeekday) != 0) return !weekend;
    if ((flags & kResvWeekend) != 0) return weekend;
    return true;
}

}  // namespace

bool Reservation::has_node(NodeIndex node) const {
    return std::binary_search(nodes.begin(), nodes.end(), node);
}

std::uint32_t Reservation::cores_of(const std::string& node, std::uint32_t all) const {
    if (cores.empty()) return all;
    for (const NodeCores& each : cores) {
        if (each.node == node) return std::min(each.cores, all);
    }
    return all;
}

std::string print_reservation_flags(const Reservation& reservation) {
    std::vector<std::string> words;
    for (const FlagRow& row : kFlags) {
        if (row.flag == 0 && reservation.purge_after) {
            words.push_back(
                fmt::format("{}={}", row.word, print_duration(*reservation.purge_after)));
        } else if (reservation.has(row.flag)) {
            words.emplace_back(row.word);
        }
    }
    return join(words, ",");
}

Result<void> parse_reservation_flags(std::string_view text, char sign, ReservationChange& change) {
    change.flags_replaced = change.flags_replaced || sign == 0;
    for (std::string_view word : split(text, ',')) {
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const FlagRow* row = find_flag(name);
        const bool clear = sign == '-';
        const bool is_new = change.verb == ReservationChange::Verb::Create;
        const bool too_late = row && row->may == May::AtFirst && !is_new;
        if (!row || row->may == May::Nothing || too_late || (clear && row->may == May::SetOnly)) {
            return Error{ErrorCode::BadArgument, fmt::format("{}{}", clear ? "-" : "", word)};
        }
        if (row->flag == 0) {
            const std::string_view length =
                equals == std::string_view::npos ? "" : word.substr(equals + 1);
            TRY(set_purge(length, clear, change));
        } else if (equals != std::string_view::npos) {
            return Error{ErrorCode::BadArgument, std::string(word)};
        } else {
            (clear ? change.flags_cleared : change.flags_set) |= row->flag;
        }
    }
    return {};
}

Time next_occurrence(Time start, std::uint32_t flags) {
    if ((flags & kResvHourly) != 0) return start + Seconds{3600};
    std::time_t seconds = to_unix(start);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    // The same time of day, also across daylight saving changes.
    do {
        parts.tm_mday += (flags & kResvWeekly) != 0 ? 7 : 1;
        parts.tm_isdst = -1;
        std::tm noon = parts;
        noon.tm_hour = 12;
        mktime(&noon);
        parts.tm_wday = noon.tm_wday;
    } while (!wanted_day(parts.tm_wday, flags));
    return from_unix(mktime(&parts));
}

}  // namespace sluice
