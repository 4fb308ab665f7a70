// store/lease_test.cc
//
// What every lease promises (lease.h), asked of each kind.
#include "store/lease.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;
using std::chrono::milliseconds;

// Controllers that share a state, and a way to let the lease expire.
class LeaseKind {
public:
    virtual ~LeaseKind() = default;
    virtual std::unique_ptr<Lease> lease(const std::string& controller) = 0;
    virtual Store& store() = 0;
    virtual void let_pass(milliseconds time) = 0;
    virtual LeaseClock::time_point now() = 0;
};

class MemoryKind : public LeaseKind {
public:
    std::unique_ptr<Lease> lease(const std::string& controller) override {
        return memory_lease(table_, controller, [this] { return now(); });
    }
    Store& store() override { return *store_; }
    void let_pass(milliseconds time) override { now_ += time; }
    LeaseClock::time_point now() override { return now_; }

private:
    std::unique_ptr<Store> store_ = memory_store();
    LeaseClock::time_point now_{std::chrono::hours(1)};
    // The clock of the database is another one.
    MemoryLeaseTable table_{*store_, [this] { return now_ + std::chrono::hours(1000); }};
};

// Time passes for the database only.
class PostgresqlKind : public LeaseKind {
public:
    std::unique_ptr<Lease> lease(const std::string& controller) override {
        return postgresql_lease(where_, controller).value();
    }
    Store& store() override { return *store_; }
    void let_pass(milliseconds time) override {
        run_shared(where_, fmt::format("UPDATE lease SET expires = expires - interval '{} "
                                       "milliseconds'",
                                       time.count()));
    }
    LeaseClock::time_point now() override { return LeaseClock::now(); }
    const SharedState& where() const { return where_; }

private:
    StateDirectory directory_;
    const SharedState where_ = shared_state(directory_);
    std::unique_ptr<Store> store_ = open_postgresql(where_).value();
};

struct KindOfLease {
    const char* name;
    std::unique_ptr<LeaseKind> (*make)();
};
const KindOfLease kLeaseKinds[] = {
    {"Memory", []() -> std::unique_ptr<LeaseKind> { return std::make_unique<MemoryKind>(); }},
    {"Postgresql",
     []() -> std::unique_ptr<LeaseKind> {
         return has_postgresql() ? std::make_unique<PostgresqlKind>() : nullptr;
     }},
};

class LeaseContract : public testing::TestWithParam<KindOfLease> {
protected:
    void SetUp() override {
        kind_ = GetParam().make();
        if (!kind_) GTEST_SKIP() << GetParam().name << " is not installed";
        a_ = kind_->lease("a");
        b_ = kind_->lease("b");
    }
    std::unique_ptr<LeaseKind> kind_;
    std::unique_ptr<Lease> a_, b_;
};

INSTANTIATE_TEST_SUITE_P(Leases, LeaseContract, testing::ValuesIn(kLeaseKinds),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(LeaseContract, StartsFree) {
    const LeaseState free = a_->observe().value();
    EXPECT_EQ(free.holder, "");
    EXPECT_EQ(free.left, milliseconds(0));
    EXPECT_EQ(free.requested_by, "");
}

TEST_P(LeaseContract, HasOneHolder) {
    const auto before = kind_->now();
    const std::optional<Tenure> tenure = a_->try_acquire().value();
    ASSERT_TRUE(tenure);
    EXPECT_LE(tenure->act_until, kind_->now() + kLeaseLength - kLeaseMargin);
    EXPECT_GE(tenure->act_until, before + kLeaseLength - kLeaseMargin);
    EXPECT_FALSE(b_->try_acquire().value());
    const LeaseState seen = b_->observe().value();
    EXPECT_EQ(seen.holder, "a");
    EXPECT_EQ(seen.epoch, tenure->epoch);
    EXPECT_GT(seen.left, milliseconds(0));
    EXPECT_LE(seen.left, kLeaseLength);
}

TEST_P(LeaseContract, IsTakenByAnotherWhenItHasExpired) {
    const Tenure first = a_->try_acquire()->value();
    kind_->let_pass(kLeaseLength);
    EXPECT_EQ(b_->observe()->left, milliseconds(0));
    const std::optional<Tenure> second = b_->try_acquire().value();
    ASSERT_TRUE(second);
    EXPECT_GT(second->epoch, first.epoch);
    EXPECT_FALSE(a_->renew(first.epoch).value());
    EXPECT_TRUE(b_->renew(second->epoch).value());
    EXPECT_EQ(b_->observe()->holder, "b");
}

TEST_P(LeaseContract, IsKeptByRenewals) {
    const Tenure tenure = a_->try_acquire()->value();
    for (int i = 0; i < 3; ++i) {
        kind_->let_pass(kLeaseLength / 2);
        const std::optional<Tenure> longer = a_->renew(tenure.epoch).value();
        ASSERT_TRUE(longer);
        EXPECT_EQ(longer->epoch, tenure.epoch);
        EXPECT_GT(longer->act_until, tenure.act_until);
        EXPECT_FALSE(b_->try_acquire().value());
    }
}

// The holder was late, but no other controller was there.
TEST_P(LeaseContract, IsRenewedAfterItsEndIfNobodyTookIt) {
    const Tenure tenure = a_->try_acquire()->value();
    kind_->let_pass(2 * kLeaseLength);
    EXPECT_TRUE(a_->renew(tenure.epoch).value());
    EXPECT_FALSE(b_->try_acquire().value());
}

TEST_P(LeaseContract, IsFreeAtOnceWhenItIsReleased) {
    const Tenure first = a_->try_acquire()->value();
    ASSERT_TRUE(a_->release(first.epoch));
    EXPECT_EQ(b_->observe()->holder, "");
    EXPECT_FALSE(a_->renew(first.epoch).value()) << "it was released";
    const std::optional<Tenure> second = b_->try_acquire().value();
    ASSERT_TRUE(second);
    ASSERT_TRUE(a_->release(first.epoch));
    EXPECT_EQ(b_->observe()->holder, "b") << "the release of an earlier tenure has no effect";
}

TEST_P(LeaseContract, MayBeTakenAgainByItsHolder) {
    const Tenure first = a_->try_acquire()->value();
    const std::optional<Tenure> second = a_->try_acquire().value();
    ASSERT_TRUE(second);
    EXPECT_GT(second->epoch, first.epoch);
    EXPECT_FALSE(a_->renew(first.epoch).value());
}

TEST_P(LeaseContract, TellsTheHolderWhoAsksForIt) {
    const Tenure first = a_->try_acquire()->value();
    ASSERT_TRUE(b_->request_takeover());
    EXPECT_EQ(a_->observe()->requested_by, "b");
    ASSERT_TRUE(a_->renew(first.epoch).value());
    EXPECT_EQ(a_->observe()->requested_by, "b") << "a renewal does not answer it";
    ASSERT_TRUE(a_->release(first.epoch));
    ASSERT_TRUE(b_->try_acquire().value());
    EXPECT_EQ(b_->observe()->requested_by, "");
}

TEST_P(LeaseContract, FencesTheCommitsOfEarlierHolders) {
    const Tenure first = a_->try_acquire()->value();
    Batch batch = batch_of({simple_job(1)});
    batch.epoch = first.epoch;
    ASSERT_TRUE(kind_->store().load());
    EXPECT_TRUE(kind_->store().commit(batch));
    const StateVersion version = b_->observe()->version;
    kind_->let_pass(kLeaseLength);
    const Tenure second = b_->try_acquire()->value();
    EXPECT_EQ(kind_->store().commit(batch).kind, CommitOutcome::Kind::Fenced);
    EXPECT_EQ(b_->observe()->version, version);
    batch.epoch = second.epoch;
    EXPECT_TRUE(kind_->store().commit(batch));
    EXPECT_GT(a_->observe()->version, version);
}

// ---- PostgreSQL alone

class PostgresqlLease : public testing::Test {
protected:
    void SetUp() override {
        if (!has_postgresql()) GTEST_SKIP() << "PostgreSQL is not installed";
        kind_ = std::make_unique<PostgresqlKind>();
        a_ = kind_->lease("a");
        b_ = kind_->lease("b");
        tenure_ = a_->try_acquire()->value();
    }
    // As when the server was started again, or another one was promoted, whose clock is ahead.
    void change_server() {
        run_shared(kind_->where(),
                   "UPDATE lease SET server = server - interval '1 day', expires = "
                   "clock_timestamp() - interval '1 hour'");
    }
    std::unique_ptr<PostgresqlKind> kind_;
    std::unique_ptr<Lease> a_, b_;
    Tenure tenure_;
};

TEST_F(PostgresqlLease, IsValidOnceMoreOnAnotherServer) {
    change_server();
    EXPECT_EQ(b_->observe()->left, kLeaseLength) << "times of two clocks are not compared";
    EXPECT_FALSE(b_->try_acquire().value());
    EXPECT_FALSE(b_->try_acquire().value()) << "it now has a time of this server";
    kind_->let_pass(kLeaseLength);
    EXPECT_TRUE(b_->try_acquire().value());
}

TEST_F(PostgresqlLease, IsRenewedOnAnotherServer) {
    change_server();
    EXPECT_TRUE(a_->renew(tenure_.epoch).value());
    EXPECT_FALSE(b_->try_acquire().value());
}

TEST_F(PostgresqlLease, IsTakenAtOnceOnAnotherServerIfItIsReleased) {
    ASSERT_TRUE(a_->release(tenure_.epoch));
    change_server();
    EXPECT_TRUE(b_->try_acquire().value());
}

// The holder was stopped, or cut off, in the middle of a commit.
TEST_F(PostgresqlLease, EndsTheOpenTransactionOfAnEarlierHolder) {
    auto stopped = sql::open(target_of(kind_->where())).value();
    ASSERT_TRUE(stopped->begin());
    ASSERT_TRUE(stopped->run("UPDATE writer SET version = version + 1"));
    EXPECT_FALSE(b_->try_acquire().value());
    ASSERT_TRUE(stopped->run("SELECT 1")) << "only when the lease is free";
    kind_->let_pass(kLeaseLength);
    EXPECT_TRUE(b_->try_acquire().value());
    EXPECT_FALSE(stopped->commit());
    EXPECT_EQ(b_->observe()->version, 0u);
}

TEST_F(PostgresqlLease, SurvivesTheLossOfItsConnection) {
    run_shared(kind_->where(),
               "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
               "pg_backend_pid() AND backend_type = 'client backend'");
    EXPECT_FALSE(a_->renew(tenure_.epoch)) << "it is not known whether it was renewed";
    EXPECT_TRUE(a_->renew(tenure_.epoch).value());
}

}  // namespace
}  // namespace sluice
