// store/contract_test.cc
//
// What every store promises (store.h), asked of each kind. A new kind of store is one more entry of
// kKinds.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "model/accounted_fields.h"
#include "model/errors.h"
#include "model/policy_fields.h"
#include "protocol/arbitrary.h"
#include "store/store.h"
#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;

struct StoreKind {
    const char* name;
    std::unique_ptr<Store> (*open)(const StateDirectory& directory);
    bool survives_closing;
    bool shared;  // by several controllers
    // Overwrites the row of a job or of another record with bytes, while the store is closed.
    void (*damage)(const StateDirectory& directory, const char* table, const char* bytes);
};

const StoreKind kKinds[] = {
    {"Memory", [](const StateDirectory&) { return memory_store(); }, false, true, nullptr},
    {"Sqlite", [](const StateDirectory& at) { return open_sqlite(at.path()).value(); }, true, false,
     [](const StateDirectory& at, const char* table, const char* bytes) {
         run_sql(at.file(), fmt::format("UPDATE {} SET data = x'{}'", table, bytes));
     }},
    {"Postgresql",
     [](const StateDirectory& at) { return open_postgresql(shared_state(at)).value(); }, true, true,
     [](const StateDirectory& at, const char* table, const char* bytes) {
         run_shared(shared_state(at), fmt::format("UPDATE {} SET data = '\\x{}'", table, bytes));
     }},
};

class StoreContract : public testing::TestWithParam<StoreKind> {
protected:
    void SetUp() override {
        if (std::string_view(GetParam().name) == "Postgresql" && !has_postgresql())
            GTEST_SKIP() << "PostgreSQL is not installed";
        open();
    }

    void open() {
        store_ = nullptr;  // closed before it is opened again
        store_ = GetParam().open(directory_);
        take_epoch();
    }
    void take_epoch() { epoch_ = store_->take_epoch().value(); }
    // As after a restart, where that is possible.
    StoredState reloaded() {
        if (GetParam().survives_closing) open();
        return store_->load().value();
    }
    CommitOutcome commit(Batch batch) {
        batch.epoch = epoch_;
        return store_->commit(batch);
    }
    bool has_blob(const Blob& blob) { return store_->has_blob(blob.hash).value(); }

    StateDirectory directory_;
    std::unique_ptr<Store> store_;
    Epoch epoch_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

// Field by field, except that shared values are compared by what they hold.
void expect_same(const Job& job, const Job& original) {
    RC_ASSERT(*job.request == *original.request);
    RC_ASSERT(*job.details == *original.details);
    RC_ASSERT(!job.run.allocation == !original.run.allocation);
    if (job.run.allocation) RC_ASSERT(*job.run.allocation == *original.run.allocation);
    RC_ASSERT(job.run.steps.size() == original.run.steps.size());
    for (std::size_t i = 0; i < job.run.steps.size(); ++i) {
        RC_ASSERT(*job.run.steps[i] == *original.run.steps[i]);
    }
    Job same = job;
    same.request = original.request;
    same.details = original.details;
    same.run.allocation = original.run.allocation;
    same.run.steps = original.run.steps;
    RC_ASSERT(same == original);
}

// ---- records

TEST_P(StoreContract, StartsEmpty) {
    const StoredState state = store_->load().value();
    EXPECT_TRUE(state.jobs.empty() && state.nodes.empty() && state.damaged.empty());
    EXPECT_EQ(state.next_job_id, 0u);
}

TEST_P(StoreContract, GivesJobsBackUnchangedAndByTheirIds) {
    EXPECT_TRUE(rc::check([&] {
        const std::vector<Job> jobs = {arbitrary_job(12), arbitrary_job(3), arbitrary_job(7)};
        RC_ASSERT(bool(commit(batch_of(jobs))));
        const StoredState state = store_->load().value();
        RC_ASSERT(state.jobs.size() == jobs.size());
        for (const auto& [place, original] : {std::pair{2u, 0u}, {0u, 1u}, {1u, 2u}}) {
            const StoredJob expected = stored_form(jobs[original], *node_names());
            RC_ASSERT(state.jobs[place].nodes == expected.nodes);
            expect_same(state.jobs[place].job, expected.job);
        }
    }));
}

TEST_P(StoreContract, KeepsTheLastVersionAndForgetsWhatIsForgotten) {
    ASSERT_TRUE(commit(batch_of({simple_job(1), simple_job(2)})));
    Job changed = simple_job(2);
    changed.priority = 99;
    Batch batch = batch_of({changed});
    batch.changes.forgotten = {JobId{1}};
    ASSERT_TRUE(commit(batch));
    const StoredState state = reloaded();
    ASSERT_EQ(state.jobs.size(), 1u);
    EXPECT_EQ(state.jobs[0].job.id, JobId{2});
    EXPECT_EQ(state.jobs[0].job.priority, 99u);
}

TEST_P(StoreContract, KeepsNodesByNameAndTheNextJobId) {
    const StoredNode drained{.name = "n2",
                             .admin_flags = kNodeDrain,
                             .down = true,
                             .reason = "bad disk",
                             .reason_time = from_unix(1'700'000'000),
                             .reason_user = UserId{1000},
                             .comment = "rack 7"};
    const StoredNode other{.name = "n1", .features = std::vector<std::string>{"a40"}};
    Batch batch;
    batch.changes.nodes = {{NodeIndex{2}, drained}, {NodeIndex{1}, other}};
    batch.changes.next_job_id = 4711;
    ASSERT_TRUE(commit(batch));
    const StoredState state = reloaded();
    EXPECT_EQ(state.next_job_id, 4711u);
    EXPECT_EQ(state.nodes, (std::vector{other, drained}));
}

Reservation course() {
    Reservation reservation{.number = 3, .name = "course"};
    reservation.start = from_unix(1'700'000'000);
    reservation.end = from_unix(1'700'003'600);
    reservation.flags = kResvDaily | kResvSpecNodes;
    reservation.node_names = "n[1-4]";
    reservation.users = {UserId{0}, UserId{1000}};
    reservation.groups = {{"staff", {UserId{1000}, UserId{1001}}}};
    reservation.licenses = "matlab:2,ansys";
    reservation.cores = {{"n1", 4}, {"n2", 2}};
    reservation.gres = {{"gpu", "a40", 8}};
    return reservation;
}

TEST_P(StoreContract, KeepsReservationsByNameUntilTheyAreGone) {
    Reservation other = course();
    other.name = "another";
    Batch both, fewer;
    both.changes.reservations = {course(), other};
    fewer.changes.reservations_gone = {"another"};
    ASSERT_TRUE(commit(both));
    EXPECT_EQ(reloaded().reservations, (std::vector{other, course()}));
    ASSERT_TRUE(commit(fewer));
    EXPECT_EQ(reloaded().reservations, std::vector{course()});
}

TEST_P(StoreContract, GivesReservationsAndThePolicyBackUnchanged) {
    EXPECT_TRUE(rc::check([&] {
        auto reservation = arbitrary::fields<Reservation>();
        reservation.node_names = "n[1-4]";  // lists that are read
        reservation.licenses = "matlab:2";
        Policy policy;
        policy.version = 7;
        policy.qos = {arbitrary::fields<Qos>()};
        policy.associations = {arbitrary::fields<Association>()};
        policy.users = {arbitrary::fields<PolicyUser>()};
        Batch batch;
        batch.changes.reservations = {reservation};
        batch.changes.policy = std::make_shared<const Policy>(policy);
        RC_ASSERT(bool(commit(batch)));
        const StoredState state = store_->load().value();
        RC_ASSERT(state.reservations == std::vector{reservation});
        RC_ASSERT(state.policy && *state.policy == policy);
        batch.changes.reservations.clear();
        batch.changes.reservations_gone = {reservation.name};
        RC_ASSERT(bool(commit(batch)));
    }));
}

TEST_P(StoreContract, KeepsTheLastPolicyWhenOthersChange) {
    EXPECT_EQ(reloaded().policy, nullptr) << "none was committed";
    Batch first, second;
    first.changes.policy = std::make_shared<const Policy>(
        Policy{.version = 1, .associations = {{.id = 1, .account = "root"}}});
    second.changes.policy = std::make_shared<const Policy>(Policy{
        .version = 2, .associations = {{.id = 1, .account = "root"}, {.id = 2, .parent = 1}}});
    ASSERT_TRUE(commit(first));
    ASSERT_TRUE(commit(second));
    ASSERT_TRUE(commit(batch_of({simple_job(1)})));
    const StoredState state = reloaded();
    ASSERT_NE(state.policy, nullptr);
    EXPECT_EQ(*state.policy, *second.changes.policy);
}

// ---- facts for accounting

std::vector<std::uint64_t> numbers_of(const std::vector<NumberedFact>& facts) {
    std::vector<std::uint64_t> numbers;
    for (const NumberedFact& each : facts) numbers.push_back(each.sequence);
    return numbers;
}

TEST_P(StoreContract, GivesFactsBackUnchanged) {
    EXPECT_TRUE(rc::check([&] {
        const std::vector<Fact> given = {
            arbitrary::fields<AccountedJob>(), arbitrary::fields<AccountedStep>(),
            arbitrary::fields<AccountedEvent>(), arbitrary::fields<AccountedReservation>()};
        Batch batch = batch_of({});
        batch.changes.facts = given;
        RC_ASSERT(bool(commit(batch)));
        const std::vector<NumberedFact> kept = store_->facts(0, 10).value();
        RC_ASSERT(kept.size() == given.size());
        for (std::size_t i = 0; i < kept.size(); ++i) RC_ASSERT(kept[i].fact == given[i]);
        Batch done;
        done.changes.delivered = kept.back().sequence;
        RC_ASSERT(bool(commit(done)));
    }));
}

TEST_P(StoreContract, NumbersFactsOnceAndKeepsThemUntilTheyAreDelivered) {
    Batch batch = batch_of({});
    batch.changes.facts = {AccountedJob{.job = JobId{3}}, AccountedJob{.job = JobId{4}},
                           AccountedJob{.job = JobId{3}}};
    ASSERT_TRUE(commit(batch));
    using Numbers = std::vector<std::uint64_t>;
    EXPECT_EQ(numbers_of(store_->facts(0, 10).value()), (Numbers{1, 2, 3}));
    EXPECT_EQ(numbers_of(store_->facts(1, 1).value()), Numbers{2});
    EXPECT_EQ(store_->fact_count().value(), 3u);
    Batch done;
    done.changes.delivered = 2;
    ASSERT_TRUE(commit(done));
    EXPECT_EQ(numbers_of(store_->facts(0, 10).value()), Numbers{3});
    EXPECT_EQ(store_->fact_count().value(), 1u);
    done.changes.delivered = 3;
    ASSERT_TRUE(commit(done));
    EXPECT_TRUE(store_->facts(0, 10)->empty());
    EXPECT_EQ(store_->fact_count().value(), 0u);
    ASSERT_TRUE(commit(batch));
    EXPECT_EQ(numbers_of(store_->facts(0, 10).value()), (Numbers{4, 5, 6})) << "none is used twice";
}

// ---- blobs

TEST_P(StoreContract, KeepsABlobAsLongAsAJobNamesIt) {
    const Blob script = blob_of(std::string("#!/bin/sh\n\0x", 12));
    ASSERT_TRUE(
        commit(batch_of({simple_job(1, script.hash), simple_job(2, script.hash)}, {script})));
    reloaded();
    Batch forget;
    forget.changes.forgotten = {JobId{1}};
    ASSERT_TRUE(commit(forget));
    EXPECT_EQ(store_->blob(script.hash).value(), script.bytes);
    forget.changes.forgotten = {JobId{2}};
    ASSERT_TRUE(commit(forget));
    EXPECT_FALSE(has_blob(script));
    EXPECT_EQ(store_->blob(script.hash).error().code, ErrorCode::NotFound);
}

TEST_P(StoreContract, KeepsABlobThatAnotherJobTakesOverInOneBatch) {
    const Blob script = blob_of("script");
    ASSERT_TRUE(commit(batch_of({simple_job(1, script.hash)}, {script})));
    Batch batch = batch_of({simple_job(2, script.hash)}, {script});
    batch.changes.forgotten = {JobId{1}};
    ASSERT_TRUE(commit(batch));
    EXPECT_EQ(store_->blob(script.hash).value(), "script");

    ASSERT_TRUE(commit(batch_of({simple_job(2)})));
    EXPECT_FALSE(has_blob(script)) << "the job now has another request";
}

// ---- epochs

TEST_P(StoreContract, TakesBatchesOfTheLastWriterOnly) {
    ASSERT_TRUE(commit(batch_of({simple_job(1)})));
    const Epoch first = epoch_;
    take_epoch();
    EXPECT_GT(epoch_, first);
    const Blob script = blob_of("script");
    Batch late = batch_of({simple_job(2, script.hash)}, {script});
    late.epoch = first;
    const CommitOutcome refused = store_->commit(late);
    EXPECT_EQ(refused.kind, CommitOutcome::Kind::Fenced);
    EXPECT_NE(refused.why.find("another controller"), std::string::npos) << refused.why;
    EXPECT_FALSE(has_blob(script)) << "nothing of the batch is kept";
    EXPECT_EQ(store_->load()->jobs.size(), 1u);
    EXPECT_TRUE(commit(late)) << "in the name of the second writer";
    EXPECT_EQ(reloaded().jobs.size(), 2u);
}

TEST_P(StoreContract, EachWriterTakesALaterEpoch) {
    const Epoch first = epoch_;
    reloaded();
    EXPECT_GE(epoch_, first);
    EXPECT_EQ(epoch_ > first, GetParam().survives_closing);
}

// ---- changes for a standby

TEST_P(StoreContract, GivesAStandbyWhatHasChangedSinceAVersion) {
    if (!GetParam().shared) {
        EXPECT_EQ(store_->changes_since(0).error().code, ErrorCode::BadArgument);
        return;
    }
    Batch first = batch_of({simple_job(1), simple_job(2)});
    first.changes.nodes = {{NodeIndex{1}, {.name = "n1"}}};
    first.changes.reservations = {course()};
    first.changes.usage = {{.of = UsageOf::Qos, .id = 3, .amounts = {.wall_seconds = 5}}};
    first.changes.triggers = {Trigger{.id = 7, .wanted = {.program = "/bin/true"}}};
    first.changes.next_job_id = 3;
    ASSERT_TRUE(commit(first));
    const StateChanges whole = store_->changes_since(0).value();
    EXPECT_TRUE(whole.is_whole);
    EXPECT_EQ(whole.changed.jobs.size(), 2u);
    EXPECT_EQ(whole.changed.nodes.size(), 1u);
    EXPECT_EQ(whole.changed.reservations, std::vector{course()});
    EXPECT_EQ(whole.changed.usage, first.changes.usage);
    EXPECT_EQ(whole.changed.triggers, first.changes.triggers);
    EXPECT_EQ(whole.changed.next_job_id, 3u);

    const StateChanges none = store_->changes_since(whole.version).value();
    EXPECT_FALSE(none.is_whole);
    EXPECT_EQ(none.version, whole.version);
    EXPECT_TRUE(none.changed.jobs.empty() && none.changed.nodes.empty() && none.forgotten.empty());

    Batch second = batch_of({simple_job(3)});
    second.changes.forgotten = {JobId{1}};
    second.changes.reservations_gone = {"course"};
    second.changes.triggers_gone = {7};
    second.changes.usage = {{.of = UsageOf::Qos, .id = 3}};
    second.changes.policy = std::make_shared<const Policy>(Policy{.version = 9});
    ASSERT_TRUE(commit(second));
    const StateChanges more = store_->changes_since(whole.version).value();
    EXPECT_FALSE(more.is_whole);
    EXPECT_GT(more.version, whole.version);
    EXPECT_EQ(more.version, store_->version().value());
    ASSERT_EQ(more.changed.jobs.size(), 1u);
    EXPECT_EQ(more.changed.jobs[0].job.id, JobId{3});
    EXPECT_TRUE(more.changed.nodes.empty() && more.changed.reservations.empty());
    EXPECT_EQ(more.forgotten, std::vector{JobId{1}});
    EXPECT_EQ(more.reservations_gone, std::vector<std::string>{"course"});
    EXPECT_EQ(more.usage_gone, std::vector<std::string>{"qos 3"});
    EXPECT_EQ(more.triggers_gone, std::vector{7u});
    ASSERT_TRUE(more.changed.policy);
    EXPECT_EQ(more.changed.policy->version, 9u);
    EXPECT_EQ(more.changed.next_job_id, 3u);
    EXPECT_EQ(store_->changes_since(more.version)->changed.policy, nullptr);
}

TEST_P(StoreContract, KeepsOneLaunchKey) {
    if (std::string_view(GetParam().name) != "Postgresql") GTEST_SKIP() << "it is not shared";
    const std::string key("0123456789abcdef\0\n23456789abcdef", 32);
    EXPECT_EQ(store_->launch_key(key).value(), key);
    EXPECT_EQ(store_->launch_key("another").value(), key);
    open();
    EXPECT_EQ(store_->launch_key("another").value(), key);
}

// ---- damage

// One row that cannot be read keeps neither the others nor the cluster from starting.
TEST_P(StoreContract, SetsDamagedRowsAside) {
    if (!GetParam().damage) GTEST_SKIP() << "its rows cannot be reached";
    const Blob script = blob_of("#!/bin/sh\n");
    Batch batch = batch_of({simple_job(2, script.hash)}, {script});
    batch.changes.nodes = {{NodeIndex{1}, {.name = "n1"}}};
    batch.changes.reservations = {course()};
    batch.changes.policy = std::make_shared<const Policy>();
    ASSERT_TRUE(commit(batch));
    store_ = nullptr;
    for (const char* table : {"jobs", "nodes", "reservations", "policy"})
        GetParam().damage(directory_, table, "ffffff");
    reloaded();
    ASSERT_TRUE(commit(batch_of({simple_job(1), simple_job(3)})));
    for (int restart = 0; restart < 2; ++restart) {
        const StoredState state = reloaded();
        ASSERT_EQ(state.jobs.size(), 2u);
        EXPECT_EQ(state.jobs[0].job.id, JobId{1});
        EXPECT_EQ(state.jobs[1].job.id, JobId{3});
        EXPECT_TRUE(state.nodes.empty() && state.reservations.empty() && !state.policy);
        ASSERT_EQ(state.damaged.size(), 4u);
        EXPECT_EQ(state.damaged[0], (DamagedRow{"job", "2", "it cannot be decoded"}));
        EXPECT_EQ(state.damaged[1].key, "n1");
        EXPECT_EQ(state.damaged[2].key, "1");
        EXPECT_EQ(state.damaged[3].key, "course");
        EXPECT_TRUE(has_blob(script)) << "what the damaged job may name stays";
    }
}

// ---- the memory store alone

// Simulations and tests use this store: it finds what a restart would refuse when it is written.
TEST(MemoryStore, RefusesARowThatCouldNotBeReadBack) {
    const auto store = memory_store();
    Job job = simple_job(1);
    job.run.suspended = Seconds{-1};
    EXPECT_EQ(store->commit(batch_of({job})).kind, CommitOutcome::Kind::Retry);
    job.run.suspended = Seconds{0};
    job.admin_comment = std::string(sizes::kGenerated + 1, 'x');
    ASSERT_FALSE(store->commit(batch_of({job})));
    job.admin_comment.pop_back();
    EXPECT_TRUE(store->commit(batch_of({job})));
    EXPECT_EQ(store->load()->jobs.size(), 1u);
}

TEST(BlobHash, IsSha256) {
    EXPECT_EQ(blob_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sluice
