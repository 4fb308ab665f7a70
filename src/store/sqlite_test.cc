// store/sqlite_test.cc
//
// What can happen to a file: restarts, crashes, a full disk, damage, two owners, newer versions.
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "model/errors.h"
#include "store/sqlite_file.h"
#include "store/store.h"
#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;

std::unique_ptr<Store> open_loaded(const std::string& directory) {
    auto store = open_sqlite(directory).value();
    EXPECT_TRUE(store->load());
    return store;
}

TEST(Sqlite, TheFileIsPrivate) {
    const StateDirectory directory;
    open_loaded(directory.path());
    struct stat facts {};
    ASSERT_EQ(stat(directory.file().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST(Sqlite, SweepsBlobsThatNobodyNames) {
    const StateDirectory directory;
    const Blob orphan = blob_of("of a submission that came to nothing");
    ASSERT_TRUE(open_loaded(directory.path())->commit(batch_of({}, {orphan})));
    EXPECT_FALSE(open_loaded(directory.path())->has_blob(orphan.hash).value());
}

TEST(Sqlite, ADirectoryHasOneOwner) {
    const StateDirectory directory;
    auto first = open_sqlite(directory.path());
    const auto second = open_sqlite(directory.path());
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().detail.find("process " + std::to_string(getpid())), std::string::npos)
        << second.error().detail;
    first.value().reset();
    EXPECT_TRUE(open_sqlite(directory.path()));
}

TEST(Sqlite, ADirectoryThatCannotBeMadeIsNamed) {
    const auto failed = open_sqlite("/proc/nowhere/state");
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().detail.find("/proc/nowhere/state"), std::string::npos);
}

// Every kind of damage is an error that names the file; none is taken for an empty store.
TEST(Sqlite, DamageIsReportedNeverOverwritten) {
    struct Damage {
        const char* name;
        void (*inflict)(const std::string& file);
    };
    const Damage damages[] = {
        {"emptied", [](const std::string& file) { std::ofstream(file, std::ios::trunc); }},
        {"another file", [](const std::string& file) { std::ofstream(file) << "not a database"; }},
        {"cut short",
         [](const std::string& file) {
             std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
         }},
        {"overwritten",
         [](const std::string& file) {
             std::fstream stream(file, std::ios::in | std::ios::out);
             stream.seekp(4096);
             for (int i = 0; i < 16384; ++i) stream.put('\x5a');
         }},
        {"another program's", [](const std::string& file) { run_sql(file, "DROP TABLE meta"); }},
    };
    for (const Damage& damage : damages) {
        const StateDirectory directory;
        std::vector<Job> jobs;
        for (std::uint32_t id = 1; id <= 500; ++id) jobs.push_back(simple_job(id));
        ASSERT_TRUE(open_loaded(directory.path())->commit(batch_of(std::move(jobs))));
        damage.inflict(directory.file());
        const auto store = open_sqlite(directory.path());
        const auto state = store ? (*store)->load() : Result<StoredState>(store.error());
        ASSERT_FALSE(state) << damage.name;
        EXPECT_EQ(state.error().code, ErrorCode::StoreFailed);
        const bool helpful = state.error().detail.find("sluice.db") != std::string::npos;
        EXPECT_TRUE(helpful) << damage.name << ": " << state.error().detail;
    }
}

TEST(Sqlite, DamagedRowsKeepTheirBytes) {
    const StateDirectory directory;
    ASSERT_TRUE(open_loaded(directory.path())->commit(batch_of({simple_job(2)})));
    run_sql(directory.file(), "UPDATE jobs SET data = x'ffffff'");
    EXPECT_EQ(open_sqlite(directory.path()).value()->load()->damaged.size(), 1u);
    Database database = open_database_file(directory.path()).value();
    Statement row = database.prepare("SELECT data FROM damaged WHERE key = '2'").value();
    ASSERT_TRUE(row.step().value());
    EXPECT_EQ(row.bytes(0), "\xff\xff\xff");
}

TEST(Sqlite, CommitsReachTheDiskBeforeTheyReturn) {
    const StateDirectory directory;
    Database database = open_database_file(directory.path()).value();
    Statement query = database.prepare("PRAGMA synchronous").value();
    ASSERT_TRUE(query.step().value());
    EXPECT_EQ(query.number(0), 2) << "FULL";
}

TEST(Sqlite, AValueThatCannotBeBoundIsAnError) {
    const StateDirectory directory;
    Database database = open_database_file(directory.path()).value();
    Statement put = database.prepare("INSERT INTO jobs (id, data) VALUES (?, ?)").value();
    const std::string_view beyond_the_limit("", 2'000'000'000);  // refused before it is read
    const Result<void> refused = put.bind(1, std::int64_t{1}).bind_blob(2, beyond_the_limit).run();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("too big"), std::string::npos) << refused.error().detail;
    EXPECT_TRUE(put.bind(1, std::int64_t{1}).bind_blob(2, "small").run())
        << "and can be used again";
}

TEST(Sqlite, AMissingFileWithChangesBesideItIsDamageToo) {
    const StateDirectory directory;
    std::ofstream(directory.file() + "-wal") << "changes";
    EXPECT_FALSE(open_sqlite(directory.path()));
}

// Not every network file system keeps the lock of a directory.
TEST(Sqlite, AWriterIsFencedByOneWithAnotherConnection) {
    const StateDirectory directory;
    const auto store = open_sqlite(directory.path()).value();
    Batch batch = batch_of({simple_job(1)});
    batch.epoch = store->take_epoch().value();
    ASSERT_TRUE(store->commit(batch));
    run_sql(directory.file(), "UPDATE meta SET value = value + 1 WHERE key = 'epoch'");
    EXPECT_EQ(store->commit(batch).kind, CommitOutcome::Kind::Fenced);
    batch.epoch = store->take_epoch().value();
    EXPECT_EQ(batch.epoch, 3u);
    EXPECT_TRUE(store->commit(batch));
}

// A limit on the size of files stands in for a full disk.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t most) {
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limited{most, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limited);
    }
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
    rlimit before_{};
};

TEST(Sqlite, AFullDiskFailsTheCommitAndNothingElse) {
    const StateDirectory directory;
    const auto store = open_loaded(directory.path());
    ASSERT_TRUE(store->commit(batch_of({simple_job(1)})));
    const Blob large = blob_of(std::string(4u << 20, 'x'));
    const Batch too_much = batch_of({simple_job(2, large.hash)}, {large});
    {
        const FileSizeLimit limit(1u << 20);
        const CommitOutcome failed = store->commit(too_much);
        EXPECT_EQ(failed.kind, CommitOutcome::Kind::Full);
        EXPECT_NE(failed.why.find("disk"), std::string::npos) << failed.why;
        EXPECT_EQ(store->load()->jobs.size(), 1u);
    }
    ASSERT_TRUE(store->commit(too_much));
    EXPECT_EQ(store->load()->jobs.size(), 2u);
    EXPECT_EQ(store->blob(large.hash)->size(), large.bytes.size());
}

TEST(Sqlite, AskedBeforehandItKnowsThatTheDiskIsTooSmall) {
    const StateDirectory directory;
    const auto store = open_loaded(directory.path());
    EXPECT_TRUE(store->room_for(4096));
    const auto refused = store->room_for(std::size_t{1} << 60);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::StoreFailed);
    EXPECT_NE(refused.error().detail.find("the disk is full"), std::string::npos)
        << refused.error().detail;
    EXPECT_EQ(reserve_of(8 << 20), 512 << 10);
    EXPECT_EQ(reserve_of(std::int64_t{1} << 40), 16 << 20);
}

// Commits one job after the other and says so after each, until it is killed.
[[noreturn]] void commit_until_killed(const std::string& directory, int acknowledge) {
    auto store = open_sqlite(directory);
    if (!store) _exit(1);
    const Result<StoredState> state = (*store)->load();
    if (!state) _exit(2);
    std::uint32_t id = state->jobs.empty() ? 0 : state->jobs.back().job.id.value;
    while (true) {
        ++id;
        const Blob script = blob_of(std::to_string(id));
        if (!(*store)->commit(batch_of({simple_job(id, script.hash)}, {script}))) _exit(3);
        if (write(acknowledge, &id, sizeof id) != sizeof id) _exit(4);
    }
}

TEST(Sqlite, WhatWasAcknowledgedSurvivesKill) {
    const StateDirectory directory;
    std::mt19937 random(7);
    std::uint32_t acknowledged = 0;
    for (int round = 0; round < 12; ++round) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) commit_until_killed(directory.path(), ends[1]);
        close(ends[1]);
        // Killed in the middle of what follows some acknowledgement.
        const std::uint32_t until = acknowledged + 1 + random() % 60;
        std::uint32_t id = 0;
        while (acknowledged < until && read(ends[0], &id, sizeof id) == sizeof id)
            acknowledged = id;
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up: " << WEXITSTATUS(status);
        while (read(ends[0], &id, sizeof id) == sizeof id) acknowledged = id;
        close(ends[0]);

        const auto store = open_sqlite(directory.path()).value();
        const StoredState state = store->load().value();
        ASSERT_GE(state.jobs.size(), acknowledged);
        for (std::uint32_t i = 0; i < state.jobs.size(); ++i) {
            const Job& job = state.jobs[i].job;
            ASSERT_EQ(job.id.value, i + 1);
            ASSERT_EQ(store->blob(job.details->script_hash()).value(), std::to_string(i + 1));
        }
    }
}

}  // namespace
}  // namespace sluice
