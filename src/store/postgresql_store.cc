// store/postgresql_store.cc
//
// The store of several controllers, in PostgreSQL. See store.h.
//
// The table `writer` has one row with the epoch and the version of the state. Each commit adds one
// to the version, on condition that both are as expected, so a batch is applied once even if it is
// sent again: after a connection was lost the row tells whether the last batch was applied.
#include <fmt/format.h>

#include <mutex>

#include "base/log.h"
#include "model/errors.h"
#include "store/blob_refs.h"
#include "store/records.h"
#include "store/shared_commit.h"
#include "store/shared_load.h"
#include "store/shared_schema.h"

namespace sluice {

namespace {

constexpr std::chrono::seconds kCommitMost{10};
// Each read is short: a standby, and the orders to all nodes, wait for it when a server is silent.
constexpr std::chrono::seconds kReadMost{3};
constexpr std::chrono::seconds kMigrationMost{3600};

using sql::RowView;

// A connection that is made when it is needed.
class LazyConnection {
public:
    LazyConnection(SharedState where, std::chrono::seconds answer_most, SharedPlan plan)
        : where_(std::move(where)), answer_most_(answer_most), plan_(plan) {}

    Result<sql::Database*> get() {
        if (!database_) {
            database_ = TRY(open_shared(where_, answer_most_, plan_));
        } else if (database_->is_lost()) {
            TRY(database_->reconnect());
        }
        return database_.get();
    }
    bool is_lost() const { return !database_ || database_->is_lost(); }
    bool is_full() const { return database_ && database_->is_full(); }

    // A lost connection is made again once.
    Result<void> use(const std::function<Result<void>(sql::Database&)>& work) {
        Result<void> done = use_once(work);
        if (done || !is_lost()) return done;
        return use_once(work);
    }

private:
    Result<void> use_once(const std::function<Result<void>(sql::Database&)>& work) {
        return work(*TRY(get()));
    }

    const SharedState where_;
    const std::chrono::seconds answer_most_;
    const SharedPlan plan_;
    std::unique_ptr<sql::Database> database_;
};

struct WriterRow {
    Epoch epoch = 0;
    StateVersion version = 0;
};

class PostgresqlStore : public Store {
public:
    PostgresqlStore(const SharedState& where, SharedPlan plan)
        : where_(where),
          plan_(plan),
          writer_(where, kCommitMost, plan),
          reader_(where, kReadMost, plan) {}

    Result<Epoch> take_epoch() override {
        WriterRow row;
        TRY(writer_.use([&](sql::Database& database) -> Result<void> {
            return database.query(
                "WITH next AS (UPDATE lease SET epoch = epoch + 1 RETURNING epoch) UPDATE writer "
                "SET epoch = next.epoch FROM next RETURNING writer.epoch, version",
                {}, into(row));
        }));
        take_over(row);
        return row.epoch;
    }

    // A failed attempt whose connection was lost is repeated at once, by the next host if need be.
    CommitOutcome commit(const Batch& batch) override {
        const bool was_connected = !writer_.is_lost();
        CommitOutcome outcome = try_commit(batch);
        if (outcome.kind != Kind::Retry || !was_connected || !writer_.is_lost()) return outcome;
        return try_commit(batch);
    }

    Result<StoredState> load() override {
        StoredState state;
        std::vector<BadRow> bad;
        WriterRow row;
        TRY(migrate());
        TRY(writer_.use([&](sql::Database& database) -> Result<void> {
            return sql::transact(database, [&]() -> Result<void> {
                bad.clear();
                TRY(begin_reading(database));
                TRY(database.query("SELECT epoch, version FROM writer", {}, into(row)));
                state = TRY(read_all(database, bad));
                return {};
            });
        }));
        take_over(row);
        refs_ = BlobRefs();
        for (const StoredJob& stored : state.jobs) refs_.add(stored.job);
        if (!bad.empty()) TRY(set_aside(bad, state));
        // A damaged job may name blobs that no other job names.
        if (state.damaged.empty()) TRY(sweep_blobs());
        return state;
    }

    Result<StateChanges> changes_since(StateVersion since) override {
        StateChanges changes;
        {
            const std::lock_guard guard(reader_mutex_);
            sql::Database& database = *TRY(reader_.get());
            TRY(sql::transact(database, [&]() -> Result<void> {
                TRY(begin_reading(database));
                TRY(check_is_current(database, plan_));
                changes = TRY(read_changes(database, since));
                return {};
            }));
        }
        version_ = changes.version;
        if (changes.is_whole) refs_ = BlobRefs();
        for (const StoredJob& stored : changes.changed.jobs) refs_.add(stored.job);
        for (const JobId job : changes.forgotten) refs_.forget(job);
        return changes;
    }

    Result<void> migrate() override {
        const auto is_current = [this](sql::Database& database) {
            return check_is_current(database, plan_);
        };
        if (read(is_current)) return {};
        return bring_up_to_date(*TRY(open_shared(where_, kMigrationMost, plan_)), plan_);
    }

    Result<StateVersion> version() override {
        return static_cast<StateVersion>(
            TRY(read_number("SELECT version FROM writer", {})).value());
    }

    Result<std::string> launch_key(const std::string& fresh) override {
        std::string key;
        TRY(writer_.use([&](sql::Database& database) -> Result<void> {
            TRY(database.run("INSERT INTO secrets VALUES ('launch key', ?) ON CONFLICT DO NOTHING",
                             {sql::Bytes{fresh}}));
            return database.query("SELECT data FROM secrets WHERE name = 'launch key'", {},
                                  [&](const RowView& row) -> Result<void> {
                                      key = row.text(0);
                                      return {};
                                  });
        }));
        return key;
    }

    Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) override {
        std::vector<NumberedFact> facts;
        TRY(read([&](sql::Database& database) -> Result<void> {
            facts.clear();
            return database.query(
                "SELECT number, kind, data FROM facts WHERE number > ? ORDER BY number LIMIT ?",
                {static_cast<std::int64_t>(after), static_cast<std::int64_t>(most)},
                [&](const RowView& row) -> Result<void> {
                    const auto kind = static_cast<std::size_t>(row.number(1));
                    Fact fact = TRY(read_fact(kind, row.text(2)));
                    facts.push_back({static_cast<std::uint64_t>(row.number(0)), std::move(fact)});
                    return {};
                });
        }));
        return facts;
    }

    // Their numbers have no gaps: to count the rows would take long where there are many.
    Result<std::uint64_t> fact_count() override {
        return static_cast<std::uint64_t>(
            TRY(read_number("SELECT coalesce(max(number) - min(number) + 1, 0) FROM facts", {}))
                .value_or(0));
    }

    Result<std::string> blob(std::string_view hash) override {
        std::optional<std::string> found;
        TRY(read([&](sql::Database& database) -> Result<void> {
            return database.query("SELECT data FROM blobs WHERE hash = ?", {std::string(hash)},
                                  [&](const RowView& row) -> Result<void> {
                                      found = row.text(0);
                                      return {};
                                  });
        }));
        if (!found) return Error{ErrorCode::NotFound, fmt::format("no blob {} is stored", hash)};
        return *std::move(found);
    }

    Result<bool> has_blob(std::string_view hash) override {
        return TRY(read_number("SELECT 1 FROM blobs WHERE hash = ?", {std::string(hash)}))
            .has_value();
    }

private:
    using Kind = CommitOutcome::Kind;

    static std::function<Result<void>(const RowView&)> into(WriterRow& row) {
        return [&row](const RowView& view) -> Result<void> {
            row = {static_cast<Epoch>(view.number(0)), static_cast<StateVersion>(view.number(1))};
            return {};
        };
    }
    Result<void> read(const std::function<Result<void>(sql::Database&)>& work) {
        const std::lock_guard guard(reader_mutex_);
        return reader_.use(work);
    }
    Result<std::optional<std::int64_t>> read_number(std::string_view statement,
                                                    const sql::Row& values) {
        std::optional<std::int64_t> found;
        TRY(read([&](sql::Database& database) -> Result<void> {
            found.reset();
            return database.query(statement, values, [&](const RowView& row) -> Result<void> {
                found = row.number(0);
                return {};
            });
        }));
        return found;
    }

    CommitOutcome failure(const Error& error) const {
        return {writer_.is_full() ? Kind::Full : Kind::Retry, error.detail};
    }

    void take_over(const WriterRow& row) {
        epoch_ = row.epoch;
        version_ = row.version;
        is_in_doubt_ = false;
    }

    // An update, not a read: it waits until a transaction that is still under way has ended, and
    // until its own commit, and so every earlier one, is on the synchronous replicas.
    Result<WriterRow> settled_row(sql::Database& database) {
        WriterRow row;
        TRY(database.query("UPDATE writer SET version = version RETURNING epoch, version", {},
                           into(row)));
        return row;
    }

    CommitOutcome done(const Batch& batch) {
        ++version_;
        is_in_doubt_ = false;
        refs_.apply(batch.changes);
        return {};
    }

    // What a batch is told that did not find the row as expected.
    std::optional<CommitOutcome> settle(sql::Database& database, const Batch& batch) {
        const Result<WriterRow> row = settled_row(database);
        if (!row) return failure(row.error());
        if (row->epoch != batch.epoch) return fenced(batch.epoch, row->epoch);
        if (is_in_doubt_ && row->version == version_ + 1) {
            log_info("the database has the last changes, although it did not confirm them");
            return done(batch);
        }
        is_in_doubt_ = false;
        epoch_ = batch.epoch;  // it may have come with a lease
        if (row->version == version_) return std::nullopt;
        return CommitOutcome{
            Kind::Fenced,
            fmt::format("the state in the database has version {}, this controller has {}: was a "
                        "replica promoted that did not have all confirmed changes?",
                        row->version, version_)};
    }

    CommitOutcome try_commit(const Batch& batch) {
        const Result<sql::Database*> connected = writer_.get();
        if (!connected) return failure(connected.error());
        sql::Database& database = **connected;
        if (is_in_doubt_ || epoch_ != batch.epoch) {
            if (auto settled = settle(database, batch)) return *std::move(settled);
        }
        const SharedCommit commit = commit_of(batch, version_, refs_.left_over(batch.changes));
        bool is_applied = false;
        const Result<void> answered =
            database.query(commit.statement, commit.values, [&](const RowView&) -> Result<void> {
                is_applied = true;
                return {};
            });
        if (answered && is_applied) return done(batch);
        if (answered) {
            auto settled = settle(database, batch);
            return settled ? *std::move(settled)
                           : CommitOutcome{Kind::Retry, "the state was changed meanwhile"};
        }
        is_in_doubt_ = database.is_lost();
        return failure(answered.error());
    }

    // A change after load(), on condition that nothing was committed since.
    Result<void> own_change(const std::function<Result<void>(sql::Database&)>& work) {
        return writer_.use([&](sql::Database& database) -> Result<void> {
            return sql::transact(database, [&]() -> Result<void> {
                const WriterRow row = TRY(settled_row(database));
                if (row.epoch != epoch_ || row.version != version_)
                    return Error{ErrorCode::StoreFailed, fenced(epoch_, row.epoch).why};
                return work(database);
            });
        });
    }

    // Moves damaged rows, with their bytes, into a table of their own.
    Result<void> set_aside(const std::vector<BadRow>& bad, StoredState& state) {
        TRY(own_change([&](sql::Database& database) -> Result<void> {
            for (const auto& [what, bytes] : bad) {
                TRY(database.run(
                    "INSERT INTO damaged (kind, key, why, data) VALUES (?, ?, ?, ?) ON "
                    "CONFLICT (kind, key) DO UPDATE SET why = excluded.why, data = "
                    "excluded.data",
                    {what.kind, sql::Bytes{what.key}, sql::Bytes{what.why}, sql::Bytes{bytes}}));
                TRY(drop_damaged(database, what));
            }
            return {};
        }));
        for (const BadRow& row : bad) state.damaged.push_back(row.what);
        const auto key = [](const DamagedRow& row) { return std::tie(row.kind, row.key); };
        std::sort(state.damaged.begin(), state.damaged.end(),
                  [&](const DamagedRow& a, const DamagedRow& b) { return key(a) < key(b); });
        return {};
    }
    static Result<void> drop_damaged(sql::Database& database, const DamagedRow& row) {
        const bool is_number = row.kind == "job" || row.kind == "policy" || row.kind == "trigger";
        const std::string table =
            row.kind == "policy" || row.kind == "usage" ? row.kind : row.kind + "s";
        const sql::Value key = is_number ? sql::Value(row.key) : sql::Value(sql::Bytes{row.key});
        TRY(database.run(
            fmt::format("DELETE FROM {} WHERE {} = ?", table, is_number ? "id" : "name"), {key}));
        return {};
    }

    // Deletes blobs that no job names.
    Result<void> sweep_blobs() {
        return own_change([&](sql::Database& database) -> Result<void> {
            std::vector<std::string> gone;
            TRY(database.query("SELECT hash FROM blobs", {},
                               [&](const RowView& row) -> Result<void> {
                                   std::string hash(row.text(0));
                                   if (!refs_.named(hash)) gone.push_back(std::move(hash));
                                   return {};
                               }));
            for (const std::string& hash : gone)
                TRY(database.run("DELETE FROM blobs WHERE hash = ?", {hash}));
            return {};
        });
    }

    const SharedState where_;
    const SharedPlan plan_;
    LazyConnection writer_;
    Epoch epoch_ = 0;           // of the last batch
    StateVersion version_ = 0;  // of the state as it was read, with the commits since
    bool is_in_doubt_ = false;  // the last batch may have been applied
    BlobRefs refs_;

    std::mutex reader_mutex_;
    LazyConnection reader_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_postgresql(const SharedState& where) {
    return open_postgresql(where, current_shared_plan());
}

std::unique_ptr<Store> open_postgresql(const SharedState& where, const SharedPlan& plan) {
    return std::make_unique<PostgresqlStore>(where, plan);
}

}  // namespace sluice
