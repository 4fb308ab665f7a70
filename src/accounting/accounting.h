// accounting/accounting.h
//
// The accounting database: what was used, by which user, and the policy: which users may use what.
// The same code runs in slurmctld (StateSaveLocation/accounting.db) and in slurmdbd. One thread
// writes; each reader has its own Accounting on the same target.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/accounting_order.h"
#include "model/accounting_question.h"
#include "model/policy.h"
#include "model/used.h"
#include "sql/database.h"

namespace sluice {

struct UsageQuestion {
    std::string cluster;
    RollupPeriod period = RollupPeriod::Hour;
    Time start{}, end{};
};

class Accounting {
public:
    virtual ~Accounting() = default;

    // ---- facts
    // Applies facts of a cluster in one transaction. Those that were applied before are skipped.
    // Returns the sequence number of the last one that is in the database now.
    virtual Result<std::uint64_t> apply(const std::string& cluster,
                                        const std::vector<NumberedFact>& facts) = 0;
    virtual Result<std::uint64_t> last_applied(const std::string& cluster) = 0;
    virtual Result<void> put_script(const std::string& hash, std::string_view bytes) = 0;

    // ---- runs of the time before, in one transaction (import.h)
    virtual Result<ImportOutcome> import_runs(const std::string& cluster,
                                              const std::vector<AccountedRun>& runs,
                                              bool only_check) = 0;
    virtual Result<std::vector<UsageImport>> imports_after(const std::string& cluster,
                                                           std::uint64_t number) = 0;

    // ---- corrections of runs that have ended, in one transaction
    virtual Result<void> replace_jobs(const std::vector<AccountedRun>& runs,
                                      const std::vector<Transaction>& why) = 0;

    // ---- questions. Rows come in the order of sacct: by job, then by run.
    virtual Result<void> jobs(const JobSelection& selection, Time now,
                              const std::function<Result<void>(AccountedRun)>& each) = 0;
    virtual Result<std::vector<AccountedEvent>> events(const std::string& cluster,
                                                       std::optional<Time> start,
                                                       std::optional<Time> end) = 0;
    virtual Result<std::vector<AccountedReservation>> reservations(const std::string& cluster,
                                                                   std::optional<Time> start,
                                                                   std::optional<Time> end) = 0;

    // ---- policy. set_policy writes what is different from the last one, with the transactions
    // that say which user changed what, in one transaction of the database. It fails with Busy if
    // another writer has changed it since `based_on`.
    virtual Result<Policy> policy() = 0;
    virtual Result<void> set_policy(const Policy& policy, std::uint64_t based_on,
                                    const std::vector<Transaction>& why) = 0;
    virtual Result<std::vector<Transaction>> transactions(std::optional<Time> start,
                                                          std::optional<Time> end) = 0;

    // ---- roll-up
    // Computes the usage of all complete hours, days and months that were not computed yet, or that
    // facts have changed since.
    virtual Result<void> roll_up(const std::string& cluster, Time now) = 0;
    virtual Result<std::vector<UsageRow>> usage(const UsageQuestion& question) = 0;
    virtual Result<std::vector<UsageRow>> wckey_usage(const UsageQuestion& question) = 0;
    virtual Result<std::vector<ClusterUsageRow>> cluster_usage(const UsageQuestion& question) = 0;

    // ---- upkeep
    virtual Result<void> purge(const std::string& cluster, const PurgeRule& rule, Time now,
                               const std::string& archive_directory) = 0;
    virtual Result<std::uint64_t> load_archive(const std::string& file) = 0;
};

// Makes the tables, or brings them to the current schema. A newer schema is refused.
Result<std::unique_ptr<Accounting>> open_accounting(const sql::Target& target);

}  // namespace sluice
