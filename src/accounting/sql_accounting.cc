// accounting/sql_accounting.cc
//
// See accounting.h: which function answers what, and which of them are transactions. A lost
// connection is made again once for each call.
#include "accounting/sql_accounting.h"

#include <chrono>

#include "accounting/archive.h"
#include "accounting/facts.h"
#include "accounting/import.h"
#include "accounting/job_query.h"
#include "accounting/policy_rows.h"
#include "accounting/rollup.h"
#include "accounting/rows.h"
#include "accounting/schema.h"

namespace sluice {

namespace {

class SqlAccounting : public Accounting {
public:
    explicit SqlAccounting(std::unique_ptr<sql::Database> database)
        : database_(std::move(database)) {}

    Result<std::uint64_t> apply(const std::string& cluster,
                                const std::vector<NumberedFact>& facts) override {
        std::uint64_t last = 0;
        TRY(sql::transact(*database_, [&]() -> Result<void> {
            last = TRY(accounting::apply_facts(*database_, cluster, facts));
            return {};
        }));
        return last;
    }

    Result<std::uint64_t> last_applied(const std::string& cluster) override {
        return ask([&] { return accounting::last_applied(*database_, cluster); });
    }

    Result<ImportOutcome> import_runs(const std::string& cluster,
                                      const std::vector<AccountedRun>& runs,
                                      bool only_check) override {
        ImportOutcome outcome;
        TRY(sql::transact(*database_, [&]() -> Result<void> {
            outcome = TRY(accounting::import_runs(*database_, cluster, runs, only_check));
            return {};
        }));
        return outcome;
    }

    Result<std::vector<UsageImport>> imports_after(const std::string& cluster,
                                                   std::uint64_t number) override {
        return ask([&] { return accounting::imports_after(*database_, cluster, number); });
    }

    Result<void> replace_jobs(const std::vector<AccountedRun>& runs,
                              const std::vector<Transaction>& why) override {
        return sql::transact(*database_, [&]() -> Result<void> {
            for (const AccountedRun& run : runs)
                TRY(accounting::put_fact(*database_, run.cluster, run.job));
            for (const Transaction& each : why) TRY(accounting::put_transaction(*database_, each));
            return {};
        });
    }

    Result<void> put_script(const std::string& hash, std::string_view bytes) override {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const std::string put =
            accounting::upsert(database_->dialect(), "scripts", {"hash"}, {"added", "data"});
        const sql::Row row{hash, std::int64_t{std::chrono::duration_cast<Seconds>(now).count()},
                           sql::Bytes{std::string(bytes)}};
        TRY(ask([&] { return database_->run(put, row); }));
        return {};
    }

    Result<void> jobs(const JobSelection& selection, Time now,
                      const std::function<Result<void>(AccountedRun)>& each) override {
        // The answer begins again only if none of it was given yet.
        bool has_begun = false;
        const auto give = [&](AccountedRun run) {
            has_begun = true;
            return each(std::move(run));
        };
        const auto work = [&] { return accounting::find_jobs(*database_, selection, now, give); };
        Result<void> done = work();
        if (done || has_begun || !database_->is_lost()) return done;
        TRY(database_->reconnect());
        return work();
    }

    Result<std::vector<AccountedEvent>> events(const std::string& cluster,
                                               std::optional<Time> start,
                                               std::optional<Time> end) override {
        return ask([&] {
            return accounting::query_values<AccountedEvent>(
                *database_,
                "SELECT data FROM events WHERE cluster = ? AND end_time >= ? AND start_time <= ? "
                "ORDER BY start_time, node",
                when(cluster, start, end), "events");
        });
    }

    Result<std::vector<AccountedReservation>> reservations(const std::string& cluster,
                                                           std::optional<Time> start,
                                                           std::optional<Time> end) override {
        return ask([&] {
            return accounting::query_values<AccountedReservation>(
                *database_,
                "SELECT data FROM reservations WHERE cluster = ? AND end_time >= ? AND start_time "
                "<= ? ORDER BY id, start_time",
                when(cluster, start, end), "reservations");
        });
    }

    Result<Policy> policy() override {
        return ask([&] { return accounting::load_policy(*database_); });
    }

    Result<void> set_policy(const Policy& policy, std::uint64_t based_on,
                            const std::vector<Transaction>& why) override {
        return sql::transact(
            *database_, [&] { return accounting::save_policy(*database_, policy, based_on, why); });
    }

    Result<std::vector<Transaction>> transactions(std::optional<Time> start,
                                                  std::optional<Time> end) override {
        return ask([&] { return accounting::load_transactions(*database_, start, end); });
    }

    Result<void> roll_up(const std::string& cluster, Time now) override {
        return accounting::roll_up(*database_, cluster, now);
    }

    Result<std::vector<UsageRow>> usage(const UsageQuestion& question) override {
        return ask([&] {
            return accounting::load_usage(*database_, accounting::kAssociationUsage, question);
        });
    }

    Result<std::vector<UsageRow>> wckey_usage(const UsageQuestion& question) override {
        return ask(
            [&] { return accounting::load_usage(*database_, accounting::kWckeyUsage, question); });
    }

    Result<std::vector<ClusterUsageRow>> cluster_usage(const UsageQuestion& question) override {
        return ask([&] { return accounting::load_cluster_usage(*database_, question); });
    }

    Result<void> purge(const std::string& cluster, const PurgeRule& rule, Time now,
                       const std::string& archive_directory) override {
        return accounting::purge(*database_, cluster, rule, now, archive_directory);
    }

    Result<std::uint64_t> load_archive(const std::string& file) override {
        return accounting::load_archive(*database_, file);
    }

private:
    // One statement, or several that only read.
    template <typename Work>
    auto ask(Work work) -> decltype(work()) {
        auto done = work();
        if (done || !database_->is_lost()) return done;
        TRY(database_->reconnect());
        return work();
    }

    static sql::Row when(const std::string& cluster, std::optional<Time> start,
                         std::optional<Time> end) {
        return {cluster, start ? to_unix(*start) : 0, accounting::column_time(end)};
    }

    std::unique_ptr<sql::Database> database_;
};

}  // namespace

Result<std::unique_ptr<Accounting>> make_accounting(std::unique_ptr<sql::Database> database) {
    TRY(accounting::prepare_schema(*database));
    return std::unique_ptr<Accounting>(std::make_unique<SqlAccounting>(std::move(database)));
}

Result<std::unique_ptr<Accounting>> open_accounting(const sql::Target& target) {
    return make_accounting(TRY(sql::open(target)));
}

}  // namespace sluice
