// model/accounting_question.h
//
// What tools ask the accounting database; slurmctld or slurmdbd answers with rows, each a value
// with a list of fields.
#pragma once

#include <optional>
#include <string>

#include "model/accounted_fields.h"

namespace sluice {

enum class RollupPeriod : std::uint8_t { Hour, Day, Month };

struct AccountingQuestion {
    enum class Kind : std::uint8_t {
        Jobs,          // rows: AccountedRun
        Policy,        // one row: Policy
        Events,        // AccountedEvent
        Reservations,  // AccountedReservation
        Transactions,  // Transaction
        Usage,         // UsageRow, of associations
        WckeyUsage,    // UsageRow, of wckeys
        ClusterUsage,  // ClusterUsageRow
        Imports,       // UsageImport, of numbers above `after`; asked by slurmctld
    };
    Kind kind = Kind::Jobs;
    JobSelection jobs;    // of Jobs
    std::string cluster;  // empty: that of the answering controller
    std::optional<Time> start, end;
    RollupPeriod period = RollupPeriod::Hour;
    std::uint64_t after = 0;
    bool operator==(const AccountingQuestion&) const = default;
};

// One entry of sacctmgr show transactions.
struct Transaction {
    std::uint64_t id = 0;
    Time time{};
    std::string action;  // "Add Accounts", as sacctmgr prints it
    std::string actor;   // the user's name
    std::string where, info;
    std::string cluster;
    bool operator==(const Transaction&) const = default;
};

// What an association (or wckey) used of one TRES in a period.
struct UsageRow {
    Time start{};
    std::uint32_t id = 0;  // association or wckey
    std::string tres;
    std::uint64_t seconds = 0;  // amount * time
    bool operator==(const UsageRow&) const = default;
};

// What a cluster had of one TRES in a period, in amount * seconds; the parts add up to count *
// length of the period.
struct ClusterUsageRow {
    Time start{};
    std::string tres;
    std::uint64_t count = 0;
    std::uint64_t allocated = 0, down = 0, planned_down = 0, idle = 0, planned = 0, over = 0;
    bool operator==(const ClusterUsageRow&) const = default;
};

template <>
inline constexpr auto kFields<AccountingQuestion> = fields<AccountingQuestion>(
    field(2, "kind", &AccountingQuestion::kind, at_most(AccountingQuestion::Kind::Imports)),
    field(3, "jobs", &AccountingQuestion::jobs), field(4, "cluster", &AccountingQuestion::cluster),
    field(5, "start", &AccountingQuestion::start), field(6, "end", &AccountingQuestion::end),
    field(7, "period", &AccountingQuestion::period, at_most(RollupPeriod::Month)),
    field(8, "after", &AccountingQuestion::after));

template <>
inline constexpr auto kFields<Transaction> = fields<Transaction>(
    field(2, "id", &Transaction::id), field(3, "time", &Transaction::time),
    field(4, "action", &Transaction::action), field(5, "actor", &Transaction::actor),
    field(6, "where", &Transaction::where, kAnyText),
    field(7, "info", &Transaction::info, kAnyText), field(8, "cluster", &Transaction::cluster));

template <>
inline constexpr auto kFields<UsageRow> = fields<UsageRow>(field(2, "start", &UsageRow::start),
                                                           field(3, "id", &UsageRow::id),
                                                           field(4, "TRES", &UsageRow::tres),
                                                           field(5, "seconds", &UsageRow::seconds));

template <>
inline constexpr auto kFields<ClusterUsageRow> = fields<ClusterUsageRow>(
    field(2, "start", &ClusterUsageRow::start), field(3, "TRES", &ClusterUsageRow::tres),
    field(4, "count", &ClusterUsageRow::count), field(5, "allocated", &ClusterUsageRow::allocated),
    field(6, "down", &ClusterUsageRow::down),
    field(7, "planned down", &ClusterUsageRow::planned_down),
    field(8, "idle", &ClusterUsageRow::idle), field(9, "planned", &ClusterUsageRow::planned),
    field(10, "over", &ClusterUsageRow::over));

}  // namespace sluice
