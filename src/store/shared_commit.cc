// store/shared_commit.cc
#include "store/shared_commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "store/batch_rows.h"
#include "store/sql_arrays.h"

namespace sluice {
namespace {

// A standby that has missed more commits reads everything. Old ones are deleted now and then.
constexpr StateVersion kChangesKept = 20000;
constexpr StateVersion kDeleteEvery = 64;

// All parts take a row of `fence`, so that nothing happens without one. Each part is in the text
// only if the batch has something for it: batches are of few kinds, and each kind is planned once.
class CommitStatement {
public:
    CommitStatement(std::string_view fence, sql::Row values) {
        commit_.statement = fmt::format("WITH fence AS ({})", fence);
        commit_.values = std::move(values);
    }
    void add(std::string_view part, sql::Row values) {
        commit_.statement += fmt::format(", part{} AS ({})", ++parts_, part);
        std::move(values.begin(), values.end(), std::back_inserter(commit_.values));
    }
    // Records by number.
    void put(std::string_view table, const std::map<std::uint32_t, std::string>& rows) {
        if (rows.empty()) return;
        SqlArray ids(SqlArray::Of::Numbers), data(SqlArray::Of::Bytes);
        for (const auto& [id, row] : rows) {
            ids.add(std::int64_t{id});
            data.add(row);
        }
        add(fmt::format("INSERT INTO {} SELECT given.* FROM fence, unnest(?::bigint[], ?::bytea[]) "
                        "AS given(id, data) ON CONFLICT (id) DO UPDATE SET data = excluded.data",
                        table),
            {ids.take(), data.take()});
    }
    void drop(std::string_view table, const std::vector<std::uint32_t>& ids) {
        if (ids.empty()) return;
        add(fmt::format("DELETE FROM {} USING fence WHERE id = ANY(?::bigint[])", table),
            {numbers_array(ids)});
    }
    // Records by name.
    void put(std::string_view table, const std::map<std::string, std::string>& rows) {
        if (rows.empty()) return;
        SqlArray keys(SqlArray::Of::Bytes), data(SqlArray::Of::Bytes);
        for (const auto& [key, row] : rows) {
            keys.add(key);
            data.add(row);
        }
        add(fmt::format("INSERT INTO {} SELECT given.* FROM fence, unnest(?::bytea[], ?::bytea[]) "
                        "AS given(name, data) ON CONFLICT (name) DO UPDATE SET data = "
                        "excluded.data",
                        table),
            {keys.take(), data.take()});
    }
    void drop(std::string_view table, const std::vector<std::string>& keys) {
        if (keys.empty()) return;
        add(fmt::format("DELETE FROM {} USING fence WHERE name = ANY(?::bytea[])", table),
            {bytes_array(keys)});
    }
    SharedCommit take() {
        commit_.statement += " SELECT version FROM fence";
        return std::move(commit_);
    }

private:
    SharedCommit commit_;
    int parts_ = 0;
};

void put_blobs(CommitStatement& statement, const std::vector<Blob>& blobs,
               const std::vector<std::string>& gone) {
    if (!blobs.empty()) {
        SqlArray hashes(SqlArray::Of::Bytes), data(SqlArray::Of::Bytes);
        std::unordered_set<std::string_view> known(gone.begin(), gone.end());
        for (const Blob& blob : blobs) {
            if (!known.insert(blob.hash).second) continue;
            hashes.add(blob.hash);
            data.add(blob.bytes);
        }
        statement.add(
            "INSERT INTO blobs SELECT convert_from(hash, 'UTF8'), data FROM fence, "
            "unnest(?::bytea[], ?::bytea[]) AS given(hash, data) ON CONFLICT DO NOTHING",
            {hashes.take(), data.take()});
    }
    if (gone.empty()) return;
    statement.add(
        "DELETE FROM blobs USING fence WHERE hash IN (SELECT convert_from(gone, 'UTF8') FROM "
        "unnest(?::bytea[]) AS gone)",
        {bytes_array(gone)});
}

std::vector<std::uint32_t> ids_of(const std::vector<JobId>& jobs) {
    std::vector<std::uint32_t> ids;
    for (const JobId job : jobs) ids.push_back(job.value);
    return ids;
}

void put_facts(CommitStatement& statement, const BatchRows& rows, std::uint64_t delivered) {
    if (!rows.facts.empty()) {
        SqlArray kinds(SqlArray::Of::Numbers), data(SqlArray::Of::Bytes);
        for (const auto& [kind, row] : rows.facts) {
            kinds.add(static_cast<std::int64_t>(kind));
            data.add(row);
        }
        const auto count = static_cast<std::int64_t>(rows.facts.size());
        statement.add(
            "INSERT INTO facts SELECT last_fact - ?::bigint + place, kind, data FROM fence, "
            "unnest(?::bigint[], ?::bytea[]) WITH ORDINALITY AS given(kind, data, place)",
            {count, kinds.take(), data.take()});
    }
    if (delivered == 0) return;
    statement.add("DELETE FROM facts USING fence WHERE number <= ?::bigint",
                  {static_cast<std::int64_t>(delivered)});
}

std::vector<std::string> keys_of(const std::map<std::string, std::string>& rows) {
    std::vector<std::string> keys;
    for (const auto& [key, row] : rows) keys.push_back(key);
    return keys;
}

void note_changes(CommitStatement& statement, const ChangedRecords& changes,
                  const BatchRows& rows) {
    SqlArray jobs(SqlArray::Of::Numbers);
    for (const auto& [id, row] : rows.jobs) jobs.add(std::int64_t{id});
    for (const JobId job : changes.forgotten) jobs.add(std::int64_t{job.value});
    SqlArray triggers(SqlArray::Of::Numbers);
    for (const auto& [id, row] : rows.triggers) triggers.add(std::int64_t{id});
    for (const std::uint32_t id : changes.triggers_gone) triggers.add(std::int64_t{id});
    std::vector<std::string> reservations = keys_of(rows.reservations);
    reservations.insert(reservations.end(), changes.reservations_gone.begin(),
                        changes.reservations_gone.end());
    statement.add(
        "INSERT INTO changes SELECT version, ?::bigint[], ?::bytea[], ?::bytea[], ?::bytea[], "
        "?::bigint[], ?::boolean FROM fence",
        {jobs.take(), bytes_array(keys_of(rows.nodes)), bytes_array(reservations),
         bytes_array(keys_of(rows.usage)), triggers.take(),
         std::string(changes.policy ? "t" : "f")});
}

CommitStatement fence_of(const Batch& batch, StateVersion at) {
    const ChangedRecords& changes = batch.changes;
    const auto next_job_id = changes.next_job_id ? sql::Value(std::int64_t{*changes.next_job_id})
                                                 : sql::Value(sql::Null());
    return {
        "UPDATE writer SET version = version + 1, next_job_id = coalesce(?::bigint, "
        "next_job_id), last_fact = last_fact + ?::bigint WHERE epoch = ?::bigint AND version = "
        "?::bigint RETURNING version, last_fact",
        {next_job_id, static_cast<std::int64_t>(changes.facts.size()),
         static_cast<std::int64_t>(batch.epoch), static_cast<std::int64_t>(at)}};
}

}  // namespace

SharedCommit commit_of(const Batch& batch, StateVersion at, const std::vector<std::string>& gone) {
    const BatchRows rows = rows_of(batch);
    const ChangedRecords& changes = batch.changes;
    CommitStatement statement = fence_of(batch, at);
    put_blobs(statement, batch.blobs, gone);
    statement.put("jobs", rows.jobs);
    statement.drop("jobs", ids_of(changes.forgotten));
    statement.put("triggers", rows.triggers);
    statement.drop("triggers", changes.triggers_gone);
    statement.put("nodes", rows.nodes);
    statement.put("reservations", rows.reservations);
    statement.drop("reservations", changes.reservations_gone);
    std::map<std::string, std::string> usage = rows.usage;
    const auto has_nothing = [](const auto& entry) { return entry.second.empty(); };
    std::map<std::string, std::string> unused;
    for (const auto& entry : usage) {
        if (has_nothing(entry)) unused.insert(entry);
    }
    std::erase_if(usage, has_nothing);
    statement.put("usage", usage);
    statement.drop("usage", keys_of(unused));
    put_facts(statement, rows, changes.delivered);
    if (changes.policy) {
        statement.add(
            "INSERT INTO policy SELECT 1, ?::bytea FROM fence ON CONFLICT (id) DO UPDATE SET data "
            "= excluded.data",
            {sql::Bytes{rows.policy}});
    }
    note_changes(statement, changes, rows);
    if (at % kDeleteEvery == 0 && at > kChangesKept) {
        statement.add("DELETE FROM changes USING fence WHERE changes.version <= ?::bigint",
                      {static_cast<std::int64_t>(at - kChangesKept)});
    }
    return statement.take();
}

}  // namespace sluice
