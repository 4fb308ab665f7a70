// controller/lease_keeper_test.cc
//
// Who is the active controller, and how one finds out that it is no more. And the copy of the state
// that a standby keeps.
#include "controller/lease_keeper.h"

#include <gtest/gtest.h>

#include <future>

#include "controller/warm_state.h"
#include "model/errors.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;

// The lease in a database that may be away.
struct Table {
    std::mutex mutex;
    LeaseState state;
    bool is_away = false, renewals_fail = false;
    milliseconds tenure{60'000};
    int takes = 0, renewals = 0, releases = 0;
    std::function<void()> before_renewal = [] {};
};

class TableLease : public Lease {
public:
    TableLease(Table& table, std::string own) : table_(table), own_(std::move(own)) {}

    Result<LeaseState> observe() override {
        const std::lock_guard guard(table_.mutex);
        TRY(answer());
        return table_.state;
    }
    Result<std::optional<Tenure>> try_acquire() override {
        const std::lock_guard guard(table_.mutex);
        TRY(answer());
        if (table_.state.left > milliseconds{0} && table_.state.holder != own_)
            return std::optional<Tenure>();
        ++table_.takes;
        table_.state = {.holder = own_, .epoch = table_.state.epoch + 1, .left = table_.tenure};
        return std::optional(Tenure{table_.state.epoch, LeaseClock::now() + table_.tenure});
    }
    Result<std::optional<Tenure>> renew(Epoch epoch) override {
        table_.before_renewal();
        const std::lock_guard guard(table_.mutex);
        TRY(answer());
        if (table_.renewals_fail) return Error{ErrorCode::StoreFailed, "no answer"};
        if (epoch != table_.state.epoch) return std::optional<Tenure>();
        ++table_.renewals;
        return std::optional(Tenure{epoch, LeaseClock::now() + table_.tenure});
    }
    Result<void> release(Epoch) override {
        const std::lock_guard guard(table_.mutex);
        ++table_.releases;
        table_.state.left = milliseconds{0};
        return {};
    }
    Result<void> request_takeover() override {
        const std::lock_guard guard(table_.mutex);
        TRY(answer());
        table_.state.requested_by = own_;
        return {};
    }

private:
    Result<void> answer() const {
        if (table_.is_away) return Error{ErrorCode::StoreFailed, "away"};
        return {};
    }

    Table& table_;
    const std::string own_;
};

class Keepers : public testing::Test {
protected:
    std::unique_ptr<LeaseKeeper> keeper(const std::string& own) {
        return std::make_unique<LeaseKeeper>(std::make_unique<TableLease>(table_, own), own,
                                             std::vector<std::string>{"a", "b", "c"}, [] {});
    }
    template <typename Condition>
    static bool becomes_true(Condition condition) {
        const auto deadline = LeaseClock::now() + std::chrono::seconds(60);
        while (!condition()) {
            if (LeaseClock::now() > deadline) return false;
            std::this_thread::sleep_for(milliseconds{2});
        }
        return true;
    }
    void set(const std::function<void(Table&)>& change) {
        const std::lock_guard guard(table_.mutex);
        change(table_);
    }
    template <typename Member>
    auto get(Member Table::*member) {
        const std::lock_guard guard(table_.mutex);
        return table_.*member;
    }

    Table table_;
};

TEST_F(Keepers, AFreeLeaseIsTakenAndRenewed) {
    const auto a = keeper("a");
    EXPECT_FALSE(a->may_act());
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    EXPECT_TRUE(a->may_act());
    EXPECT_TRUE(becomes_true([&] { return get(&Table::renewals) >= 1; }));
    EXPECT_FALSE(a->is_lost());
    EXPECT_TRUE(becomes_true([&] { return a->active() == "a"; }));
}

TEST_F(Keepers, AnotherOnesLeaseIsLeftAloneUntilItHasExpired) {
    set([](Table& table) { table.state = {.holder = "a", .epoch = 7, .left = milliseconds{900}}; });
    const auto b = keeper("b");
    ASSERT_TRUE(becomes_true([&] { return b->active() == "a"; }));
    EXPECT_EQ(b->epoch(), 0u);
    EXPECT_FALSE(b->may_act());
    set([](Table& table) { table.state.left = milliseconds{0}; });
    EXPECT_TRUE(becomes_true([&] { return b->epoch() == 8; }));
}

TEST_F(Keepers, AControllerThatIsStartedAgainDoesNotWaitForItsOwnLease) {
    set([](Table& table) { table.state = {.holder = "b", .epoch = 7, .left = table.tenure}; });
    const auto b = keeper("b");
    EXPECT_TRUE(becomes_true([&] { return b->epoch() == 8; }));
}

TEST_F(Keepers, TheFirstOfSlurmConfHasPrecedence) {
    const auto c = keeper("c"), a = keeper("a"), b = keeper("b");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() != 0; }));
    EXPECT_EQ(get(&Table::takes), 1);
    EXPECT_EQ(b->epoch() + c->epoch(), 0u);
}

TEST_F(Keepers, ADatabaseThatIsAwayEndsTheTenureByTheClockOfThisHost) {
    set([](Table& table) { table.tenure = milliseconds{300}; });
    const auto a = keeper("a");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    set([](Table& table) { table.is_away = true; });
    EXPECT_TRUE(becomes_true([&] { return !a->may_act(); }));
    EXPECT_TRUE(a->is_lost());
    set([](Table& table) { table.is_away = false; });
    EXPECT_TRUE(a->is_lost());  // for good, although no other controller has it
}

// Its answer comes after the end of the tenure, when another thread has dropped what it had to do.
TEST_F(Keepers, ARenewalThatIsTooLateDoesNotBringTheTenureBack) {
    std::promise<void> end;
    table_.tenure = milliseconds{2000};
    table_.before_renewal = [&] {
        end.get_future().wait();
        set([](Table& table) { table.tenure = std::chrono::hours(1); });
    };
    const auto a = keeper("a");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    ASSERT_TRUE(becomes_true([&] { return !a->may_act(); }));
    end.set_value();
    a->stop(false);
    EXPECT_FALSE(a->may_act());
    EXPECT_TRUE(a->is_lost());
}

TEST_F(Keepers, ATenureThatIsOverInTheDatabaseEndsAtOnce) {
    const auto a = keeper("a");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    set([](Table& table) { table.state = {.holder = "b", .epoch = 2, .left = table.tenure}; });
    EXPECT_TRUE(becomes_true([&] { return a->is_lost(); }));
    EXPECT_FALSE(a->may_act());
}

TEST_F(Keepers, ATenureThatIsSeenToBeOverEndsWithoutARenewal) {
    set([](Table& table) { table.tenure = std::chrono::hours(1); });
    const auto a = keeper("a");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    set([](Table& table) {
        table.renewals_fail = true;
        table.state = {.holder = "b", .epoch = 2, .left = table.tenure};
    });
    EXPECT_TRUE(becomes_true([&] { return a->is_lost(); }));
}

TEST_F(Keepers, AReleasedLeaseIsTakenByTheOneThatAsksForIt) {
    auto a = keeper("a");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    const auto b = keeper("b"), c = keeper("c");
    ASSERT_TRUE(becomes_true([&] { return c->active() == "a"; }));
    EXPECT_EQ(a->successor(), "");
    c->ask_for_lease();
    ASSERT_TRUE(becomes_true([&] { return a->successor() == "c"; }));
    EXPECT_TRUE(a->may_act());  // it decides when
    a->stop(true);
    EXPECT_EQ(get(&Table::releases), 1);
    EXPECT_TRUE(becomes_true([&] { return c->epoch() == 2; }));
    EXPECT_EQ(b->epoch(), 0u);
}

TEST_F(Keepers, AControllerThatEndsOtherwiseKeepsIt) {
    auto a = keeper("a");
    ASSERT_TRUE(becomes_true([&] { return a->epoch() == 1; }));
    a.reset();
    EXPECT_EQ(get(&Table::releases), 0);
}

// ---- the copy of the state

StoredJob job_with(std::uint32_t id, std::string comment) {
    StoredJob stored;
    stored.job.id = JobId{id};
    stored.job.partition = std::move(comment);
    return stored;
}

TEST(WarmState, TakesUpChangesInTheirOrder) {
    WarmState warm;
    StateChanges first{.version = 4, .is_whole = true};
    first.changed.jobs = {job_with(1, "old"), job_with(2, "old"), job_with(3, "old")};
    first.changed.next_job_id = 4;
    first.changed.damaged = {{"job", "9", "unreadable"}, {"node", "n1", "unreadable"}};
    warm.apply(std::move(first));
    StateChanges second{.version = 6};
    second.changed.jobs = {job_with(2, "new"), job_with(9, "new")};
    second.changed.nodes = {StoredNode{.name = "n2"}};
    second.forgotten = {JobId{1}};
    warm.apply(std::move(second));
    EXPECT_EQ(warm.version(), 6u);
    const StoredState state = warm.take();
    ASSERT_EQ(state.jobs.size(), 3u);
    EXPECT_EQ(state.jobs[0].job.partition, "new");
    EXPECT_EQ(state.jobs[1].job.partition, "old");
    EXPECT_EQ(state.jobs[2].job.id, JobId{9});
    EXPECT_EQ(state.next_job_id, 4u);
    EXPECT_EQ(state.nodes.size(), 1u);
    ASSERT_EQ(state.damaged.size(), 1u);  // the job was written again
    EXPECT_EQ(state.damaged[0].key, "n1");
}

TEST(WarmState, AWholeStateReplacesWhatWasKnown) {
    WarmState warm;
    StateChanges first{.version = 4, .is_whole = true};
    first.changed.jobs = {job_with(1, "old")};
    warm.apply(std::move(first));
    StateChanges again{.version = 90, .is_whole = true};
    again.changed.jobs = {job_with(8, "new")};
    warm.apply(std::move(again));
    const StoredState state = warm.take();
    ASSERT_EQ(state.jobs.size(), 1u);
    EXPECT_EQ(state.jobs[0].job.id, JobId{8});
}

}  // namespace
}  // namespace sluice
