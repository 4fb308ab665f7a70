// model/accounting_order.h
//
// What administrators order of the daemon that has the accounting database.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/accounted_fields.h"
#include "model/fields.h"

namespace sluice {

// Rows that are older leave the database.
struct PurgeRule {
    enum class What : std::uint8_t {
        Jobs,
        Steps,
        Events,
        Reservations,
        Suspends,
        Transactions,
        Usage
    } what = What::Jobs;
    Seconds older_than{0};
    bool archive = false;  // after a copy was written to a file
    bool operator==(const PurgeRule&) const = default;
};

// What may be changed of jobs that have ended.
struct JobNotes {
    std::optional<std::string> comment, admin_comment, system_comment, wckey;
    std::optional<std::uint8_t> derived_exit;
    bool operator==(const JobNotes&) const = default;
};

struct AccountingOrder {
    enum class Kind : std::uint8_t {
        Ping,
        Reconfigure,
        Shutdown,
        Purge,
        LoadArchive,
        Import,
        ShowStatistics,
        ClearStatistics,
        ModifyJobs,
    };
    Kind kind = Kind::Ping;
    std::vector<PurgeRule> rules;  // of Purge
    std::string path;              // the directory of new archives, or the file to load
    // Of Import: runs that have ended, of one cluster, with their steps.
    std::string cluster = {};
    std::vector<AccountedRun> runs = {};
    bool only_check = false;  // nothing is added or changed
    // Of ModifyJobs: rows of the answer are AccountedJob, those that were changed.
    JobSelection jobs = {};
    JobNotes notes = {};
    bool operator==(const AccountingOrder&) const = default;
};
constexpr std::size_t kImportedAtOnce = 1000;  // runs of one order

// The answer to Import.
struct ImportOutcome {
    std::uint64_t added = 0;           // or, if only checked, to be added
    std::uint64_t known = 0;           // the database has them
    std::vector<std::uint32_t> taken;  // jobs: the database has another run in their place
    bool operator==(const ImportOutcome&) const = default;
};

template <>
inline constexpr auto kFields<PurgeRule> = fields<PurgeRule>(
    field(2, "what", &PurgeRule::what, at_most(PurgeRule::What::Usage)),
    field(3, "older than", &PurgeRule::older_than), field(4, "archive", &PurgeRule::archive));

template <>
inline constexpr auto kFields<JobNotes> = fields<JobNotes>(
    field(2, "Comment", &JobNotes::comment), field(3, "AdminComment", &JobNotes::admin_comment),
    field(4, "SystemComment", &JobNotes::system_comment), field(5, "NewWCKey", &JobNotes::wckey),
    field(6, "DerivedExitCode", &JobNotes::derived_exit));

template <>
inline constexpr auto kFields<AccountingOrder> = fields<AccountingOrder>(
    field(2, "kind", &AccountingOrder::kind, at_most(AccountingOrder::Kind::ModifyJobs)),
    field(3, "rules", &AccountingOrder::rules), field(4, "path", &AccountingOrder::path),
    field(5, "cluster", &AccountingOrder::cluster),
    field(6, "runs", &AccountingOrder::runs, entries_at_most(kImportedAtOnce)),
    field(7, "check", &AccountingOrder::only_check), field(8, "jobs", &AccountingOrder::jobs),
    field(9, "notes", &AccountingOrder::notes));

template <>
inline constexpr auto kFields<ImportOutcome> = fields<ImportOutcome>(
    field(2, "added", &ImportOutcome::added), field(3, "known", &ImportOutcome::known),
    field(4, "taken", &ImportOutcome::taken));

static_assert(numbers_differ<AccountingOrder>() && numbers_differ<ImportOutcome>());

}  // namespace sluice
