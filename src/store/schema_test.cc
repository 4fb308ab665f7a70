// store/schema_test.cc
//
// Files of other versions: those of older releases are kept in tests/data/store and are opened
// here, newer ones are refused. The file of the current version is written by
//   store_test --gtest_also_run_disabled_tests --gtest_filter='*WriteTheFileOfThisVersion'
#include "store/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "model/errors.h"
#include "store/lease.h"
#include "store/sqlite_file.h"
#include "store/store.h"
#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;

const Blob kScript = blob_of("#!/bin/sh\nsrun hostname\n");

// ---- what the file of version 4 holds. Never changed: later members have their default values.

Job running_job() {
    Job job = simple_job(11, kScript.hash);
    job.user = UserId{1000};
    job.group = GroupId{100};
    job.state = JobState::Running;
    job.partition = "main";
    job.time_limit = TimeLimit{Seconds{3600}};
    job.priority = 4000;
    job.eligible_time = from_unix(1'700'000'001);
    job.idempotency_key = std::string("key\0with zero", 13);
    job.run.restarts = 1;
    job.run.sluid = 0x123456789abcdef0;
    job.run.start_time = from_unix(1'700'000'010);
    job.run.launched = true;
    const NodeShare head{.node = NodeIndex{1},
                         .tasks = 2,
                         .cpus = {0, 1, 300},
                         .memory = 2048,
                         .gres = {{"gpu", "a40", {0, 3}, 2}}};
    const NodeShare other{
        .node = NodeIndex{3}, .tasks = 1, .cpus = {4}, .memory = 1024, .gres = {}};
    job.run.allocation =
        std::make_shared<const Allocation>(Allocation{{head, other}, "gpu1,n1", 1});
    const Step step{.id = StepId{0},
                    .name = "hostname",
                    .user = UserId{1000},
                    .nodes = {other},
                    .node_names = "gpu1",
                    .tasks = 1,
                    .start_time = from_unix(1'700'000'020),
                    .nodes_left = {NodeIndex{3}}};
    job.run.steps = {std::make_shared<const Step>(step)};
    job.run.next_step = 1;
    return job;
}

Job waiting_array() {
    Job job = simple_job(12);
    job.reason = Reason::Dependency;
    job.array_job = job.id;
    job.array_tasks = TaskSet::parse("0-9:3,20").value();
    job.array_limit = 2;
    job.dependency.left = {{.kind = DependencyKind::AfterOk, .job = JobId{11}}};
    return job;
}

Batch content() {
    Batch batch = batch_of({running_job(), waiting_array()}, {kScript});
    batch.changes.nodes = {
        {NodeIndex{2}, {.name = "n2", .admin_flags = kNodeDrain, .reason = "bad disk"}}};
    batch.changes.reservations = {
        Reservation{.number = 1, .name = "course", .node_names = "n[1-2]", .users = {UserId{7}}}};
    batch.changes.policy = std::make_shared<const Policy>(
        Policy{.qos = {Qos{.id = 1, .name = "normal"}}, .next_id = 2});
    batch.changes.next_job_id = 13;
    batch.changes.facts = {AccountedJob{.job = JobId{11}, .name = "kept"}};
    return batch;
}

std::string kept_file(std::uint32_t version) {
    return fmt::format("{}/sluice-v{}.db", STORE_DATA_DIR, version);
}

TEST(Schema, DISABLED_WriteTheFileOfThisVersion) {
    const StateDirectory directory;
    {
        const auto store = open_sqlite(directory.path()).value();
        ASSERT_TRUE(store->load());
        ASSERT_TRUE(store->commit(content()));
    }
    // Small, and without a log beside it.
    run_sql(directory.file(), "PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM");
    std::filesystem::copy_file(directory.file(), kept_file(kSchema));
}

// Equal values give equal bytes.
void expect_content(const StoredState& state) {
    const Batch expected = content();
    EXPECT_TRUE(state.damaged.empty());
    ASSERT_EQ(state.jobs.size(), 2u);
    for (std::size_t i = 0; i < state.jobs.size(); ++i) {
        EXPECT_EQ(to_record(state.jobs[i].job, state.jobs[i].nodes),
                  to_record(*expected.changes.jobs[i], *node_names()));
    }
    EXPECT_EQ(state.jobs[0].nodes, (NodeNames{"n1", "gpu1"}));
    EXPECT_EQ(state.nodes, std::vector{expected.changes.nodes[0].record});
    EXPECT_EQ(state.reservations, expected.changes.reservations);
    ASSERT_NE(state.policy, nullptr);
    EXPECT_EQ(*state.policy, *expected.changes.policy) << "version 4 had rows of QOS";
    EXPECT_EQ(state.next_job_id, 13u);
}

TEST(Schema, TheFileOfEachOlderVersionOpensAndGivesAllRecords) {
    for (std::uint32_t version = 4; version < kSchema; ++version) {
        SCOPED_TRACE(version);
        const StateDirectory directory;
        std::filesystem::copy_file(kept_file(version), directory.file());
        const auto store = open_sqlite(directory.path()).value();
        ASSERT_TRUE(store->take_epoch());
        expect_content(store->load().value());
        EXPECT_EQ(store->blob(kScript.hash).value(), kScript.bytes);
        EXPECT_EQ(store->facts(0, 10)->size(), version < 5 ? 0u : 1u)
            << "facts came with version 5";
    }
}

// ---- steps from one version to the next

const MigrationStep kTwoSteps[] = {
    {kSchema, [](Database& database) { return database.execute("CREATE TABLE added (a)"); }},
    {kSchema + 1,
     [](Database& database) { return database.execute("INSERT INTO added VALUES (7)"); }},
};

Result<std::int64_t> number_in(const std::string& file, const char* sql) {
    Database database = TRY(Database::open(file, SQLITE_OPEN_READWRITE));
    Statement query = TRY(database.prepare(sql));
    TRY(query.step());
    return query.number(0);
}
constexpr const char* kVersion = "SELECT value FROM meta WHERE key = 'schema'";

void make_file(const StateDirectory& directory) {
    ASSERT_TRUE(open_sqlite(directory.path()).value()->commit(batch_of({simple_job(1)})));
}

TEST(Schema, AnOlderFileIsMigratedAndACopyIsKept) {
    const StateDirectory directory;
    make_file(directory);
    const SchemaPlan plan{kSchema + 2, kTwoSteps};
    ASSERT_TRUE(open_database_file(directory.path(), plan));
    EXPECT_EQ(number_in(directory.file(), "SELECT a FROM added").value(), 7);
    EXPECT_EQ(number_in(directory.file(), kVersion).value(), kSchema + 2);
    const std::string copy = fmt::format("{}.v{}", directory.file(), kSchema);
    EXPECT_EQ(number_in(copy, kVersion).value(), kSchema);
    EXPECT_EQ(number_in(copy, "SELECT count(*) FROM jobs").value(), 1);
    struct stat facts {};
    ASSERT_EQ(stat(copy.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
    ASSERT_TRUE(open_database_file(directory.path(), plan)) << "and is left alone after that";
}

TEST(Schema, AFileWhoseMigrationFailsIsUnchanged) {
    const StateDirectory directory;
    make_file(directory);
    const MigrationStep failing[] = {
        kTwoSteps[0], {kSchema + 1, [](Database& database) { return database.execute("noise"); }}};
    const auto refused = open_database_file(directory.path(), {kSchema + 2, failing});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("it is unchanged"), std::string::npos)
        << refused.error().detail;
    EXPECT_EQ(number_in(directory.file(), kVersion).value(), kSchema);
    EXPECT_FALSE(number_in(directory.file(), "SELECT a FROM added"));
    EXPECT_EQ(open_sqlite(directory.path()).value()->load()->jobs.size(), 1u);
}

TEST(Schema, ANewerFileIsRefused) {
    const StateDirectory directory;
    make_file(directory);
    run_sql(directory.file(), "UPDATE meta SET value = value + 1 WHERE key = 'schema'");
    const auto refused = open_sqlite(directory.path());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find(fmt::format(
                  "newer version (schema {}, this one knows {})", kSchema + 1, kSchema)),
              std::string::npos)
        << refused.error().detail;
}

TEST(Schema, AFileFromBeforeTheFirstReleaseIsRefused) {
    const StateDirectory directory;
    make_file(directory);
    for (const int version : {1, 2, 3}) {
        run_sql(directory.file(),
                fmt::format("UPDATE meta SET value = {} WHERE key = 'schema'", version));
        const auto refused = open_sqlite(directory.path());
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().detail.find("before the first release"), std::string::npos);
    }
}

// ---- a shared state

class SharedSchema : public testing::Test {
protected:
    void SetUp() override {
        if (!has_postgresql()) GTEST_SKIP() << "PostgreSQL is not installed";
        where_ = shared_state(directory_);
        const auto store = open_postgresql(where_).value();
        Batch batch = batch_of({simple_job(1)});
        batch.epoch = store->take_epoch().value();
        ASSERT_TRUE(store->load());
        ASSERT_TRUE(store->commit(batch));
    }
    Result<std::int64_t> number(const std::string& statement) {
        const auto database = TRY(sql::open(target_of(where_)));
        std::int64_t found = 0;
        TRY(database->query(statement, {}, [&](const sql::RowView& row) -> Result<void> {
            found = row.number(0);
            return {};
        }));
        return found;
    }
    const StateDirectory directory_;
    SharedState where_;
};

// A step may take longer than the lease waits for an answer.
const SharedMigration kTwoSharedSteps[] = {
    {kSchema,
     [](sql::Database& database) -> Result<void> {
         TRY(database.run("SELECT pg_sleep(2)"));
         TRY(database.run("CREATE TABLE added (a INTEGER)"));
         return {};
     }},
    {kSchema + 1,
     [](sql::Database& database) -> Result<void> {
         TRY(database.run("INSERT INTO added VALUES (7)"));
         return {};
     }},
};

TEST_F(SharedSchema, AnOlderStateIsMigratedByTheActiveController) {
    const auto newer = open_postgresql(where_, {kSchema + 2, kTwoSharedSteps});
    const auto standby = newer->changes_since(0);
    ASSERT_FALSE(standby);
    EXPECT_NE(standby.error().detail.find("when this controller becomes the active one"),
              std::string::npos)
        << standby.error().detail;
    EXPECT_EQ(number(kVersion).value(), kSchema);
    const Result<void> migrated = newer->migrate();
    ASSERT_TRUE(migrated) << migrated.error().detail;
    EXPECT_EQ(number("SELECT a FROM added").value(), 7);
    EXPECT_EQ(number(kVersion).value(), kSchema + 2);
    EXPECT_EQ(newer->changes_since(0)->changed.jobs.size(), 1u);
    ASSERT_TRUE(newer->migrate()) << "and is left alone after that";
    EXPECT_EQ(number("SELECT count(*) FROM added").value(), 1);
}

TEST_F(SharedSchema, AStateWhoseMigrationFailsIsUnchanged) {
    const SharedMigration failing[] = {kTwoSharedSteps[0],
                                       {kSchema + 1, [](sql::Database& database) -> Result<void> {
                                            TRY(database.run("noise"));
                                            return {};
                                        }}};
    EXPECT_FALSE(open_postgresql(where_, {kSchema + 2, failing})->migrate());
    EXPECT_EQ(number(kVersion).value(), kSchema);
    EXPECT_FALSE(number("SELECT a FROM added"));
    EXPECT_EQ(open_postgresql(where_).value()->load()->jobs.size(), 1u);
}

// By the store and by the lease, so that an older program does not become the active controller.
// Also on connections that are older than the migration.
TEST_F(SharedSchema, ANewerStateIsRefused) {
    const auto lease = postgresql_lease(where_, "a").value();
    ASSERT_TRUE(lease->observe());
    run_shared(where_, fmt::format("UPDATE meta SET value = {} WHERE key = 'schema'", kSchema + 1));
    const auto seen = lease->observe();
    const auto taken = lease->try_acquire();
    const auto read = open_postgresql(where_).value()->changes_since(0);
    ASSERT_FALSE(seen);
    ASSERT_FALSE(taken);
    ASSERT_FALSE(read);
    for (const Error& error : {seen.error(), taken.error(), read.error()}) {
        EXPECT_EQ(error.code, ErrorCode::ProtocolVersion);
        const std::string& why = error.detail;
        EXPECT_NE(why.find(fmt::format("newer version (schema {}, this one knows {}): upgrade this "
                                       "program",
                                       kSchema + 1, kSchema)),
                  std::string::npos)
            << why;
    }
}

}  // namespace
}  // namespace sluice
