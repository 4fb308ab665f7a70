// See usage.h.
#include "cli/sreport/usage.h"

#include <algorithm>
#include <ctime>

#include "cli/common/ask_accounting.h"

namespace sluice {

namespace {

constexpr Seconds kOneHour{3600};

std::tm local_parts(Time time) {
    std::time_t seconds = to_unix(time);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

// Midnight, `days` or `months` later.
Time midnight_after(std::tm parts, int days, int months) {
    parts.tm_mday += days;
    parts.tm_mon += months;
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return from_unix(std::mktime(&parts));
}

PeriodSpan longest_at(Time start, Time end) {
    const std::tm parts = local_parts(start);
    const bool is_midnight = parts.tm_hour == 0 && parts.tm_min == 0;
    if (is_midnight && parts.tm_mday == 1) {
        const Time next = midnight_after(parts, 0, 1);
        if (next <= end) return {RollupPeriod::Month, start, next};
    }
    if (is_midnight) {
        const Time next = midnight_after(parts, 1, 0);
        if (next <= end) return {RollupPeriod::Day, start, next};
    }
    return {RollupPeriod::Hour, start, start + kOneHour};
}

AccountingQuestion question_for(const UsageScope& scope, const PeriodSpan& span,
                                AccountingQuestion::Kind kind) {
    AccountingQuestion question;
    question.kind = kind;
    question.cluster = scope.cluster;
    question.period = span.period;
    question.start = span.start;
    question.end = span.end;
    return question;
}

}  // namespace

std::vector<PeriodSpan> spans_of(Time start, Time end) {
    std::vector<PeriodSpan> spans;
    while (start < end) {
        const PeriodSpan next = longest_at(start, end);
        if (!spans.empty() && spans.back().period == next.period) {
            spans.back().end = next.end;
        } else {
            spans.push_back(next);
        }
        start = next.end;
    }
    return spans;
}

Result<UsageSums> fetch_usage(Client& client, const UsageScope& scope,
                              AccountingQuestion::Kind kind) {
    UsageSums sums;
    for (const PeriodSpan& span : spans_of(scope.start, scope.end)) {
        const std::vector<UsageRow> rows =
            TRY(ask_rows<UsageRow>(client, question_for(scope, span, kind)));
        for (const UsageRow& row : rows) sums[{row.id, row.tres}] += row.seconds;
    }
    return sums;
}

Result<ClusterSums> fetch_cluster_usage(Client& client, const UsageScope& scope) {
    ClusterSums sums;
    for (const PeriodSpan& span : spans_of(scope.start, scope.end)) {
        const std::vector<ClusterUsageRow> rows = TRY(ask_rows<ClusterUsageRow>(
            client, question_for(scope, span, AccountingQuestion::Kind::ClusterUsage)));
        for (const ClusterUsageRow& row : rows) {
            ClusterUsageRow& sum = sums[row.tres];
            sum.tres = row.tres;
            if (row.start >= sum.start) sum.count = row.count;
            sum.start = std::max(sum.start, row.start);
            sum.allocated += row.allocated;
            sum.down += row.down;
            sum.planned_down += row.planned_down;
            sum.idle += row.idle;
            sum.planned += row.planned;
            sum.over += row.over;
        }
    }
    return sums;
}

std::uint64_t reported_of(const ClusterUsageRow& usage) {
    return usage.allocated + usage.down + usage.planned_down + usage.idle + usage.planned;
}

}  // namespace sluice
