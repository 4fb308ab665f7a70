// store/postgresql_lease.cc
//
// See lease.h.
#include <fmt/format.h>

#include <algorithm>

#include "store/lease.h"
#include "store/shared_schema.h"

namespace sluice {

namespace {

// The time of an answer counts: a holder that waits longer stops anyway.
constexpr std::chrono::seconds kLeaseAnswerMost{1};

// Differs after each renewal, and if another server answers or this one was started again.
constexpr std::string_view kToken =
    "concat_ws(' ', lease.epoch, expires, server, pg_postmaster_start_time())";

// `expires` is for those who read the table: no controller compares it with a clock.
std::string renewed() {
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
    PostgresqlLease(const SharedState& where, std::string controller,
                    std::function<LeaseClock::time_point()> clock)
        : where_(where), controller_(std::move(controller)), clock_(std::move(clock)) {}

    Result<LeaseState> observe() override {
        LeaseState state;
        std::int64_t schema = 0;
        TRY(use([&](sql::Database& database) -> Result<void> {
            return database.query(
                fmt::format("SELECT holder, lease.epoch, requested_by, version, {}, CASE WHEN "
                            "server = pg_postmaster_start_time() THEN {} - holder_ahead END, "
                            "value FROM lease, writer, meta WHERE key = 'schema'",
                            kToken, kAhead),
                {host_clock()}, [&](const sql::RowView& row) -> Result<void> {
                    state = {.holder = std::string(row.text(0)),
                             .epoch = static_cast<Epoch>(row.number(1)),
                             .requested_by = std::string(row.text(2)),
                             .version = static_cast<StateVersion>(row.number(3))};
                    schema = row.number(6);
                    if (row.text(4) == seen_) return {};
                    seen_ = row.text(4);
                    seen_since_ = clock_();
                    if (row.is_null(5)) return {};
                    clock_step_ = std::chrono::seconds(row.number(5));
                    step_from_ = state.epoch;
                    return {};
                });
        }));
        // The connection may be older than the migration.
        TRY(check_not_newer(schema, current_shared_plan()));
        if (!state.holder.empty()) state.left = left();
        if (step_from_ == state.epoch) state.clock_step = clock_step_;
        return state;
    }

    Result<std::optional<Tenure>> try_acquire() override {
        std::optional<Tenure> tenure;
        TRY(use([&](sql::Database& database) -> Result<void> {
            // Not taken by an older program.
            TRY(check_shared_schema(database, current_shared_plan()));
            const std::string expired = left() == std::chrono::milliseconds{0} ? seen_ : "";
            TRY(end_open_commits(database, expired));
            const LeaseClock::time_point sent = clock_();
            return database.query(
                fmt::format("WITH next AS (UPDATE lease SET holder = ?, epoch = epoch + 1, "
                            "requested_by = '', holder_ahead = {}, {} WHERE {} RETURNING epoch) "
                            "UPDATE writer SET epoch = next.epoch FROM next RETURNING "
                            "writer.epoch",
                            kAhead, renewed(), is_free()),
                {controller_, host_clock(), controller_, expired},
                [&](const sql::RowView& row) -> Result<void> {
                    tenure = tenure_of(static_cast<Epoch>(row.number(0)), sent);
                    return {};
                });
        }));
        return tenure;
    }

    Result<std::optional<Tenure>> renew(Epoch epoch) override {
        std::optional<Tenure> tenure;
        TRY(use([&](sql::Database& database) -> Result<void> {
            const LeaseClock::time_point sent = clock_();
            const std::uint64_t changed = TRY(
                database.run(fmt::format("UPDATE lease SET holder_ahead = {}, {} WHERE epoch = ? "
                                         "AND holder = ?",
                                         kAhead, renewed()),
                             {host_clock(), static_cast<std::int64_t>(epoch), controller_}));
            if (changed != 0) tenure = tenure_of(epoch, sent);
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
    // Values: the controller, and the token of a lease that has expired.
    static std::string is_free() {
        return fmt::format("(holder = '' OR holder = ? OR {} = ?)", kToken);
    }
    std::chrono::milliseconds left() const {
        const auto until = seen_since_ + kLeaseLength;
        return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - clock_()),
                        std::chrono::milliseconds{0});
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

    // If the lease is free, a commit of an earlier holder that has not ended waits for something:
    // for the rest of its message, or for a replica. It must not keep the next holder waiting.
    Result<void> end_open_commits(sql::Database& database, const std::string& expired) {
        TRY(database.run(
            fmt::format("SELECT pg_terminate_backend(pid) FROM pg_locks, lease WHERE database = "
                        "(SELECT oid FROM pg_database WHERE datname = current_database()) AND "
                        "relation = 'writer'::regclass AND mode = 'RowExclusiveLock' AND granted "
                        "AND pid <> pg_backend_pid() AND {}",
                        is_free()),
            {controller_, expired}));
        return {};
    }

    const SharedState where_;
    const std::string controller_;
    const std::function<LeaseClock::time_point()> clock_;
    std::unique_ptr<sql::Database> database_;
    // The lease as it was observed last, and since when it is so.
    std::string seen_;
    LeaseClock::time_point seen_since_{};
    // How much this host's wall clock was ahead of that of the holder of an epoch, when its last
    // renewal was seen.
    std::chrono::seconds clock_step_{0};
    Epoch step_from_ = 0;
};

}  // namespace

Result<std::unique_ptr<Lease>> postgresql_lease(const SharedState& where,
                                                const std::string& controller,
                                                std::function<LeaseClock::time_point()> clock) {
    return std::unique_ptr<Lease>(
        std::make_unique<PostgresqlLease>(where, controller, std::move(clock)));
}

}  // namespace sluice
