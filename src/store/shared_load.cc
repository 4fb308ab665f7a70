// store/shared_load.cc
#include "store/shared_load.h"

#include "model/errors.h"
#include "store/records.h"

namespace sluice {
namespace {

using sql::RowView;

constexpr std::int64_t kPage = 4096;  // jobs that are in memory as rows and as records

class Loader {
public:
    Loader(sql::Database& database, std::vector<BadRow>& bad) : database_(database), bad_(bad) {}

    // Rows of a key and data; those without data are given to `gone`.
    template <typename Add, typename Gone>
    Result<void> read(std::string_view statement, const sql::Row& values, const char* kind, Add add,
                      Gone gone) {
        return database_.query(statement, values, [&](const RowView& row) -> Result<void> {
            const std::string key(row.text(0));
            if (row.is_null(1)) {
                gone(key);
                return {};
            }
            const std::string_view bytes = row.text(1);
            const Result<void> done = add(key, bytes);
            if (done || done.error().code != ErrorCode::StoreFailed) return done;
            bad_.push_back({{kind, key, done.error().detail}, std::string(bytes)});
            return {};
        });
    }
    template <typename Gone>
    Result<void> read_jobs(std::string_view statement, const sql::Row& values, Gone gone) {
        const auto id = [](const std::string& key) {
            return JobId{static_cast<std::uint32_t>(std::stoul(key))};
        };
        return read(
            statement, values, "job",
            [&](const std::string& key, std::string_view bytes) {
                last_job_ = id(key);
                return rows_.add_job(last_job_, bytes);
            },
            [&](const std::string& key) { gone(id(key)); });
    }
    template <typename Gone>
    Result<void> read_reservations(std::string_view statement, const sql::Row& values, Gone gone) {
        return read(
            statement, values, "reservation",
            [&](const std::string& key, std::string_view bytes) {
                return rows_.add_reservation(key, bytes);
            },
            gone);
    }
    Result<void> read_nodes(std::string_view statement, const sql::Row& values) {
        return read(
            statement, values, "node",
            [&](const std::string& key, std::string_view bytes) {
                return rows_.add_node(key, bytes);
            },
            [](const std::string&) {});
    }
    template <typename Gone>
    Result<void> read_usage(std::string_view statement, const sql::Row& values, Gone gone) {
        return read(
            statement, values, "usage",
            [&](const std::string& key, std::string_view bytes) {
                return rows_.add_usage(key, bytes);
            },
            gone);
    }
    template <typename Gone>
    Result<void> read_triggers(std::string_view statement, const sql::Row& values, Gone gone) {
        const auto id = [](const std::string& key) {
            return static_cast<std::uint32_t>(std::stoul(key));
        };
        return read(
            statement, values, "trigger",
            [&](const std::string& key, std::string_view bytes) {
                return rows_.add_trigger(id(key), bytes);
            },
            [&](const std::string& key) { gone(id(key)); });
    }
    Result<void> read_policy() {
        return read(
            "SELECT id, data FROM policy", {}, "policy",
            [&](const std::string&, std::string_view bytes) { return rows_.set_policy(bytes); },
            [](const std::string&) {});
    }
    Result<void> read_next_job_id() {
        return database_.query("SELECT next_job_id FROM writer", {},
                               [&](const RowView& row) -> Result<void> {
                                   rows_.set_next_job_id(static_cast<std::uint32_t>(row.number(0)));
                                   return {};
                               });
    }
    Result<void> read_damaged() {
        return database_.query(
            "SELECT kind, key, why FROM damaged ORDER BY kind, key", {},
            [&](const RowView& row) -> Result<void> {
                rows_.add_damaged(
                    {std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2))});
                return {};
            });
    }
    Result<void> read_everything() {
        const auto none = [](const auto&) {};
        std::int64_t after = -1;
        while (true) {
            last_job_ = JobId{0};
            TRY(read_jobs("SELECT id, data FROM jobs WHERE id > ? ORDER BY id LIMIT ?",
                          {after, kPage}, none));
            if (last_job_.value == 0) break;
            after = last_job_.value;
        }
        TRY(read_nodes("SELECT name, data FROM nodes ORDER BY name", {}));
        TRY(read_reservations("SELECT name, data FROM reservations ORDER BY name", {}, none));
        TRY(read_policy());
        TRY(read_usage("SELECT name, data FROM usage ORDER BY name", {}, none));
        TRY(read_triggers("SELECT id, data FROM triggers ORDER BY id", {}, none));
        return read_next_job_id();
    }
    StoredState take() { return rows_.take(); }
    void add_damaged(const DamagedRow& row) { rows_.add_damaged(row); }

private:
    sql::Database& database_;
    std::vector<BadRow>& bad_;
    RowLoader rows_;
    JobId last_job_{0};
};

struct Versions {
    StateVersion now = 0;
    StateVersion first = 0;  // that `changes` still has; 0: it has none
};

Result<Versions> read_versions(sql::Database& database) {
    Versions versions;
    TRY(database.query(
        "SELECT version, (SELECT coalesce(min(version), 0) FROM changes) FROM writer", {},
        [&](const RowView& row) -> Result<void> {
            versions = {static_cast<StateVersion>(row.number(0)),
                        static_cast<StateVersion>(row.number(1))};
            return {};
        }));
    return versions;
}

Result<bool> policy_has_changed(sql::Database& database, std::int64_t since) {
    bool has_changed = false;
    TRY(database.query("SELECT 1 FROM changes WHERE version > ? AND policy LIMIT 1", {since},
                       [&](const RowView&) -> Result<void> {
                           has_changed = true;
                           return {};
                       }));
    return has_changed;
}

Result<void> read_since(sql::Database& database, std::int64_t since, Loader& loader,
                        StateChanges& changes) {
    TRY(loader.read_jobs(
        "SELECT id, data FROM (SELECT DISTINCT unnest(jobs) AS id FROM changes WHERE version > ?) "
        "AS changed LEFT JOIN jobs USING (id) ORDER BY id",
        {since}, [&](JobId job) { changes.forgotten.push_back(job); }));
    TRY(loader.read_nodes(
        "SELECT name, data FROM (SELECT DISTINCT unnest(nodes) AS name FROM changes WHERE version "
        "> ?) AS changed LEFT JOIN nodes USING (name) ORDER BY name",
        {since}));
    TRY(loader.read_reservations(
        "SELECT name, data FROM (SELECT DISTINCT unnest(reservations) AS name FROM changes WHERE "
        "version > ?) AS changed LEFT JOIN reservations USING (name) ORDER BY name",
        {since}, [&](const std::string& name) { changes.reservations_gone.push_back(name); }));
    TRY(loader.read_usage(
        "SELECT name, data FROM (SELECT DISTINCT unnest(usage) AS name FROM changes WHERE version "
        "> ?) AS changed LEFT JOIN usage USING (name) ORDER BY name",
        {since}, [&](const std::string& key) { changes.usage_gone.push_back(key); }));
    TRY(loader.read_triggers(
        "SELECT id, data FROM (SELECT DISTINCT unnest(triggers) AS id FROM changes WHERE version > "
        "?) AS changed LEFT JOIN triggers USING (id) ORDER BY id",
        {since}, [&](std::uint32_t id) { changes.triggers_gone.push_back(id); }));
    if (TRY(policy_has_changed(database, since))) TRY(loader.read_policy());
    return loader.read_next_job_id();
}

}  // namespace

Result<void> begin_reading(sql::Database& database) {
    TRY(database.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    return {};
}

Result<StoredState> read_all(sql::Database& database, std::vector<BadRow>& bad) {
    Loader loader(database, bad);
    TRY(loader.read_everything());
    TRY(loader.read_damaged());
    return loader.take();
}

Result<StateChanges> read_changes(sql::Database& database, StateVersion since) {
    const Versions versions = TRY(read_versions(database));
    StateChanges changes{.version = versions.now};
    const bool has_all =
        since == versions.now || (versions.first != 0 && versions.first <= since + 1);
    changes.is_whole = since == 0 || since > versions.now || !has_all;
    std::vector<BadRow> bad;
    Loader loader(database, bad);
    if (changes.is_whole) {
        TRY(loader.read_everything());
    } else {
        TRY(read_since(database, static_cast<std::int64_t>(since), loader, changes));
    }
    TRY(loader.read_damaged());
    for (const BadRow& row : bad) loader.add_damaged(row.what);
    changes.changed = loader.take();
    return changes;
}

}  // namespace sluice
