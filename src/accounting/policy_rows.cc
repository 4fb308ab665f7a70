// accounting/policy_rows.cc
//
// See policy_rows.h.
#include "accounting/policy_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "accounting/rows.h"
#include "model/errors.h"

namespace sluice::accounting {

namespace {

// Calls visit(word, list) for each list of records; the word is the `kind` of their rows.
template <typename AnyPolicy, typename Visit>
void for_each_kind(AnyPolicy& policy, Visit visit) {
    visit("qos", policy.qos);
    visit("account", policy.accounts);
    visit("user", policy.users);
    visit("association", policy.associations);
    visit("wckey", policy.wckeys);
    visit("license", policy.licenses);
    visit("cluster", policy.clusters);
    visit("tres", policy.tres);
}

template <typename Record>
std::string row_name(const Record& record) {
    if constexpr (requires { record.id; }) {
        return std::to_string(record.id);
    } else {
        return record.name;
    }
}

template <typename Record>
void sort_records(std::vector<Record>& records) {
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
        if constexpr (requires { a.id; }) {
            return a.id < b.id;
        } else {
            return a.name < b.name;
        }
    });
}

// An association that was moved has a parent with a higher id.
void put_parents_first(std::vector<Association>& associations) {
    std::map<std::uint32_t, std::size_t> index;
    for (std::size_t i = 0; i < associations.size(); ++i) index.emplace(associations[i].id, i);
    std::vector<bool> placed(associations.size());
    std::vector<std::size_t> path;
    std::vector<Association> sorted;
    sorted.reserve(associations.size());
    for (std::size_t i = 0; i < associations.size(); ++i) {
        // A cycle, which only a damaged database has, ends with the first association seen twice.
        std::set<std::size_t> seen;
        for (std::size_t at = i; !placed[at] && seen.insert(at).second;) {
            path.push_back(at);
            const auto parent = index.find(associations[at].parent);
            if (parent == index.end()) break;
            at = parent->second;
        }
        for (; !path.empty(); path.pop_back()) {
            if (placed[path.back()]) continue;
            placed[path.back()] = true;
            sorted.push_back(std::move(associations[path.back()]));
        }
    }
    associations = std::move(sorted);
}

using RowKey = std::pair<std::string, std::string>;  // kind, name

Result<std::map<RowKey, std::string>> stored_rows(sql::Database& database) {
    std::map<RowKey, std::string> rows;
    TRY(database.query("SELECT kind, name, data FROM policy", {},
                       [&](const sql::RowView& row) -> Result<void> {
                           rows.emplace(RowKey(row.text(0), row.text(1)), row.text(2));
                           return {};
                       }));
    return rows;
}

Result<std::map<RowKey, std::string>> rows_of(const Policy& policy) {
    std::map<RowKey, std::string> rows;
    std::optional<Error> wrong;
    for_each_kind(policy, [&](const char* kind, const auto& records) {
        for (const auto& record : records) {
            const std::string name = row_name(record);
            const bool is_new = rows.emplace(RowKey(kind, name), to_bytes(record)).second;
            if (is_new && column_text(name) == name) continue;
            wrong = Error{ErrorCode::BadArgument,
                          fmt::format("{} {}: {}", kind, column_text(name),
                                      is_new ? "the name is too long or not UTF-8"
                                             : "it exists more than once")};
        }
    });
    if (wrong) return *wrong;
    return rows;
}

Result<std::int64_t> meta(sql::Database& database, const std::string& name) {
    std::int64_t value = 0;
    TRY(database.query("SELECT value FROM meta WHERE name = ?", {name},
                       [&](const sql::RowView& row) -> Result<void> {
                           value = row.number(0);
                           return {};
                       }));
    return value;
}

Result<void> take_version(sql::Database& database, const Policy& policy, std::uint64_t based_on) {
    if (policy.version <= based_on) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("the version {} of a policy must be above {}, the one that it "
                                 "replaces",
                                 policy.version, based_on)};
    }
    const std::uint64_t changed = TRY(database.run(
        "UPDATE meta SET value = ? WHERE name = 'policy_version' AND value = ?",
        {static_cast<std::int64_t>(policy.version), static_cast<std::int64_t>(based_on)}));
    if (changed == 1) return {};
    return Error{ErrorCode::AccountingBusy,
                 fmt::format("it was changed by another program since version {}", based_on)};
}

}  // namespace

Result<Policy> load_policy(sql::Database& database) {
    // Rows are read in one statement, but the numbers in others: again, if they do not fit
    // together.
    std::map<RowKey, std::string> rows;
    Policy policy;
    std::int64_t before = -1, version = 0;
    while (before != version) {
        before = TRY(meta(database, "policy_version"));
        policy.next_id = static_cast<std::uint32_t>(TRY(meta(database, "policy_next_id")));
        rows = TRY(stored_rows(database));
        version = TRY(meta(database, "policy_version"));
    }
    policy.version = static_cast<std::uint64_t>(version);
    std::optional<Error> wrong;
    for_each_kind(policy, [&]<typename Record>(const char* kind, std::vector<Record>& records) {
        for (auto row = rows.lower_bound({kind, ""}); row != rows.end() && row->first.first == kind;
             ++row) {
            Result<Record> read = from_bytes<Record>(row->second, "policy");
            if (!read) {
                wrong = read.error();
                return;
            }
            records.push_back(*std::move(read));
        }
        sort_records(records);
    });
    if (wrong) return *wrong;
    put_parents_first(policy.associations);
    return policy;
}

Result<void> save_policy(sql::Database& database, const Policy& policy, std::uint64_t based_on,
                         const std::vector<Transaction>& why) {
    TRY(take_version(database, policy, based_on));
    const auto rows = TRY(rows_of(policy));
    const auto before = TRY(stored_rows(database));
    for (const auto& [key, data] : before) {
        if (rows.contains(key)) continue;
        TRY(database.run("DELETE FROM policy WHERE kind = ? AND name = ?",
                         {key.first, key.second}));
    }
    const std::string put = upsert(database.dialect(), "policy", {"kind", "name"}, {"data"});
    for (const auto& [key, data] : rows) {
        const auto found = before.find(key);
        if (found != before.end() && found->second == data) continue;
        TRY(database.run(put, {key.first, key.second, sql::Bytes{data}}));
    }
    TRY(database.run("UPDATE meta SET value = ? WHERE name = 'policy_next_id'",
                     {std::int64_t{policy.next_id}}));
    for (const Transaction& transaction : why) TRY(put_transaction(database, transaction));
    return {};
}

Result<void> put_transaction(sql::Database& database, const Transaction& transaction) {
    TRY(database.run("INSERT INTO transactions (happened, data) VALUES (?, ?)",
                     {to_unix(transaction.time), row_bytes(transaction)}));
    return {};
}

Result<std::vector<Transaction>> load_transactions(sql::Database& database,
                                                   std::optional<Time> start,
                                                   std::optional<Time> end) {
    std::vector<Transaction> found;
    TRY(database.query(
        "SELECT id, data FROM transactions WHERE happened >= ? AND happened <= ? ORDER BY id",
        {start ? to_unix(*start) : 0, column_time(end)},
        [&](const sql::RowView& row) -> Result<void> {
            found.push_back(TRY(from_bytes<Transaction>(row.text(1), "transactions")));
            found.back().id = static_cast<std::uint64_t>(row.number(0));
            return {};
        }));
    return found;
}

}  // namespace sluice::accounting
