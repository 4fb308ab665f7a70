// See request.h.
#include "cli/sreport/request.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr Seconds kHour{3600};

struct Reader {
    Time now;
    ReportConditions conditions;
    std::optional<Time> start, end;
};
using Setter = Result<void> (*)(Reader& reader, std::string_view value);
using Texts = std::vector<std::string>;

template <Texts ReportConditions::*Member>
Result<void> add_names(Reader& reader, std::string_view value) {
    for (const std::string& name : split_list(value)) {
        (reader.conditions.*Member).push_back(name);
    }
    return {};
}
template <bool ReportConditions::*Member>
Result<void> set_flag(Reader& reader, std::string_view) {
    reader.conditions.*Member = true;
    return {};
}
template <std::optional<Time> Reader::*Member>
Result<void> set_time(Reader& reader, std::string_view value) {
    reader.*Member = TRY(parse_moment(value, reader.now, PassedTime::IsMeant));
    return {};
}
Result<void> set_format(Reader& reader, std::string_view value) {
    reader.conditions.format = value;
    return {};
}
Result<void> set_nodes(Reader& reader, std::string_view value) {
    if (!Hostlist::parse(value)) {
        return Error{ErrorCode::BadArgument, fmt::format(" Invalid node list: {}", value)};
    }
    reader.conditions.nodes = value;
    return {};
}
Result<void> set_grouping(Reader& reader, std::string_view value) {
    ReportConditions& conditions = reader.conditions;
    conditions.grouping.clear();
    conditions.individual = equals_ignoring_case(value, "individual");
    if (conditions.individual) return {};
    for (const std::string& word : split_list(value)) {
        const std::optional<std::uint64_t> size = to_number(word);
        const std::uint64_t last = conditions.grouping.empty() ? 0 : conditions.grouping.back();
        if (!size || *size <= last) {
            return Error{ErrorCode::BadArgument,
                         fmt::format(" Invalid value for Grouping ({}): sizes must be numbers in "
                                     "ascending order, or the word individual",
                                     value)};
        }
        conditions.grouping.push_back(*size);
    }
    return {};
}
Result<void> set_top_count(Reader& reader, std::string_view value) {
    const std::optional<std::uint64_t> count = to_number(value);
    if (!count || *count == 0 || *count > 0xffffffff) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("sreport: error: Invalid value for TopCount ({})", value)};
    }
    reader.conditions.top_count = static_cast<std::uint32_t>(*count);
    return {};
}

struct ConditionKey {
    std::string_view name;
    unsigned groups;  // of reports
    bool has_value;
    Setter set;
};

using C = ReportConditions;
constexpr unsigned kAll = kClusterReports | kJobReports | kReservationReports | kUserReports;
// clang-format off
constexpr ConditionKey kConditions[] = {
    {"All_Clusters",  kAll,                                         false, set_flag<&C::all_clusters>},
    {"Clusters",      kAll,                                         true,  add_names<&C::clusters>},
    {"End",           kAll,                                         true,  set_time<&Reader::end>},
    {"Format",        kAll,                                         true,  set_format},
    {"Start",         kAll,                                         true,  set_time<&Reader::start>},
    {"Accounts",      kClusterReports | kJobReports | kUserReports, true,  add_names<&C::accounts>},
    {"AcctAsParent",  kJobReports,                                  false, set_flag<&C::account_as_parent>},
    {"FlatView",      kJobReports,                                  false, set_flag<&C::flat_view>},
    {"GID",           kJobReports,                                  true,  add_names<&C::groups>},
    {"Grouping",      kJobReports,                                  true,  set_grouping},
    {"Group",         kUserReports,                                 false, set_flag<&C::group>},
    {"Jobs",          kJobReports,                                  true,  add_names<&C::jobs>},
    {"Names",         kReservationReports,                          true,  add_names<&C::names>},
    {"Nodes",         kJobReports | kReservationReports,            true,  set_nodes},
    {"Partitions",    kJobReports,                                  true,  add_names<&C::partitions>},
    {"PrintJobCount", kJobReports,                                  false, set_flag<&C::print_job_count>},
    {"TopCount",      kUserReports,                                 true,  set_top_count},
    {"Tree",          kClusterReports,                              false, set_flag<&C::tree>},
    {"Users",         kClusterReports | kJobReports | kUserReports, true,  add_names<&C::users>},
    {"Wckeys",        kClusterReports | kJobReports,                true,  add_names<&C::wckeys>},
};
// clang-format on

const ConditionKey* find_condition(std::string_view name, unsigned group) {
    for (const ConditionKey& each : kConditions) {
        if ((each.groups & group) && !name.empty() && starts_with_ignoring_case(each.name, name)) {
            return &each;
        }
    }
    return nullptr;
}

Time floor_hour(Time time) {
    return std::chrono::floor<std::chrono::hours>(time);
}

// Yesterday, unless said otherwise. Whole hours around the times; hours that are not over yet have
// no figures.
Result<void> complete_times(Reader& reader) {
    const Time today = TRY(parse_moment("00:00", reader.now, PassedTime::IsMeant));
    // Half an hour before midnight is yesterday, whatever the length of the day.
    const Time evening = today - kHour / 2;
    const Time yesterday = TRY(parse_moment("00:00", evening, PassedTime::IsMeant));
    const Time start = reader.start.value_or(yesterday);
    const Time end = reader.end.value_or(today);
    if (start > end) {
        return Error{ErrorCode::BadArgument,
                     fmt::format(" Start time ({}) requested is after end time ({}).",
                                 print_moment(start), print_moment(end))};
    }
    reader.conditions.start = floor_hour(start);
    reader.conditions.end =
        std::min<Time>(std::chrono::ceil<std::chrono::hours>(end), floor_hour(reader.now));
    if (reader.conditions.end <= reader.conditions.start) {
        reader.conditions.end = reader.conditions.start + kHour;
    }
    return {};
}

}  // namespace

std::optional<TimeFormat> find_time_format(std::string_view word) {
    constexpr std::pair<std::string_view, TimeFormat> kWords[] = {
        {"SecPer", TimeFormat::SecPer},   {"MinPer", TimeFormat::MinPer},
        {"HourPer", TimeFormat::HourPer}, {"Seconds", TimeFormat::Seconds},
        {"Minutes", TimeFormat::Minutes}, {"Hours", TimeFormat::Hours},
        {"Percent", TimeFormat::Percent},
    };
    for (const auto& [name, format] : kWords) {
        if (equals_ignoring_case(name, word)) return format;
    }
    // Compat: "hour" is Hours, not HourPer.
    for (auto each = std::rbegin(kWords); each != std::rend(kWords); ++each) {
        if (!word.empty() && starts_with_ignoring_case(each->first, word)) return each->second;
    }
    return {};
}

Result<ReportConditions> parse_conditions(const std::vector<std::string>& words, unsigned group,
                                          Time now) {
    Reader reader{.now = now, .conditions = {}, .start = {}, .end = {}};
    for (const std::string& word : words) {
        if (equals_ignoring_case(word, "where") || equals_ignoring_case(word, "set")) continue;
        const std::size_t equals = word.find('=');
        const ConditionKey* condition = find_condition(word.substr(0, equals), group);
        if (!condition || condition->has_value != (equals != std::string::npos)) {
            return Error{
                ErrorCode::NotFound,
                fmt::format(" Unknown condition: {}\nUse keyword set to modify value", word)};
        }
        TRY(condition->set(reader, condition->has_value ? std::string_view(word).substr(equals + 1)
                                                        : std::string_view()));
    }
    TRY(complete_times(reader));
    return std::move(reader.conditions);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& each) { return equals_ignoring_case(each, name); });
}

}  // namespace sluice
