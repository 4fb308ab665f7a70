// store/postgresql_lease.cc
//
// See lease.h.
#include <fmt/format.h>

#include "store/lease.h"
#include "store/shared_schema.h"

namespace sluice {

namespace {

// The time of an answer counts: a holder that waits longer stops anyway.
constexpr std::chrono::seconds kLeaseAnswerMost{1};

// Times of another server, or of the same before it was started again, cannot be compared.
constexpr std::string_view kIsOfThisServer = "server = pg_postmaster_start_time()";

std::string new_end() {
    return fmt::format(
        "expires = clock_timestamp() + interval '{} milliseconds', server = "
        "pg_postmaster_start_time()",
        kLeaseLength.count());
}

// How much the clock of this host, at `?`, is ahead of that of the database.
constexpr std::string_view kAhead =
    "round(?::float8 - extract(epoch FROM clock_timestamp())::float8)::bigint";

sql::Value host_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

class PostgresqlLease : public Lease {
public:
    PostgresqlLease(const SharedState& where, std::string controller)
        : where_(where), controller_(std::move(controller)) {}

    Result<LeaseState> observe() override {
        LeaseState state;
        TRY(use([&](sql::Database& database) -> Result<void> {
            return database.query(
                fmt::format("SELECT holder, lease.epoch, CASE WHEN holder = '' THEN 0 WHEN {} THEN "
                            "ceil(greatest(extract(epoch FROM expires - clock_timestamp()) * 1000, "
                            "0))::bigint ELSE {} END, requested_by, version, holder_ahead, {} FROM "
                            "lease, writer",
                            kIsOfThisServer, kLeaseLength.count(), kAhead),
                {host_clock()}, [&](const sql::RowView& row) -> Result<void> {
                    state = {.holder = std::string(row.text(0)),
                             .epoch = static_cast<Epoch>(row.number(1)),
                             .left = std::chrono::milliseconds(row.number(2)),
                             .requested_by = std::string(row.text(3)),
                             .version = static_cast<StateVersion>(row.number(4)),
                             .holder_ahead = std::chrono::seconds(row.number(5)),
                             .own_ahead = std::chrono::seconds(row.number(6))};
                    return {};
                });
        }));
        return state;
    }

    Result<std::optional<Tenure>> try_acquire() override {
        std::optional<Tenure> tenure;
        TRY(use([&](sql::Database& database) -> Result<void> {
            // Not taken by an older program.
            TRY(check_shared_schema(database, current_shared_plan()));
            if (TRY(is_rebased(database))) return {};
            TRY(end_open_commits(database));
            const LeaseClock::time_point sent = LeaseClock::now();
            return database.query(
                fmt::format("WITH next AS (UPDATE lease SET holder = ?, epoch = epoch + 1, "
                            "requested_by = '', holder_ahead = {}, {} WHERE {} RETURNING epoch) "
                            "UPDATE writer SET epoch = next.epoch FROM next RETURNING "
                            "writer.epoch",
                            kAhead, new_end(), is_free()),
                {controller_, host_clock(), controller_},
                [&](const sql::RowView& row) -> Result<void> {
                    tenure = tenure_of(static_cast<Epoch>(row.number(0)), sent);
                    return {};
                });
        }));
        // Only now no other controller uses the tables as they were.
        if (tenure) TRY(bring_up_to_date(*database_, current_shared_plan()));
        return tenure;
    }

    Result<std::optional<Tenure>> renew(Epoch epoch) override {
        std::optional<Tenure> tenure;
        TRY(use([&](sql::Database& database) -> Result<void> {
            const LeaseClock::time_point sent = LeaseClock::now();
            const std::uint64_t renewed = TRY(database.run(
                fmt::format("UPDATE lease SET holder_ahead = {}, {} WHERE epoch = ? AND holder = ?",
                            kAhead, new_end()),
                {host_clock(), static_cast<std::int64_t>(epoch), controller_}));
            if (renewed != 0) tenure = tenure_of(epoch, sent);
            return {};
        }));
        return tenure;
    }

    Result<void> release(Epoch epoch) override {
        return use([&](sql::Database& database) -> Result<void> {
            TRY(database.run("UPDATE lease SET holder = '' WHERE epoch = ? AND holder = ?",
                             {static_cast<std::int64_t>(epoch), controller_}));
            return {};
        });
    }

    Result<void> request_takeover() override {
        return use([&](sql::Database& database) -> Result<void> {
            TRY(database.run("UPDATE lease SET requested_by = ?", {controller_}));
            return {};
        });
    }

private:
    static Tenure tenure_of(Epoch epoch, LeaseClock::time_point sent) {
        return {epoch, sent + kLeaseLength - kLeaseMargin};
    }
    static std::string is_free() {
        return fmt::format("(holder = '' OR holder = ? OR ({} AND expires <= clock_timestamp()))",
                           kIsOfThisServer);
    }

    // A connection that fails is made again by the next call: this one does not take longer.
    Result<void> use(const std::function<Result<void>(sql::Database&)>& work) {
        if (!database_) {
            database_ = TRY(open_shared(where_, kLeaseAnswerMost));
        } else if (database_->is_lost()) {
            TRY(database_->reconnect());
        }
        return work(*database_);
    }

    // The holder has the whole time once more by the clock of this server.
    Result<bool> is_rebased(sql::Database& database) {
        const std::uint64_t changed = TRY(
            database.run(fmt::format("UPDATE lease SET {} WHERE NOT {} AND holder NOT IN ('', ?)",
                                     new_end(), kIsOfThisServer),
                         {controller_}));
        return changed != 0;
    }

    // If the lease is free, a commit of an earlier holder that has not ended waits for something:
    // for the rest of its message, or for a replica. It must not keep the next holder waiting.
    Result<void> end_open_commits(sql::Database& database) {
        TRY(database.run(
            fmt::format("SELECT pg_terminate_backend(pid) FROM pg_locks, lease WHERE database = "
                        "(SELECT oid FROM pg_database WHERE datname = current_database()) AND "
                        "relation = 'writer'::regclass AND mode = 'RowExclusiveLock' AND granted "
                        "AND pid <> pg_backend_pid() AND {}",
                        is_free()),
            {controller_}));
        return {};
    }

    const SharedState where_;
    const std::string controller_;
    std::unique_ptr<sql::Database> database_;
};

}  // namespace

Result<std::unique_ptr<Lease>> postgresql_lease(const SharedState& where,
                                                const std::string& controller) {
    return std::unique_ptr<Lease>(std::make_unique<PostgresqlLease>(where, controller));
}

}  // namespace sluice
