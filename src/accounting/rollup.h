// accounting/rollup.h
//
// Usage by hour, day and month, kept in tables. Hours are computed from jobs, events and
// reservations (hours.h), days from hours, months from days.
#pragma once

#include "accounting/accounting.h"
#include "accounting/schema.h"

namespace sluice::accounting {

// One transaction for each month. See Accounting::roll_up.
Result<void> roll_up(sql::Database& database, const std::string& cluster, Time now);

Result<std::vector<UsageRow>> load_usage(sql::Database& database, std::string_view table,
                                         const UsageQuestion& question);
Result<std::vector<ClusterUsageRow>> load_cluster_usage(sql::Database& database,
                                                        const UsageQuestion& question);

// Inserts rows of as many columns each; several with one statement.
Result<void> insert_rows(sql::Database& database, std::string_view table, std::string_view columns,
                         const std::vector<sql::Row>& rows);

constexpr std::string_view kAssociationUsage = "association_usage";
constexpr std::string_view kWckeyUsage = "wckey_usage";
constexpr std::string_view kClusterUsage = "cluster_usage";
constexpr std::string_view kUsageColumns = "cluster, period, start_time, id, tres, seconds";
constexpr std::string_view kClusterColumns =
    "cluster, period, start_time, tres, amount, allocated, down, planned_down, idle, "
    "planned, overcommitted";
sql::Row cluster_usage_row(const std::string& cluster, RollupPeriod period,
                           const ClusterUsageRow& row);

// Until where the roll-up has come.
struct RollupState {
    bool exists = false;
    Time done{}, dirty{}, purged{};
};
Result<RollupState> rollup_state(sql::Database& database, const std::string& cluster);
Result<void> put_rollup_state(sql::Database& database, const std::string& cluster,
                              const RollupState& state);

}  // namespace sluice::accounting
