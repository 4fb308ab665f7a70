// accounting/rollup.cc
//
// See rollup.h.
#include "accounting/rollup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "accounting/hours.h"
#include "accounting/periods.h"
#include "accounting/policy_rows.h"
#include "accounting/rows.h"

namespace sluice::accounting {

namespace {

constexpr Time kNeverTime = from_unix(kNever);

std::int64_t number_of_period(RollupPeriod period) {
    return static_cast<std::int64_t>(period);
}

using WckeyIds = std::map<std::tuple<std::string, std::uint32_t>, std::uint32_t>;

Result<WckeyIds> wckey_ids(sql::Database& database, const std::string& cluster) {
    WckeyIds ids;
    for (const Wckey& wckey : TRY(query_values<Wckey>(
             database, "SELECT data FROM policy WHERE kind = 'wckey'", {}, "policy"))) {
        if (wckey.cluster == cluster && wckey.uid) ids[{wckey.name, wckey.uid->value}] = wckey.id;
    }
    return ids;
}

std::uint32_t wckey_of(const AccountedJob& job, const WckeyIds& ids) {
    const bool is_default = job.wckey.starts_with('*');
    const auto found = ids.find({job.wckey.substr(is_default ? 1 : 0), job.user.value});
    return found == ids.end() ? 0 : found->second;
}

// ---- hours

Result<void> add_jobs(sql::Database& database, const std::string& cluster, Time from, Time to,
                      Hours& hours) {
    const WckeyIds wckeys = TRY(wckey_ids(database, cluster));
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<UsageInterval>> suspended;
    TRY(database.query(
        "SELECT job, restarts, start_time, end_time FROM suspends WHERE cluster = ? AND end_time > "
        "? AND start_time < ?",
        {cluster, to_unix(from), to_unix(to)}, [&](const sql::RowView& row) -> Result<void> {
            suspended[{row.number(0), row.number(1)}].push_back(
                {from_unix(row.number(2)), from_unix(row.number(3))});
            return {};
        }));
    static const std::vector<UsageInterval> kNone;
    return database.query(
        "SELECT data FROM jobs WHERE cluster = ? AND end_time > ? AND eligible < ?",
        {cluster, to_unix(from), to_unix(to)}, [&](const sql::RowView& row) -> Result<void> {
            const AccountedJob job = TRY(from_bytes<AccountedJob>(row.text(0), "jobs"));
            const auto found = suspended.find({job.job.value, job.restarts});
            hours.add_job(job, found == suspended.end() ? kNone : found->second,
                          wckey_of(job, wckeys));
            return {};
        });
}

// The size of the cluster: each event lasts until the next one at the latest.
Result<void> add_cluster(sql::Database& database, const std::string& cluster, Time to,
                         Hours& hours) {
    const std::vector<AccountedEvent> sizes = TRY(query_values<AccountedEvent>(
        database,
        "SELECT data FROM events WHERE cluster = ? AND node = '' AND start_time < ? ORDER BY "
        "start_time",
        {cluster, to_unix(to)}, "events"));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Time end = sizes[i].end.value_or(kNeverTime);
        if (i + 1 < sizes.size()) end = std::min(end, sizes[i + 1].start);
        hours.add_cluster(sizes[i].tres, {sizes[i].start, end});
    }
    return {};
}

Result<Hours> compute_hours(sql::Database& database, const std::string& cluster, Time from,
                            Time to) {
    Hours hours(from, to);
    TRY(add_cluster(database, cluster, to, hours));
    const sql::Row when{cluster, to_unix(from), to_unix(to)};
    for (const AccountedReservation& each : TRY(query_values<AccountedReservation>(
             database,
             "SELECT data FROM reservations WHERE cluster = ? AND end_time > ? AND start_time < ?",
             when, "reservations"))) {
        hours.add_reservation(each);
    }
    for (const AccountedEvent& each : TRY(query_values<AccountedEvent>(
             database,
             "SELECT data FROM events WHERE cluster = ? AND end_time > ? AND start_time < ? AND "
             "node <> ''",
             when, "events"))) {
        hours.add_node_event(each);
    }
    TRY(add_jobs(database, cluster, from, to, hours));
    return hours;
}

Result<void> replace_rows(sql::Database& database, std::string_view table, std::string_view columns,
                          const std::string& cluster, RollupPeriod period, Time from, Time to,
                          const std::vector<sql::Row>& rows) {
    TRY(database.run(fmt::format("DELETE FROM {} WHERE cluster = ? AND period = ? AND start_time "
                                 ">= ? AND start_time < ?",
                                 table),
                     {cluster, number_of_period(period), to_unix(from), to_unix(to)}));
    return insert_rows(database, table, columns, rows);
}

void add_usage_rows(const std::string& cluster, RollupPeriod period, Time start,
                    const UsageById& usage, std::vector<sql::Row>& rows) {
    for (const auto& [id, sums] : usage) {
        for (const auto& [tres, seconds] : sums) {
            rows.push_back({cluster, number_of_period(period), to_unix(start), std::int64_t{id},
                            column_text(tres), number_of(seconds)});
        }
    }
}

Result<void> write_hours(sql::Database& database, const std::string& cluster, Time from, Time to) {
    const Hours hours = TRY(compute_hours(database, cluster, from, to));
    constexpr RollupPeriod kHour = RollupPeriod::Hour;
    std::vector<sql::Row> associations, wckeys, totals;
    for (std::size_t i = 0; i < hours.size(); ++i) {
        add_usage_rows(cluster, kHour, hours.start(i), hours.associations(i), associations);
        add_usage_rows(cluster, kHour, hours.start(i), hours.wckeys(i), wckeys);
        for (const ClusterUsageRow& row : hours.cluster(i)) {
            totals.push_back(cluster_usage_row(cluster, kHour, row));
        }
    }
    TRY(replace_rows(database, kAssociationUsage, kUsageColumns, cluster, kHour, from, to,
                     associations));
    TRY(replace_rows(database, kWckeyUsage, kUsageColumns, cluster, kHour, from, to, wckeys));
    return replace_rows(database, kClusterUsage, kClusterColumns, cluster, kHour, from, to, totals);
}

// ---- days and months, from the rows of the shorter period

Result<void> sum_usage(sql::Database& database, std::string_view table, const std::string& cluster,
                       RollupPeriod period, Time from, Time to) {
    const auto shorter = static_cast<RollupPeriod>(number_of_period(period) - 1);
    std::map<Time, UsageById> sums;
    for (const UsageRow& row : TRY(load_usage(database, table, {cluster, shorter, from, to}))) {
        sums[period_start(period, row.start)][row.id][row.tres] += row.seconds;
    }
    std::vector<sql::Row> rows;
    for (const auto& [start, usage] : sums) add_usage_rows(cluster, period, start, usage, rows);
    return replace_rows(database, table, kUsageColumns, cluster, period, from, to, rows);
}

Result<void> sum_cluster_usage(sql::Database& database, const std::string& cluster,
                               RollupPeriod period, Time from, Time to) {
    const auto shorter = static_cast<RollupPeriod>(number_of_period(period) - 1);
    std::map<std::pair<Time, std::string>, ClusterUsageRow> sums;
    for (const ClusterUsageRow& row :
         TRY(load_cluster_usage(database, {cluster, shorter, from, to}))) {
        const Time start = period_start(period, row.start);
        ClusterUsageRow& sum = sums[{start, row.tres}];
        sum.start = start;
        sum.tres = row.tres;
        sum.allocated += row.allocated;
        sum.down += row.down;
        sum.planned_down += row.planned_down;
        sum.idle += row.idle;
        sum.planned += row.planned;
        sum.over += row.over;
    }
    std::vector<sql::Row> rows;
    for (auto& [key, sum] : sums) {
        const auto length =
            static_cast<std::uint64_t>((next_period(period, sum.start) - sum.start).count());
        const std::uint64_t total =
            sum.allocated + sum.down + sum.planned_down + sum.idle + sum.planned;
        sum.count = (total + length / 2) / length;
        rows.push_back(cluster_usage_row(cluster, period, sum));
    }
    return replace_rows(database, kClusterUsage, kClusterColumns, cluster, period, from, to, rows);
}

// All periods that have a changed hour and are complete.
Result<void> sum_up(sql::Database& database, const std::string& cluster, RollupPeriod period,
                    Time from, Time done) {
    const Time first = period_start(period, from);
    const Time end = period_start(period, done);
    if (first >= end) return {};
    TRY(sum_usage(database, kAssociationUsage, cluster, period, first, end));
    TRY(sum_usage(database, kWckeyUsage, cluster, period, first, end));
    return sum_cluster_usage(database, cluster, period, first, end);
}

// ---- which hours

Result<std::optional<Time>> first_row(sql::Database& database, const std::string& cluster) {
    std::int64_t first = kNever;
    const auto note = [&](const sql::RowView& row) -> Result<void> {
        if (!row.is_null(0)) first = std::min(first, row.number(0));
        return {};
    };
    TRY(database.query("SELECT MIN(eligible) FROM jobs WHERE cluster = ? AND eligible > 0",
                       {cluster}, note));
    TRY(database.query("SELECT MIN(start_time) FROM jobs WHERE cluster = ?", {cluster}, note));
    TRY(database.query("SELECT MIN(start_time) FROM events WHERE cluster = ?", {cluster}, note));
    TRY(database.query("SELECT MIN(start_time) FROM reservations WHERE cluster = ?", {cluster},
                       note));
    if (first == kNever) return std::optional<Time>();
    return std::optional<Time>(from_unix(first));
}

// Rolls up the hours of one month; returns whether others are left.
Result<bool> roll_up_month(sql::Database& database, const std::string& cluster, Time now) {
    RollupState state = TRY(rollup_state(database, cluster));
    std::optional<Time> from =
        state.exists ? std::min(state.done, state.dirty) : TRY(first_row(database, cluster));
    if (!from) return false;
    from = period_start(RollupPeriod::Hour, std::max(*from, state.purged));
    const Time complete = period_start(RollupPeriod::Hour, now);
    const Time month = period_start(RollupPeriod::Month, *from);
    const Time to = std::min(complete, next_period(RollupPeriod::Month, month));
    if (*from >= to) return false;
    TRY(write_hours(database, cluster, *from, to));
    TRY(sum_up(database, cluster, RollupPeriod::Day, *from, to));
    TRY(sum_up(database, cluster, RollupPeriod::Month, *from, to));
    // Hours after this month are computed again, too, if one before them has changed: a job that
    // was changed can last until then.
    state.done = to;
    state.dirty = kNeverTime;
    TRY(put_rollup_state(database, cluster, state));
    return to < complete;
}

}  // namespace

sql::Row cluster_usage_row(const std::string& cluster, RollupPeriod period,
                           const ClusterUsageRow& row) {
    return {cluster,
            number_of_period(period),
            to_unix(row.start),
            column_text(row.tres),
            number_of(row.count),
            number_of(row.allocated),
            number_of(row.down),
            number_of(row.planned_down),
            number_of(row.idle),
            number_of(row.planned),
            number_of(row.over)};
}

Result<void> insert_rows(sql::Database& database, std::string_view table, std::string_view columns,
                         const std::vector<sql::Row>& rows) {
    constexpr std::size_t kRowsAtOnce = 64;
    for (std::size_t at = 0; at < rows.size();) {
        const std::size_t count = rows.size() - at >= kRowsAtOnce ? kRowsAtOnce : 1;
        std::string marks;
        sql::Row values;
        for (std::size_t i = 0; i < count; ++i) {
            marks += i == 0 ? "(" : ", (";
            for (std::size_t column = 0; column < rows[at + i].size(); ++column) {
                marks += column == 0 ? "?" : ", ?";
                values.push_back(rows[at + i][column]);
            }
            marks += ")";
        }
        TRY(database.run(fmt::format("INSERT INTO {} ({}) VALUES {}", table, columns, marks),
                         values));
        at += count;
    }
    return {};
}

Result<RollupState> rollup_state(sql::Database& database, const std::string& cluster) {
    RollupState state{.exists = false, .dirty = kNeverTime};
    TRY(database.query("SELECT done, dirty, purged FROM rollups WHERE cluster = ?", {cluster},
                       [&](const sql::RowView& row) -> Result<void> {
                           state = {true, from_unix(row.number(0)), from_unix(row.number(1)),
                                    from_unix(row.number(2))};
                           return {};
                       }));
    return state;
}

Result<void> put_rollup_state(sql::Database& database, const std::string& cluster,
                              const RollupState& state) {
    TRY(database.run(
        upsert(database.dialect(), "rollups", {"cluster"}, {"done", "dirty", "purged"}),
        {cluster, to_unix(state.done), to_unix(state.dirty), to_unix(state.purged)}));
    return {};
}

Result<void> roll_up(sql::Database& database, const std::string& cluster, Time now) {
    bool has_more = true;
    while (has_more) {
        TRY(sql::transact(database, [&]() -> Result<void> {
            has_more = TRY(roll_up_month(database, cluster, now));
            return {};
        }));
    }
    return {};
}

Result<std::vector<UsageRow>> load_usage(sql::Database& database, std::string_view table,
                                         const UsageQuestion& question) {
    std::vector<UsageRow> rows;
    TRY(database.query(
        fmt::format("SELECT start_time, id, tres, seconds FROM {} WHERE cluster = ? AND period = ? "
                    "AND start_time >= ? AND start_time < ? ORDER BY start_time, id",
                    table),
        {question.cluster, number_of_period(question.period), to_unix(question.start),
         to_unix(question.end)},
        [&](const sql::RowView& row) -> Result<void> {
            rows.push_back({from_unix(row.number(0)), static_cast<std::uint32_t>(row.number(1)),
                            std::string(row.text(2)), static_cast<std::uint64_t>(row.number(3))});
            return {};
        }));
    return rows;
}

Result<std::vector<ClusterUsageRow>> load_cluster_usage(sql::Database& database,
                                                        const UsageQuestion& question) {
    std::vector<ClusterUsageRow> rows;
    TRY(database.query(
        "SELECT start_time, tres, amount, allocated, down, planned_down, idle, planned, "
        "overcommitted FROM cluster_usage WHERE cluster = ? AND period = ? AND start_time >= ? AND "
        "start_time < ? ORDER BY start_time",
        {question.cluster, number_of_period(question.period), to_unix(question.start),
         to_unix(question.end)},
        [&](const sql::RowView& row) -> Result<void> {
            const auto amount = [&](int column) {
                return static_cast<std::uint64_t>(row.number(column));
            };
            rows.push_back({from_unix(row.number(0)), std::string(row.text(1)), amount(2),
                            amount(3), amount(4), amount(5), amount(6), amount(7), amount(8)});
            return {};
        }));
    return rows;
}

}  // namespace sluice::accounting
