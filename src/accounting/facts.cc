// accounting/facts.cc
//
// See facts.h.
#include "accounting/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "accounting/rows.h"
#include "base/log.h"
#include "model/errors.h"

namespace sluice::accounting {

namespace {

// The row that a fact replaces.
template <HasFields Value>
Result<std::optional<Value>> find_before(sql::Database& database, std::string_view statement,
                                         const sql::Row& key, std::string_view table) {
    std::vector<Value> found = TRY(query_values<Value>(database, statement, key, table));
    if (found.empty()) return std::optional<Value>();
    return std::optional<Value>(std::move(found.front()));
}

// The roll-up begins again with this moment, if it was past it.
Result<void> note_change(sql::Database& database, const std::string& cluster,
                         std::optional<Time> from) {
    if (!from) return {};
    const std::int64_t at = to_unix(*from);
    TRY(database.run("UPDATE rollups SET dirty = ? WHERE cluster = ? AND dirty > ? AND done > ?",
                     {at, cluster, at, at}));
    return {};
}

// A suspension begins with a fact in the state SUSPENDED and ends with the next one in another.
Result<void> note_suspension(sql::Database& database, const std::string& cluster,
                             const AccountedJob* before, const AccountedJob& job) {
    const sql::Row key{cluster, std::int64_t{job.job.value}, std::int64_t{job.restarts}};
    if (job.state == ShownState::Suspended && job.suspend_time) {
        sql::Row row = key;
        row.emplace_back(to_unix(*job.suspend_time));
        row.emplace_back(kNever);
        TRY(database.run(upsert(database.dialect(), "suspends",
                                {"cluster", "job", "restarts", "start_time"}, {"end_time"}),
                         row));
    } else if (before && before->state == ShownState::Suspended && before->suspend_time) {
        // A job that ends while it is suspended has no later total.
        const Time resumed = *before->suspend_time + (job.suspended - before->suspended);
        const bool ended_suspended = job.end && job.suspended <= before->suspended;
        TRY(
            database.run("UPDATE suspends SET end_time = ? WHERE cluster = ? AND job = ? AND "
                         "restarts = ? AND start_time = ?",
                         {to_unix(ended_suspended ? *job.end : resumed), key[0], key[1], key[2],
                          to_unix(*before->suspend_time)}));
    }
    return {};
}

Result<void> put(sql::Database& database, const std::string& cluster, const AccountedJob& job) {
    const sql::Row key{cluster, std::int64_t{job.job.value}, std::int64_t{job.restarts}};
    const auto before = TRY(find_before<AccountedJob>(
        database, "SELECT data FROM jobs WHERE cluster = ? AND job = ? AND restarts = ?", key,
        "jobs"));
    const AccountedJob* earlier = before ? &*before : nullptr;
    TRY(note_change(database, cluster, first_difference(earlier, job)));
    TRY(note_suspension(database, cluster, earlier, job));
    sql::Row row = key;
    row.emplace_back(std::int64_t{job.array_job ? job.array_job->value : 0});
    row.emplace_back(std::int64_t{job.user.value});
    row.emplace_back(std::int64_t{job.group.value});
    row.emplace_back(column_text(job.account));
    row.emplace_back(std::int64_t{job.association});
    row.emplace_back(column_text(job.qos));
    row.emplace_back(column_text(job.partition));
    row.emplace_back(column_text(job.wckey));
    row.emplace_back(static_cast<std::int64_t>(job.state));
    row.emplace_back(to_unix(job.submit));
    row.emplace_back(to_unix(job.eligible));
    row.emplace_back(column_time(job.start));
    row.emplace_back(column_time(job.end));
    row.emplace_back(column_text(job.script_hash));
    row.emplace_back(column_text(job.environment_hash));
    row.emplace_back(row_bytes(job));
    TRY(database.run(upsert(database.dialect(), "jobs", {"cluster", "job", "restarts"},
                            {"array_job", "uid", "gid", "account", "association", "qos",
                             "partition_name", "wckey", "state", "submit", "eligible", "start_time",
                             "end_time", "script", "environment", "data"}),
                     row));
    return {};
}

Result<void> put(sql::Database& database, const std::string& cluster, const AccountedStep& step) {
    TRY(database.run(upsert(database.dialect(), "steps", {"cluster", "job", "restarts", "step"},
                            {"end_time", "data"}),
                     {cluster, std::int64_t{step.job.value}, std::int64_t{step.restarts},
                      std::int64_t{step.step.value}, column_time(step.end), row_bytes(step)}));
    return {};
}

Result<void> put(sql::Database& database, const std::string& cluster, const AccountedEvent& event) {
    const sql::Row key{cluster, column_text(event.node), to_unix(event.start)};
    const auto before = TRY(find_before<AccountedEvent>(
        database, "SELECT data FROM events WHERE cluster = ? AND node = ? AND start_time = ?", key,
        "events"));
    TRY(note_change(database, cluster, first_difference(before ? &*before : nullptr, event)));
    TRY(database.run(upsert(database.dialect(), "events", {"cluster", "node", "start_time"},
                            {"end_time", "data"}),
                     {key[0], key[1], key[2], column_time(event.end), row_bytes(event)}));
    return {};
}

Result<void> put(sql::Database& database, const std::string& cluster,
                 const AccountedReservation& reservation) {
    const sql::Row key{cluster, std::int64_t{reservation.id}, to_unix(reservation.start)};
    const auto before = TRY(find_before<AccountedReservation>(
        database, "SELECT data FROM reservations WHERE cluster = ? AND id = ? AND start_time = ?",
        key, "reservations"));
    TRY(note_change(database, cluster, first_difference(before ? &*before : nullptr, reservation)));
    TRY(database.run(upsert(database.dialect(), "reservations", {"cluster", "id", "start_time"},
                            {"end_time", "data"}),
                     {key[0], key[1], key[2], to_unix(reservation.end), row_bytes(reservation)}));
    return {};
}

// The two ends of an interval were different: the earlier one.
std::optional<Time> earlier_end(std::optional<Time> before, std::optional<Time> after) {
    if (before == after) return std::nullopt;
    if (!before || !after) return before ? before : after;
    return std::min(*before, *after);
}

std::optional<Time> earlier(std::optional<Time> a, std::optional<Time> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

// A job counts from the moment it may start.
std::optional<Time> first_moment(const AccountedJob& job) {
    const auto eligible = job.eligible == Time{} ? std::nullopt : std::optional(job.eligible);
    return earlier(eligible, job.start);
}

}  // namespace

std::optional<Time> first_difference(const AccountedJob* before, const AccountedJob& after) {
    if (!before) return first_moment(after);
    const bool counts_alike = before->eligible == after.eligible &&
                              before->association == after.association &&
                              before->wckey == after.wckey && before->user == after.user &&
                              before->cpus_requested == after.cpus_requested &&
                              before->tres_requested == after.tres_requested &&
                              (before->tres_allocated == after.tres_allocated || !before->start) &&
                              (before->reservation == after.reservation || !before->start);
    if (!counts_alike) return earlier(first_moment(*before), first_moment(after));
    std::optional<Time> first = earlier_end(before->start, after.start);
    first = earlier(first, earlier_end(before->end, after.end));
    const bool same_suspension =
        before->suspended == after.suspended && before->suspend_time == after.suspend_time;
    if (same_suspension) return first;
    return earlier(first, earlier(before->suspend_time, after.suspend_time));
}

std::optional<Time> first_difference(const AccountedEvent* before, const AccountedEvent& after) {
    if (!before || before->tres != after.tres || before->state != after.state) return after.start;
    return earlier_end(before->end, after.end);
}

std::optional<Time> first_difference(const AccountedReservation* before,
                                     const AccountedReservation& after) {
    if (!before || before->tres != after.tres || before->flags != after.flags) return after.start;
    return earlier_end(before->end, after.end);
}

Result<std::uint64_t> last_applied(sql::Database& database, const std::string& cluster) {
    std::uint64_t last = 0;
    TRY(database.query("SELECT applied FROM sequences WHERE cluster = ?", {cluster},
                       [&](const sql::RowView& row) -> Result<void> {
                           last = static_cast<std::uint64_t>(row.number(0));
                           return {};
                       }));
    return last;
}

Result<void> put_fact(sql::Database& database, const std::string& cluster, const Fact& fact) {
    return std::visit([&](const auto& value) { return put(database, cluster, value); }, fact);
}

Result<std::uint64_t> apply_facts(sql::Database& database, const std::string& cluster,
                                  const std::vector<NumberedFact>& facts) {
    const std::uint64_t before = TRY(last_applied(database, cluster));
    std::uint64_t last = before;
    for (const NumberedFact& next : facts) {
        if (next.sequence <= last) continue;
        if (last != 0 && next.sequence != last + 1) {
            log_error("accounting of cluster {}: the facts {} to {} are missing", cluster, last + 1,
                      next.sequence - 1);
        }
        TRY(put_fact(database, cluster, next.fact));
        last = next.sequence;
    }
    if (last == before) return last;
    // Another writer that applied facts of the cluster meanwhile changed the number.
    const std::uint64_t changed =
        before == 0
            ? TRY(database.run("INSERT INTO sequences (cluster, applied) VALUES (?, ?)",
                               {cluster, number_of(last)}))
            : TRY(database.run("UPDATE sequences SET applied = ? WHERE cluster = ? AND applied = ?",
                               {number_of(last), cluster, number_of(before)}));
    if (changed != 1) {
        return Error{ErrorCode::StoreFailed,
                     fmt::format("another program writes the accounting of cluster {}", cluster)};
    }
    return last;
}

}  // namespace sluice::accounting
