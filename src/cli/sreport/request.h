// cli/sreport/request.h
//
// What a report is asked for: the settings of sreport (its options), and the conditions of one
// report ("start=2026-01-01 accounts=a,b tree").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "model/policy.h"
#include "surface/report.h"

namespace sluice {

enum class TimeFormat : unsigned char { Seconds, Minutes, Hours, Percent, SecPer, MinPer, HourPer };
// Any case; a beginning of the word will do.
std::optional<TimeFormat> find_time_format(std::string_view word);

struct ReportSettings {
    TimeFormat time = TimeFormat::Minutes;
    std::vector<std::string> tres;      // -T; empty: cpu. "ALL": all
    std::vector<std::string> clusters;  // -M
    bool all_clusters = false;          // -a
    Bars bars = Bars::None;
    bool header = true;
    bool quiet = false;
};

struct ReportConditions {
    Time start{}, end{};  // whole hours
    std::vector<std::string> clusters, accounts, users, wckeys, names, jobs, partitions, groups;
    std::string nodes;
    std::string format;
    std::vector<std::uint64_t> grouping = {50, 250, 500, 1000};
    bool individual = false;  // grouping=individual: a group for each size
    bool all_clusters = false;
    bool tree = false;
    bool group = false;
    bool flat_view = false;
    bool account_as_parent = false;
    bool print_job_count = false;
    std::uint32_t top_count = 10;
};

// Which reports have which conditions.
enum ReportGroup : unsigned {
    kClusterReports = 1,
    kJobReports = 2,
    kReservationReports = 4,
    kUserReports = 8
};

// The words after the name of a report. An error's detail is complete.
Result<ReportConditions> parse_conditions(const std::vector<std::string>& words, unsigned group,
                                          Time now);

struct ReportRequest {
    Time now;
    const Invocation& invocation;
    Client& client;
    Streams& streams;
    const ReportSettings& settings;
    ReportConditions conditions;
    Policy policy;
    std::vector<std::string> clusters;  // that are reported on
    std::vector<std::string> tres;      // that are reported on

    bool shows_tres() const { return !settings.tres.empty(); }
    Seconds length() const { return conditions.end - conditions.start; }
};

bool contains(const std::vector<std::string>& names, std::string_view name);  // any case
// No list selects all.
inline bool is_selected(const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || contains(names, name);
}

}  // namespace sluice
