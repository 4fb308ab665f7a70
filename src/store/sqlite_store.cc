// store/sqlite_store.cc
//
// The store of one controller on one machine. See store.h.
#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "model/errors.h"
#include "store/blob_refs.h"
#include "store/directory_lock.h"
#include "store/records.h"
#include "store/sqlite.h"
#include "store/sqlite_file.h"
#include "store/store.h"

namespace sluice {

namespace {

constexpr std::int64_t kPlenty = 1 << 30;  // free bytes: enough for log and tables

// Used by the thread that commits and loads.
struct Writer {
    Database database;
    Statement begin, commit, rollback;
    Statement put_job, drop_job, put_node, put_meta, put_blob, drop_blob;
    Statement put_reservation, drop_reservation, put_policy, put_usage, drop_usage;
    Statement put_trigger, drop_trigger;
    Statement put_fact, drop_facts;
    Statement get_epoch;
};

// Used by any thread, one at a time.
struct Reader {
    Database database;
    Statement get_blob, has_blob, free_pages, get_facts, count_facts;
};

Result<Writer> open_writer(const std::string& directory) {
    Writer writer;
    writer.database = TRY(open_database_file(directory));
    const auto prepare = [&](const char* sql) { return writer.database.prepare(sql); };
    writer.begin = TRY(prepare("BEGIN IMMEDIATE"));
    writer.commit = TRY(prepare("COMMIT"));
    writer.rollback = TRY(prepare("ROLLBACK"));
    writer.put_job = TRY(prepare("INSERT OR REPLACE INTO jobs (id, data) VALUES (?, ?)"));
    writer.drop_job = TRY(prepare("DELETE FROM jobs WHERE id = ?"));
    writer.put_node = TRY(prepare("INSERT OR REPLACE INTO nodes (name, data) VALUES (?, ?)"));
    writer.put_meta = TRY(prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"));
    writer.put_blob = TRY(prepare("INSERT OR IGNORE INTO blobs (hash, data) VALUES (?, ?)"));
    writer.drop_blob = TRY(prepare("DELETE FROM blobs WHERE hash = ?"));
    writer.put_reservation =
        TRY(prepare("INSERT OR REPLACE INTO reservations (name, data) VALUES (?, ?)"));
    writer.drop_reservation = TRY(prepare("DELETE FROM reservations WHERE name = ?"));
    writer.put_policy = TRY(prepare("INSERT OR REPLACE INTO policy (id, data) VALUES (1, ?)"));
    writer.put_usage = TRY(prepare("INSERT OR REPLACE INTO usage (name, data) VALUES (?, ?)"));
    writer.drop_usage = TRY(prepare("DELETE FROM usage WHERE name = ?"));
    writer.put_trigger = TRY(prepare("INSERT OR REPLACE INTO triggers (id, data) VALUES (?, ?)"));
    writer.drop_trigger = TRY(prepare("DELETE FROM triggers WHERE id = ?"));
    writer.put_fact = TRY(prepare("INSERT INTO facts (kind, data) VALUES (?, ?)"));
    writer.drop_facts = TRY(prepare("DELETE FROM facts WHERE number <= ?"));
    writer.get_epoch = TRY(prepare("SELECT value FROM meta WHERE key = 'epoch'"));
    return writer;
}

Result<Reader> open_reader(const std::string& directory) {
    Reader reader;
    reader.database = TRY(Database::open(database_path(directory), SQLITE_OPEN_READWRITE));
    TRY(reader.database.execute("PRAGMA query_only=1"));
    TRY(reader.database.execute("PRAGMA busy_timeout=10000"));
    reader.get_blob = TRY(reader.database.prepare("SELECT data FROM blobs WHERE hash = ?"));
    reader.has_blob = TRY(reader.database.prepare("SELECT 1 FROM blobs WHERE hash = ?"));
    reader.free_pages = TRY(reader.database.prepare(
        "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"));
    reader.get_facts = TRY(reader.database.prepare(
        "SELECT number, kind, data FROM facts WHERE number > ? ORDER BY number LIMIT ?"));
    // Their numbers have no gaps: to count the rows would take long where there are many.
    reader.count_facts =
        TRY(reader.database.prepare("SELECT COALESCE((SELECT max(number) FROM facts) - (SELECT "
                                    "min(number) FROM facts) + 1, 0)"));
    return reader;
}

class SqliteStore : public Store {
public:
    SqliteStore(std::string directory, DirectoryLock lock, Writer writer, Reader reader)
        : directory_(std::move(directory)),
          file_(database_path(directory_)),
          lock_(std::move(lock)),
          writer_(std::move(writer)),
          reader_(std::move(reader)) {}

    Result<Epoch> take_epoch() override {
        const Epoch next = TRY(current_epoch()) + 1;
        TRY(own_change(next - 1, [&] {
            return writer_.put_meta.bind(1, "epoch").bind(2, static_cast<std::int64_t>(next)).run();
        }));
        epoch_ = next;
        return epoch_;
    }

    CommitOutcome commit(const Batch& batch) override {
        CommitOutcome outcome = transact(batch.epoch, [&] { return write(batch); });
        if (outcome) refs_.apply(batch.changes);
        return outcome;
    }

    Result<void> room_for(std::size_t bytes) override {
        const auto space = disk_space(directory_);
        if (!space) return {};  // the commit will report it
        // With plenty of space the log's size is not needed. Calling stat() on the log makes the
        // kernel update its mtime on the next write, which adds a disk access to each commit.
        if (space->free >= kPlenty + 2 * static_cast<std::int64_t>(bytes)) return {};
        // First into the log, then, with the rest of the log, into the tables.
        std::error_code no_log;
        const auto log_size = std::filesystem::file_size(file_ + "-wal", no_log);
        const std::int64_t wanted = 2 * static_cast<std::int64_t>(bytes) +
                                    reserve_of(space->total) +
                                    (no_log ? 0 : static_cast<std::int64_t>(log_size));
        if (space->free >= wanted || space->free + TRY(free_in_file()) >= wanted) return {};
        return Error{
            ErrorCode::StoreFailed,
            fmt::format("{}: the disk is full: {} KB are free, a new job needs {}: make room",
                        file_, space->free >> 10, wanted >> 10)};
    }

    Result<StoredState> load() override {
        Result<StoredState> state = read_state();
        if (!state) {
            return Error{state.error().code, fmt::format("{}: {}", file_, state.error().detail)};
        }
        refs_ = BlobRefs();
        for (const StoredJob& stored : state->jobs) refs_.add(stored.job);
        // A damaged job may name blobs that no other job names.
        if (state->damaged.empty()) TRY(sweep_blobs());
        return state;
    }

    Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) override {
        const std::lock_guard guard(reader_mutex_);
        Statement& query = reader_.get_facts;
        query.bind(1, static_cast<std::int64_t>(after)).bind(2, static_cast<std::int64_t>(most));
        Result<std::vector<NumberedFact>> facts = read_facts(query);
        query.reset();
        return facts;
    }

    Result<std::uint64_t> fact_count() override {
        const std::lock_guard guard(reader_mutex_);
        Statement& query = reader_.count_facts;
        const Result<bool> found = query.step();
        const std::uint64_t count = found && *found ? query.number(0) : 0;
        query.reset();
        if (!found) return found.error();
        return count;
    }

    Result<std::string> blob(std::string_view hash) override {
        const std::lock_guard guard(reader_mutex_);
        reader_.get_blob.bind(1, hash);
        const Result<bool> found = reader_.get_blob.step();
        std::string bytes(found && *found ? reader_.get_blob.bytes(0) : std::string_view());
        reader_.get_blob.reset();
        if (!found) return found.error();
        if (!*found) return Error{ErrorCode::NotFound, fmt::format("no blob {} is stored", hash)};
        return bytes;
    }

    Result<bool> has_blob(std::string_view hash) override {
        const std::lock_guard guard(reader_mutex_);
        reader_.has_blob.bind(1, hash);
        const Result<bool> found = reader_.has_blob.step();
        reader_.has_blob.reset();
        return found;
    }

private:
    // Left by deleted jobs: the file does not shrink.
    Result<std::int64_t> free_in_file() {
        const std::lock_guard guard(reader_mutex_);
        const Result<bool> found = reader_.free_pages.step();
        const std::int64_t bytes = found && *found ? reader_.free_pages.number(0) : 0;
        reader_.free_pages.reset();
        if (!found) return found.error();
        return bytes;
    }

    Result<Epoch> current_epoch() {
        const Result<bool> found = writer_.get_epoch.step();
        const Epoch epoch =
            found && *found ? static_cast<Epoch>(writer_.get_epoch.number(0)) : Epoch{0};
        writer_.get_epoch.reset();
        if (!found) return found.error();
        return epoch;
    }

    CommitOutcome failure(const Error& error) const {
        using Kind = CommitOutcome::Kind;
        return {writer_.database.is_full() ? Kind::Full : Kind::Retry, error.detail};
    }

    // All of `work`, or nothing of it. Epochs are compared in the same transaction.
    template <typename Work>
    CommitOutcome transact(Epoch epoch, Work work) {
        if (const Result<void> begun = writer_.begin.run(); !begun) return failure(begun.error());
        CommitOutcome outcome;
        if (const Result<Epoch> current = current_epoch(); !current) {
            outcome = failure(current.error());
        } else if (*current != epoch) {
            outcome = fenced(epoch, *current);
        } else {
            Result<void> done = work();
            if (done) done = writer_.commit.run();
            if (!done) outcome = failure(done.error());
        }
        // After some errors SQLite itself has rolled back.
        if (!outcome && writer_.database.in_transaction()) (void)writer_.rollback.run();
        return outcome;
    }

    // A transaction outside of commit().
    template <typename Work>
    Result<void> own_change(Epoch epoch, Work work) {
        CommitOutcome outcome = transact(epoch, work);
        if (outcome) return {};
        return Error{ErrorCode::StoreFailed, std::move(outcome.why)};
    }

    Result<void> write(const Batch& batch) {
        const ChangedRecords& changes = batch.changes;
        for (const Blob& blob : batch.blobs) {
            TRY(writer_.put_blob.bind(1, blob.hash).bind_blob(2, blob.bytes).run());
        }
        static const NodeNames kNoNames;
        const NodeNames& names = batch.node_names ? *batch.node_names : kNoNames;
        for (const auto& job : changes.jobs) {
            row_ = to_record(*job, names);
            TRY(writer_.put_job.bind(1, std::int64_t{job->id.value}).bind_blob(2, row_).run());
        }
        for (const JobId job : changes.forgotten) {
            TRY(writer_.drop_job.bind(1, std::int64_t{job.value}).run());
        }
        for (const ChangedNode& node : changes.nodes) {
            row_ = to_record(node.record);
            TRY(writer_.put_node.bind(1, node.record.name).bind_blob(2, row_).run());
        }
        for (const Reservation& reservation : changes.reservations) {
            row_ = to_record(reservation);
            TRY(writer_.put_reservation.bind(1, reservation.name).bind_blob(2, row_).run());
        }
        for (const std::string& name : changes.reservations_gone) {
            TRY(writer_.drop_reservation.bind(1, name).run());
        }
        TRY(write_facts(changes));
        if (changes.policy) {
            row_ = to_record(*changes.policy);
            TRY(writer_.put_policy.bind_blob(1, row_).run());
        }
        TRY(write_usage(changes.usage));
        TRY(write_triggers(changes));
        if (changes.next_job_id) {
            TRY(writer_.put_meta.bind(1, "next_job_id")
                    .bind(2, std::int64_t{*changes.next_job_id})
                    .run());
        }
        for (const std::string& hash : refs_.left_over(changes)) {
            TRY(writer_.drop_blob.bind(1, hash).run());
        }
        return {};
    }

    Result<void> write_facts(const ChangedRecords& changes) {
        for (const Fact& fact : changes.facts) {
            row_ = to_record(fact);
            TRY(writer_.put_fact.bind(1, static_cast<std::int64_t>(fact.index()))
                    .bind_blob(2, row_)
                    .run());
        }
        if (changes.delivered == 0) return {};
        return writer_.drop_facts.bind(1, static_cast<std::int64_t>(changes.delivered)).run();
    }

    static Result<std::vector<NumberedFact>> read_facts(Statement& query) {
        std::vector<NumberedFact> facts;
        while (TRY(query.step())) {
            const auto kind = static_cast<std::size_t>(query.number(1));
            Fact fact = TRY(read_fact(kind, query.bytes(2)));
            facts.push_back({static_cast<std::uint64_t>(query.number(0)), std::move(fact)});
        }
        return facts;
    }

    Result<void> write_usage(const std::vector<StoredUsage>& rows) {
        for (const StoredUsage& used : rows) {
            const std::string key = usage_key(used);
            if (is_gone(used)) {
                TRY(writer_.drop_usage.bind(1, key).run());
                continue;
            }
            row_ = to_record(used);
            TRY(writer_.put_usage.bind(1, key).bind_blob(2, row_).run());
        }
        return {};
    }

    Result<void> write_triggers(const ChangedRecords& changes) {
        for (const Trigger& trigger : changes.triggers) {
            row_ = to_record(trigger);
            TRY(writer_.put_trigger.bind(1, std::int64_t{trigger.id}).bind_blob(2, row_).run());
        }
        for (const std::uint32_t id : changes.triggers_gone)
            TRY(writer_.drop_trigger.bind(1, std::int64_t{id}).run());
        return {};
    }

    struct BadRow {
        DamagedRow what;
        std::string bytes;
    };

    // Reads all rows of a table by `add`, which gets the statement with key and data. An invalid
    // row is recorded in `bad`: one damaged row must not keep the cluster from starting.
    template <typename Add>
    Result<void> read_rows(const char* sql, const char* kind, std::vector<BadRow>& bad, Add add) {
        return for_each(sql, [&](const Statement& row) -> Result<void> {
            const Result<void> read = add(row);
            if (read || read.error().code != ErrorCode::StoreFailed) return read;
            bad.push_back({{kind, std::string(row.bytes(0)), read.error().detail},
                           std::string(row.bytes(1))});
            return {};
        });
    }

    Result<StoredState> read_state() {
        const auto number = [](const Statement& row) {
            return static_cast<std::uint32_t>(row.number(0));
        };
        RowLoader loader;
        std::vector<BadRow> bad;
        TRY(read_rows("SELECT id, data FROM jobs ORDER BY id", "job", bad, [&](const auto& row) {
            return loader.add_job(JobId{number(row)}, row.bytes(1));
        }));
        TRY(read_rows(
            "SELECT name, data FROM nodes ORDER BY name", "node", bad,
            [&](const auto& row) { return loader.add_node(row.bytes(0), row.bytes(1)); }));
        TRY(read_rows(
            "SELECT name, data FROM reservations ORDER BY name", "reservation", bad,
            [&](const auto& row) { return loader.add_reservation(row.bytes(0), row.bytes(1)); }));
        TRY(read_rows("SELECT id, data FROM policy", "policy", bad,
                      [&](const auto& row) { return loader.set_policy(row.bytes(1)); }));
        TRY(read_rows(
            "SELECT name, data FROM usage ORDER BY name", "usage", bad,
            [&](const auto& row) { return loader.add_usage(row.bytes(0), row.bytes(1)); }));
        TRY(read_rows(
            "SELECT id, data FROM triggers ORDER BY id", "trigger", bad,
            [&](const auto& row) { return loader.add_trigger(number(row), row.bytes(1)); }));
        TRY(for_each("SELECT value FROM meta WHERE key = 'next_job_id'",
                     [&](const Statement& row) -> Result<void> {
                         loader.set_next_job_id(number(row));
                         return {};
                     }));
        TRY(set_aside(bad));
        TRY(for_each("SELECT kind, key, why FROM damaged ORDER BY kind, key",
                     [&](const Statement& row) -> Result<void> {
                         loader.add_damaged({std::string(row.bytes(0)), std::string(row.bytes(1)),
                                             std::string(row.bytes(2))});
                         return {};
                     }));
        return loader.take();
    }

    // Moves damaged rows, with their bytes, into a table of their own.
    Result<void> set_aside(const std::vector<BadRow>& bad) {
        if (bad.empty()) return {};
        Statement put = TRY(writer_.database.prepare(
            "INSERT OR REPLACE INTO damaged (kind, key, why, data) VALUES (?, ?, ?, ?)"));
        Statement drop_node = TRY(writer_.database.prepare("DELETE FROM nodes WHERE name = ?"));
        Statement drop_policy = TRY(writer_.database.prepare("DELETE FROM policy WHERE id = ?"));
        return own_change(epoch_, [&]() -> Result<void> {
            for (const auto& [what, bytes] : bad) {
                TRY(put.bind(1, what.kind)
                        .bind(2, what.key)
                        .bind(3, what.why)
                        .bind_blob(4, bytes)
                        .run());
                Statement& drop = what.kind == "job"           ? writer_.drop_job
                                  : what.kind == "node"        ? drop_node
                                  : what.kind == "reservation" ? writer_.drop_reservation
                                  : what.kind == "usage"       ? writer_.drop_usage
                                  : what.kind == "trigger"     ? writer_.drop_trigger
                                                               : drop_policy;
                // Keys that are numbers are compared as numbers: their columns are INTEGER.
                TRY(drop.bind(1, what.key).run());
            }
            return {};
        });
    }

    template <typename Visit>
    Result<void> for_each(const char* sql, Visit visit) {
        Statement query = TRY(writer_.database.prepare(sql));
        while (TRY(query.step())) TRY(visit(query));
        return {};
    }

    // Deletes blobs that no job names.
    Result<void> sweep_blobs() {
        std::vector<std::string> gone;
        TRY(for_each("SELECT hash FROM blobs", [&](const Statement& row) -> Result<void> {
            std::string hash(row.bytes(0));
            if (!refs_.named(hash)) gone.push_back(std::move(hash));
            return {};
        }));
        if (gone.empty()) return {};
        return own_change(epoch_, [&]() -> Result<void> {
            for (const std::string& hash : gone) TRY(writer_.drop_blob.bind(1, hash).run());
            return {};
        });
    }

    const std::string directory_;
    const std::string file_;  // for errors
    DirectoryLock lock_;      // before the connections, so that it is released last
    Writer writer_;
    std::mutex reader_mutex_;
    Reader reader_;
    Epoch epoch_ = 0;  // taken by this process
    BlobRefs refs_;
    std::string row_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(const std::string& directory) {
    DirectoryLock lock = TRY(DirectoryLock::take(directory));
    Writer writer = TRY(open_writer(directory));
    Reader reader = TRY(open_reader(directory));
    return std::unique_ptr<Store>(std::make_unique<SqliteStore>(
        directory, std::move(lock), std::move(writer), std::move(reader)));
}

}  // namespace sluice
