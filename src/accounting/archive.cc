// accounting/archive.cc
//
// See archive.h.
#include "accounting/archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "accounting/archive_file.h"
#include "accounting/facts.h"
#include "accounting/periods.h"
#include "accounting/policy_rows.h"
#include "accounting/rollup.h"
#include "accounting/rows.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

// ---- records of an archive that have no list of fields elsewhere

struct ArchivedSuspend {
    JobId job;
    std::uint32_t restarts = 0;
    Time start{}, end{};
    bool operator==(const ArchivedSuspend&) const = default;
};
struct ArchivedUsage {
    RollupPeriod period{};
    UsageRow row;
    bool operator==(const ArchivedUsage&) const = default;
};
struct ArchivedClusterUsage {
    RollupPeriod period{};
    ClusterUsageRow row;
    bool operator==(const ArchivedClusterUsage&) const = default;
};
struct ArchivedScript {
    std::string hash, bytes;
    bool operator==(const ArchivedScript&) const = default;
};

template <>
inline constexpr auto kFields<ArchivedSuspend> = fields<ArchivedSuspend>(
    field(2, "job", &ArchivedSuspend::job), field(3, "restarts", &ArchivedSuspend::restarts),
    field(4, "start", &ArchivedSuspend::start), field(5, "end", &ArchivedSuspend::end));
template <>
inline constexpr auto kFields<ArchivedUsage> =
    fields<ArchivedUsage>(field(2, "period", &ArchivedUsage::period, at_most(RollupPeriod::Month)),
                          field(3, "usage", &ArchivedUsage::row));
template <>
inline constexpr auto kFields<ArchivedClusterUsage> = fields<ArchivedClusterUsage>(
    field(2, "period", &ArchivedClusterUsage::period, at_most(RollupPeriod::Month)),
    field(3, "usage", &ArchivedClusterUsage::row));
template <>
inline constexpr auto kFields<ArchivedScript> = fields<ArchivedScript>(
    field(2, "hash", &ArchivedScript::hash),
    field(3, "script", &ArchivedScript::bytes, binary_at_most(sizes::kFrame)));

namespace accounting {

namespace {

std::string_view word_of(PurgeRule::What what) {
    switch (what) {
        case PurgeRule::What::Jobs:
            return "job";
        case PurgeRule::What::Steps:
            return "step";
        case PurgeRule::What::Events:
            return "event";
        case PurgeRule::What::Reservations:
            return "resv";
        case PurgeRule::What::Suspends:
            return "suspend";
        case PurgeRule::What::Transactions:
            return "txn";
        case PurgeRule::What::Usage:
            return "usage";
    }
    return "";
}

// ---- rows that leave the database

class Purge {
public:
    Purge(sql::Database& database, const std::string& cluster, Time cutoff, ArchiveWriter* archive)
        : database_(database), cluster_(cluster), cutoff_(cutoff), archive_(archive) {}

    Result<void> run(PurgeRule::What what) {
        switch (what) {
            case PurgeRule::What::Jobs:
                return jobs();
            case PurgeRule::What::Steps:
                return remove_data(ArchivedKind::Step, "steps", "end_time < ?");
            case PurgeRule::What::Events:
                // The size of the cluster before the cutoff counts until the next event.
                return remove_data(ArchivedKind::Event, "events", "end_time < ?");
            case PurgeRule::What::Reservations:
                return remove_data(ArchivedKind::Reservation, "reservations", "end_time < ?");
            case PurgeRule::What::Suspends:
                return suspends("end_time < ?");
            case PurgeRule::What::Transactions:
                return transactions();
            case PurgeRule::What::Usage:
                return usage();
        }
        return {};
    }

private:
    Result<void> put(ArchivedKind kind, std::string_view bytes) {
        if (!archive_) return {};
        if (!has_cluster_) TRY(archive_->put(ArchivedKind::Cluster, cluster_));
        has_cluster_ = true;
        return archive_->put(kind, bytes);
    }

    sql::Row key() const { return {cluster_, to_unix(cutoff_)}; }

    Result<void> remove(std::string_view table, std::string_view condition) {
        TRY(database_.run(fmt::format("DELETE FROM {} WHERE cluster = ? AND {}", table, condition),
                          key()));
        return {};
    }

    // Rows whose bytes are archived as they are.
    Result<void> remove_data(ArchivedKind kind, std::string_view table,
                             std::string_view condition) {
        if (archive_) {
            TRY(database_.query(
                fmt::format("SELECT data FROM {} WHERE cluster = ? AND {}", table, condition),
                key(), [&](const sql::RowView& row) { return put(kind, row.text(0)); }));
        }
        return remove(table, condition);
    }

    // With their steps and suspensions, and the scripts that no other job has.
    Result<void> jobs() {
        constexpr std::string_view kOfJob =
            "EXISTS (SELECT 1 FROM jobs WHERE jobs.cluster = {0}.cluster AND jobs.job = {0}.job "
            "AND jobs.restarts = {0}.restarts AND jobs.end_time < ?)";
        TRY(remove_data(ArchivedKind::Step, "steps", fmt::format(fmt::runtime(kOfJob), "steps")));
        TRY(suspends(fmt::format(fmt::runtime(kOfJob), "suspends")));
        TRY(remove_data(ArchivedKind::Job, "jobs", "end_time < ?"));
        return scripts();
    }

    // The script of a job can arrive before the job: those that are new stay.
    Result<void> scripts() {
        constexpr std::string_view kUnused =
            "FROM scripts WHERE added < ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE script = hash) "
            "AND NOT EXISTS (SELECT 1 FROM jobs WHERE environment = hash)";
        if (archive_) {
            TRY(database_.query(
                fmt::format("SELECT hash, data {}", kUnused), {to_unix(cutoff_)},
                [&](const sql::RowView& row) {
                    const ArchivedScript script{std::string(row.text(0)), std::string(row.text(1))};
                    return put(ArchivedKind::Script, to_bytes(script));
                }));
        }
        TRY(database_.run(fmt::format("DELETE {}", kUnused), {to_unix(cutoff_)}));
        return {};
    }

    Result<void> suspends(std::string_view condition) {
        if (archive_) {
            TRY(database_.query(
                fmt::format("SELECT job, restarts, start_time, end_time FROM suspends WHERE "
                            "cluster = ? AND {}",
                            condition),
                key(), [&](const sql::RowView& row) {
                    const ArchivedSuspend each{JobId{static_cast<std::uint32_t>(row.number(0))},
                                               static_cast<std::uint32_t>(row.number(1)),
                                               from_unix(row.number(2)), from_unix(row.number(3))};
                    return put(ArchivedKind::Suspend, to_bytes(each));
                }));
        }
        return remove("suspends", condition);
    }

    Result<void> transactions() {
        const sql::Row before{to_unix(cutoff_)};
        if (archive_) {
            TRY(database_.query("SELECT data FROM transactions WHERE happened < ? ORDER BY id",
                                before, [&](const sql::RowView& row) {
                                    return put(ArchivedKind::Transaction, row.text(0));
                                }));
        }
        TRY(database_.run("DELETE FROM transactions WHERE happened < ?", before));
        return {};
    }

    Result<void> usage() {
        for (const RollupPeriod period :
             {RollupPeriod::Hour, RollupPeriod::Day, RollupPeriod::Month}) {
            if (archive_) TRY(archive_usage(period));
        }
        for (const std::string_view table : {kAssociationUsage, kWckeyUsage, kClusterUsage}) {
            TRY(remove(table, "start_time < ?"));
        }
        return {};
    }

    Result<void> archive_usage(RollupPeriod period) {
        const UsageQuestion question{cluster_, period, Time{}, cutoff_};
        for (const UsageRow& row : TRY(load_usage(database_, kAssociationUsage, question))) {
            TRY(put(ArchivedKind::AssociationUsage, to_bytes(ArchivedUsage{period, row})));
        }
        for (const UsageRow& row : TRY(load_usage(database_, kWckeyUsage, question))) {
            TRY(put(ArchivedKind::WckeyUsage, to_bytes(ArchivedUsage{period, row})));
        }
        for (const ClusterUsageRow& row : TRY(load_cluster_usage(database_, question))) {
            TRY(put(ArchivedKind::ClusterUsage, to_bytes(ArchivedClusterUsage{period, row})));
        }
        return {};
    }

    sql::Database& database_;
    const std::string& cluster_;
    Time cutoff_;
    ArchiveWriter* archive_;
    bool has_cluster_ = false;
};

// What was purged cannot be rolled up again.
Result<void> note_purged(sql::Database& database, const std::string& cluster, Time cutoff) {
    RollupState state = TRY(rollup_state(database, cluster));
    if (!state.exists) state.done = cutoff;
    state.purged = std::max(state.purged, cutoff);
    return put_rollup_state(database, cluster, state);
}

std::string archive_path(const std::string& directory, const std::string& cluster,
                         PurgeRule::What what, Time cutoff) {
    std::string name = cluster;
    std::replace(name.begin(), name.end(), '/', '_');
    return fmt::format("{}/{}_{}_archive_{}", directory, name, word_of(what), print_moment(cutoff));
}

}  // namespace

Result<void> purge(sql::Database& database, const std::string& cluster, const PurgeRule& rule,
                   Time now, const std::string& archive_directory) {
    Time cutoff = now - rule.older_than;
    // Sums of days and months stay complete.
    if (rule.what == PurgeRule::What::Usage) cutoff = period_start(RollupPeriod::Month, cutoff);
    if (rule.archive && archive_directory.empty()) {
        return Error{ErrorCode::BadArgument,
                     "rows are to be archived before they are purged, but there is no ArchiveDir"};
    }
    return sql::transact(database, [&]() -> Result<void> {
        ArchiveWriter archive(archive_path(archive_directory, cluster, rule.what, cutoff));
        TRY(Purge(database, cluster, cutoff, rule.archive ? &archive : nullptr).run(rule.what));
        const bool is_rolled_up =
            rule.what != PurgeRule::What::Steps && rule.what != PurgeRule::What::Transactions;
        if (is_rolled_up) TRY(note_purged(database, cluster, cutoff));
        // The transaction is committed only after the archive is on disk.
        return archive.finish();
    });
}

// ---- back into the database

namespace {

class Loader {
public:
    explicit Loader(sql::Database& database) : database_(database) {}

    Result<void> load(ArchivedKind kind, std::string_view bytes) {
        switch (kind) {
            case ArchivedKind::End:
                return {};
            case ArchivedKind::Cluster:
                cluster_ = bytes;
                return {};
            case ArchivedKind::Job:
                return job(TRY(from_bytes<AccountedJob>(bytes, "archive")));
            case ArchivedKind::Step:
                return step(TRY(from_bytes<AccountedStep>(bytes, "archive")));
            case ArchivedKind::Event:
                return event(TRY(from_bytes<AccountedEvent>(bytes, "archive")));
            case ArchivedKind::Reservation:
                return reservation(TRY(from_bytes<AccountedReservation>(bytes, "archive")));
            case ArchivedKind::Suspend:
                return suspend(TRY(from_bytes<ArchivedSuspend>(bytes, "archive")));
            case ArchivedKind::Transaction:
                return transaction(TRY(from_bytes<Transaction>(bytes, "archive")));
            case ArchivedKind::AssociationUsage:
                return usage(kAssociationUsage, TRY(from_bytes<ArchivedUsage>(bytes, "archive")));
            case ArchivedKind::WckeyUsage:
                return usage(kWckeyUsage, TRY(from_bytes<ArchivedUsage>(bytes, "archive")));
            case ArchivedKind::ClusterUsage:
                return usage(TRY(from_bytes<ArchivedClusterUsage>(bytes, "archive")));
            case ArchivedKind::Script:
                return script(TRY(from_bytes<ArchivedScript>(bytes, "archive")));
        }
        return {};
    }
    std::uint64_t loaded() const { return loaded_; }

private:
    // Whether the database lacks the row, which is then counted.
    Result<bool> lacks(std::string_view table, std::string_view condition, const sql::Row& key) {
        bool found = false;
        TRY(database_.query(fmt::format("SELECT 1 FROM {} WHERE {}", table, condition), key,
                            [&](const sql::RowView&) -> Result<void> {
                                found = true;
                                return {};
                            }));
        if (!found) ++loaded_;
        return !found;
    }

    Result<void> job(const AccountedJob& job) {
        const sql::Row key{cluster_, std::int64_t{job.job.value}, std::int64_t{job.restarts}};
        if (!TRY(lacks("jobs", "cluster = ? AND job = ? AND restarts = ?", key))) return {};
        return put_fact(database_, cluster_, job);
    }
    Result<void> step(const AccountedStep& step) {
        const sql::Row key{cluster_, std::int64_t{step.job.value}, std::int64_t{step.restarts},
                           std::int64_t{step.step.value}};
        if (!TRY(lacks("steps", "cluster = ? AND job = ? AND restarts = ? AND step = ?", key)))
            return {};
        return put_fact(database_, cluster_, step);
    }
    Result<void> event(const AccountedEvent& event) {
        const sql::Row key{cluster_, column_text(event.node), to_unix(event.start)};
        if (!TRY(lacks("events", "cluster = ? AND node = ? AND start_time = ?", key))) return {};
        return put_fact(database_, cluster_, event);
    }
    Result<void> reservation(const AccountedReservation& each) {
        const sql::Row key{cluster_, std::int64_t{each.id}, to_unix(each.start)};
        if (!TRY(lacks("reservations", "cluster = ? AND id = ? AND start_time = ?", key)))
            return {};
        return put_fact(database_, cluster_, each);
    }
    Result<void> suspend(const ArchivedSuspend& each) {
        const sql::Row key{cluster_, std::int64_t{each.job.value}, std::int64_t{each.restarts},
                           to_unix(each.start)};
        if (!TRY(lacks("suspends", "cluster = ? AND job = ? AND restarts = ? AND start_time = ?",
                       key)))
            return {};
        sql::Row row = key;
        row.emplace_back(to_unix(each.end));
        return insert_rows(database_, "suspends", "cluster, job, restarts, start_time, end_time",
                           {row});
    }
    // A transaction has no key of its own but its bytes.
    Result<void> transaction(const Transaction& each) {
        const sql::Row key{to_unix(each.time), row_bytes(each)};
        if (!TRY(lacks("transactions", "happened = ? AND data = ?", key))) return {};
        return put_transaction(database_, each);
    }
    Result<void> usage(std::string_view table, const ArchivedUsage& each) {
        const sql::Row key{cluster_, static_cast<std::int64_t>(each.period),
                           to_unix(each.row.start), std::int64_t{each.row.id},
                           column_text(each.row.tres)};
        if (!TRY(lacks(table,
                       "cluster = ? AND period = ? AND start_time = ? AND id = ? AND tres = ?",
                       key)))
            return {};
        sql::Row row = key;
        row.emplace_back(static_cast<std::int64_t>(each.row.seconds));
        return insert_rows(database_, table, kUsageColumns, {row});
    }
    Result<void> usage(const ArchivedClusterUsage& each) {
        const sql::Row key{cluster_, static_cast<std::int64_t>(each.period),
                           to_unix(each.row.start), column_text(each.row.tres)};
        if (!TRY(lacks(kClusterUsage, "cluster = ? AND period = ? AND start_time = ? AND tres = ?",
                       key)))
            return {};
        return insert_rows(database_, kClusterUsage, kClusterColumns,
                           {cluster_usage_row(cluster_, each.period, each.row)});
    }
    Result<void> script(const ArchivedScript& each) {
        if (!TRY(lacks("scripts", "hash = ?", {each.hash}))) return {};
        return insert_rows(database_, "scripts", "hash, added, data",
                           {{each.hash, std::int64_t{0}, sql::Bytes{each.bytes}}});
    }

    sql::Database& database_;
    std::string cluster_;
    std::uint64_t loaded_ = 0;
};

}  // namespace

Result<std::uint64_t> load_archive(sql::Database& database, const std::string& file) {
    std::uint64_t loaded = 0;
    TRY(sql::transact(database, [&]() -> Result<void> {
        Loader loader(database);
        TRY(read_archive(file, [&](ArchivedKind kind, std::string_view bytes) {
            return loader.load(kind, bytes);
        }));
        loaded = loader.loaded();
        return {};
    }));
    return loaded;
}

}  // namespace accounting
}  // namespace sluice
