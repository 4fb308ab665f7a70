// store/lease_test.cc
//
// What a lease promises (lease.h), on a real server.
#include "store/lease.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;
using std::chrono::milliseconds;

class PostgresqlLease : public testing::Test {
protected:
    void SetUp() override {
        if (!has_postgresql()) GTEST_SKIP() << "PostgreSQL is not installed";
        directory_ = std::make_unique<StateDirectory>();
        where_ = shared_state(*directory_);
        store_ = open_postgresql(where_).value();
        a_ = lease("a");
        b_ = lease("b");
    }
    std::unique_ptr<Lease> lease(const std::string& controller) {
        return postgresql_lease(where_, controller, [this] { return now(); }).value();
    }
    // For the controllers; the clock of the database goes on as it is.
    void let_pass(milliseconds time) { now_ += time; }
    LeaseClock::time_point now() const { return now_; }
    // What b waits for if a is silent.
    void let_expire() {
        EXPECT_GT(b_->observe()->left, milliseconds(0));
        let_pass(kLeaseLength);
        EXPECT_EQ(b_->observe()->left, milliseconds(0));
    }
    // As if a server answered that was started later than the one with the last renewal.
    void change_server() {
        run_shared(where_, "UPDATE lease SET server = server - interval '1 day'");
    }

    std::unique_ptr<StateDirectory> directory_;
    SharedState where_;
    std::unique_ptr<Store> store_;
    LeaseClock::time_point now_{std::chrono::hours(1)};
    std::unique_ptr<Lease> a_, b_;
};

TEST_F(PostgresqlLease, StartsFree) {
    const LeaseState free = a_->observe().value();
    EXPECT_EQ(free.holder, "");
    EXPECT_EQ(free.left, milliseconds(0));
    EXPECT_EQ(free.requested_by, "");
}

TEST_F(PostgresqlLease, HasOneHolder) {
    const std::optional<Tenure> tenure = a_->try_acquire().value();
    ASSERT_TRUE(tenure);
    EXPECT_EQ(tenure->act_until, now() + kLeaseLength - kLeaseMargin);
    EXPECT_FALSE(b_->try_acquire().value());
    const LeaseState seen = b_->observe().value();
    EXPECT_EQ(seen.holder, "a");
    EXPECT_EQ(seen.epoch, tenure->epoch);
    EXPECT_GT(seen.left, milliseconds(0));
    EXPECT_LE(seen.left, kLeaseLength);
}

TEST_F(PostgresqlLease, IsTakenByAnotherWhenItHasExpired) {
    const Tenure first = a_->try_acquire()->value();
    let_expire();
    const std::optional<Tenure> second = b_->try_acquire().value();
    ASSERT_TRUE(second);
    EXPECT_GT(second->epoch, first.epoch);
    EXPECT_FALSE(a_->renew(first.epoch).value());
    EXPECT_TRUE(b_->renew(second->epoch).value());
    EXPECT_EQ(b_->observe()->holder, "b");
}

TEST_F(PostgresqlLease, IsKeptByRenewals) {
    const Tenure tenure = a_->try_acquire()->value();
    for (int i = 0; i < 3; ++i) {
        EXPECT_GT(b_->observe()->left, milliseconds(0));
        let_pass(kLeaseLength / 2);
        const std::optional<Tenure> longer = a_->renew(tenure.epoch).value();
        ASSERT_TRUE(longer);
        EXPECT_EQ(longer->epoch, tenure.epoch);
        EXPECT_GT(longer->act_until, tenure.act_until);
        EXPECT_FALSE(b_->try_acquire().value());
    }
}

// The holder was late, but no other controller was there.
TEST_F(PostgresqlLease, IsRenewedAfterItsEndIfNobodyTookIt) {
    const Tenure tenure = a_->try_acquire()->value();
    let_expire();
    EXPECT_TRUE(a_->renew(tenure.epoch).value());
    EXPECT_FALSE(b_->try_acquire().value()) << "it is not the lease that b has observed";
}

TEST_F(PostgresqlLease, IsFreeAtOnceWhenItIsReleased) {
    const Tenure first = a_->try_acquire()->value();
    ASSERT_TRUE(a_->release(first.epoch));
    EXPECT_EQ(b_->observe()->holder, "");
    EXPECT_FALSE(a_->renew(first.epoch).value()) << "it was released";
    const std::optional<Tenure> second = b_->try_acquire().value();
    ASSERT_TRUE(second);
    ASSERT_TRUE(a_->release(first.epoch));
    EXPECT_EQ(b_->observe()->holder, "b") << "the release of an earlier tenure has no effect";
}

TEST_F(PostgresqlLease, MayBeTakenAgainByItsHolder) {
    const Tenure first = a_->try_acquire()->value();
    const std::optional<Tenure> second = a_->try_acquire().value();
    ASSERT_TRUE(second);
    EXPECT_GT(second->epoch, first.epoch);
    EXPECT_FALSE(a_->renew(first.epoch).value());
}

TEST_F(PostgresqlLease, TellsTheHolderWhoAsksForIt) {
    const Tenure first = a_->try_acquire()->value();
    ASSERT_TRUE(b_->request_takeover());
    EXPECT_EQ(a_->observe()->requested_by, "b");
    ASSERT_TRUE(a_->renew(first.epoch).value());
    EXPECT_EQ(a_->observe()->requested_by, "b") << "a renewal does not answer it";
    ASSERT_TRUE(a_->release(first.epoch));
    ASSERT_TRUE(b_->try_acquire().value());
    EXPECT_EQ(b_->observe()->requested_by, "");
}

TEST_F(PostgresqlLease, FencesTheCommitsOfEarlierHolders) {
    const Tenure first = a_->try_acquire()->value();
    Batch batch = batch_of({simple_job(1)});
    batch.epoch = first.epoch;
    ASSERT_TRUE(store_->load());
    EXPECT_TRUE(store_->commit(batch));
    const StateVersion version = b_->observe()->version;
    let_expire();
    const Tenure second = b_->try_acquire()->value();
    EXPECT_EQ(store_->commit(batch).kind, CommitOutcome::Kind::Fenced);
    EXPECT_EQ(b_->observe()->version, version);
    batch.epoch = second.epoch;
    EXPECT_TRUE(store_->commit(batch));
    EXPECT_GT(a_->observe()->version, version);
}

// ---- clocks and servers

// The clock of the database is set while nobody renews the lease: it is neither free early nor
// late.
TEST_F(PostgresqlLease, DoesNotDependOnTheClockOfTheDatabase) {
    for (const char* step : {"- interval '1 hour'", "+ interval '1 hour'"}) {
        ASSERT_TRUE(a_->try_acquire().value());
        run_shared(where_, fmt::format("UPDATE lease SET expires = expires {}", step));
        EXPECT_GT(b_->observe()->left, milliseconds(0)) << step;
        EXPECT_FALSE(b_->try_acquire().value()) << step;
        let_expire();
        const std::optional<Tenure> taken = b_->try_acquire().value();
        ASSERT_TRUE(taken) << step;
        ASSERT_TRUE(b_->release(taken->epoch));
    }
}

// The server was started again, or another one was promoted, and the holder is gone.
TEST_F(PostgresqlLease, IsValidOnceMoreOnAnotherServer) {
    ASSERT_TRUE(a_->try_acquire().value());
    EXPECT_GT(b_->observe()->left, milliseconds(0));
    let_pass(kLeaseLength);
    change_server();
    EXPECT_GT(b_->observe()->left, milliseconds(0)) << "the holder may have had a later renewal";
    EXPECT_FALSE(b_->try_acquire().value());
    let_expire();
    EXPECT_TRUE(b_->try_acquire().value());
}

TEST_F(PostgresqlLease, IsRenewedOnAnotherServer) {
    const Tenure tenure = a_->try_acquire()->value();
    change_server();
    let_expire();
    EXPECT_TRUE(a_->renew(tenure.epoch).value());
    EXPECT_FALSE(b_->try_acquire().value());
}

TEST_F(PostgresqlLease, IsTakenAtOnceOnAnotherServerIfItIsReleased) {
    const Tenure tenure = a_->try_acquire()->value();
    ASSERT_TRUE(a_->release(tenure.epoch));
    change_server();
    EXPECT_TRUE(b_->try_acquire().value());
}

// The clock of the holder was an hour behind that of the database. Those of two servers differ.
TEST_F(PostgresqlLease, MeasuresTheClockOfTheHolderOnOneServer) {
    constexpr auto kOff = std::chrono::hours(1), kMost = std::chrono::hours(2);
    ASSERT_TRUE(a_->try_acquire().value());
    EXPECT_LT(b_->observe()->clock_step, kOff);
    run_shared(where_,
               "UPDATE lease SET holder_ahead = holder_ahead - 3600, expires = expires + "
               "interval '1 second'");
    EXPECT_GE(b_->observe()->clock_step, kOff);
    run_shared(where_, "UPDATE lease SET holder_ahead = holder_ahead - 86400");
    change_server();
    EXPECT_GE(b_->observe()->clock_step, kOff) << "as it was measured before";
    EXPECT_LT(b_->observe()->clock_step, kMost) << "not by the clock of another server";
    EXPECT_EQ(lease("c")->observe()->clock_step, std::chrono::seconds(0)) << "it is not known";
}

// The holder was stopped, or cut off, in the middle of a commit.
TEST_F(PostgresqlLease, EndsTheOpenTransactionOfAnEarlierHolder) {
    ASSERT_TRUE(a_->try_acquire().value());
    auto stopped = sql::open(target_of(where_)).value();
    ASSERT_TRUE(stopped->begin());
    ASSERT_TRUE(stopped->run("UPDATE writer SET version = version + 1"));
    EXPECT_FALSE(b_->try_acquire().value());
    ASSERT_TRUE(stopped->run("SELECT 1")) << "only when the lease is free";
    let_expire();
    EXPECT_TRUE(b_->try_acquire().value());
    EXPECT_FALSE(stopped->commit());
    EXPECT_EQ(b_->observe()->version, 0u);
}

TEST_F(PostgresqlLease, SurvivesTheLossOfItsConnection) {
    const Tenure tenure = a_->try_acquire()->value();
    run_shared(where_,
               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
               "pg_backend_pid() AND backend_type = 'client backend'");
    EXPECT_FALSE(a_->renew(tenure.epoch)) << "it is not known whether it was renewed";
    EXPECT_TRUE(a_->renew(tenure.epoch).value());
}

}  // namespace
}  // namespace sluice
