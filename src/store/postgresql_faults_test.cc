// store/postgresql_faults_test.cc
//
// A PostgreSQL server that is killed, stopped or full, and connections that are cut, while a
// controller commits: what was confirmed is there, and nothing is there twice.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "store/testing.h"

namespace sluice {
namespace {

using namespace testing_store;
using sql::testing_sql::PrivateServer;
using Kind = CommitOutcome::Kind;

class PostgresqlFaults : public testing::Test {
protected:
    static void SetUpTestSuite() {
        server_ = std::make_unique<PrivateServer>(sql::Engine::Postgresql);
    }
    static void TearDownTestSuite() { server_ = nullptr; }

    void SetUp() override {
        if (!server_->is_up()) GTEST_SKIP() << "PostgreSQL is not installed";
        where_ = {server_->connection(),
                  std::filesystem::path(directory_.path()).filename().string()};
        store_ = open_postgresql(where_).value();
        epoch_ = store_->take_epoch().value();
        ASSERT_TRUE(store_->load());
    }

    // As the committer does: a batch is repeated until it is done.
    void commit_until_done(const Batch& batch) {
        while (true) {
            const CommitOutcome outcome = store_->commit(batch);
            if (outcome) break;
            ASSERT_NE(outcome.kind, Kind::Fenced) << outcome.why;
            ++failures_;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        ++confirmed_;
    }
    // One job and one fact in each batch.
    void commit_next() {
        Batch batch = batch_of({simple_job(++last_job_)});
        batch.epoch = epoch_;
        batch.changes.next_job_id = last_job_ + 1;
        batch.changes.facts = {AccountedJob{.job = JobId{last_job_}}};
        commit_until_done(batch);
    }
    // Commits in another thread until the faults are over.
    void commit_during(const std::function<void()>& faults) {
        std::atomic<bool> is_over{false};
        std::thread writer([&] {
            while (!is_over && !HasFatalFailure()) commit_next();
        });
        const auto at_least = [&](std::uint64_t count) {
            for (int i = 0; i < 6000 && confirmed_ < count; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            EXPECT_GE(confirmed_, count) << "commits stopped";
        };
        at_least(20);
        faults();
        at_least(confirmed_ + 20);
        is_over = true;
        writer.join();
    }
    // The server and all its processes.
    static void signal_server(int number) {
        kill(server_->process(), number);
        for (const pid_t child : sql::testing_sql::children_of(server_->process()))
            kill(child, number);
    }
    // By another connection, as the next controller would see it.
    void expect_each_once() {
        const auto next = open_postgresql(where_).value();
        ASSERT_TRUE(next->take_epoch());
        const StoredState state = next->load().value();
        EXPECT_EQ(state.jobs.size(), confirmed_);
        EXPECT_EQ(state.next_job_id, confirmed_ + 1);
        EXPECT_EQ(next->version().value(), confirmed_) << "a batch was applied twice, or is lost";
        const auto facts = next->facts(0, 1'000'000).value();
        ASSERT_EQ(facts.size(), confirmed_);
        for (std::size_t i = 0; i < facts.size(); ++i) ASSERT_EQ(facts[i].sequence, i + 1);
    }

    static std::unique_ptr<PrivateServer> server_;
    StateDirectory directory_;
    SharedState where_;
    std::unique_ptr<Store> store_;
    Epoch epoch_ = 0;
    std::uint32_t last_job_ = 0;
    std::atomic<std::uint64_t> confirmed_{0}, failures_{0};
};

std::unique_ptr<PrivateServer> PostgresqlFaults::server_;

TEST_F(PostgresqlFaults, TheServerIsKilledAndStartedAgain) {
    commit_during([&] {
        for (int round = 0; round < 2; ++round) {
            server_->crash();
            server_->start_again();
        }
    });
    EXPECT_GT(failures_, 0u);
    expect_each_once();
}

TEST_F(PostgresqlFaults, ConnectionsAreCutDuringCommits) {
    auto admin = sql::open(target_of(where_)).value();
    commit_during([&] {
        for (int round = 0; round < 50; ++round) {
            ASSERT_TRUE(
                admin->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                           "pg_backend_pid() AND backend_type = 'client backend'"));
            std::this_thread::sleep_for(std::chrono::milliseconds(round % 7));
        }
    });
    expect_each_once();
}

// The server has the batch, and the answer is lost: the retry must not apply it again.
TEST_F(PostgresqlFaults, AnAppliedBatchIsNotAppliedAgain) {
    auto admin = sql::open(target_of(where_)).value();
    ASSERT_TRUE(
        admin->run("CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                   "pg_sleep(0.3); RETURN NULL; END $$"));
    ASSERT_TRUE(admin->run(
        "CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH "
        "ROW EXECUTE FUNCTION cut()"));
    commit_next();  // plans
    std::thread commits([&] {
        for (int i = 0; i < 5; ++i) commit_next();
    });
    // Stops the client's side only: the statement goes on in the server.
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(350));
        EXPECT_TRUE(admin->run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"));
    }
    commits.join();
    expect_each_once();
}

TEST_F(PostgresqlFaults, TheServerStopsForLongerThanAnAnswerMayTake) {
    commit_next();
    signal_server(SIGSTOP);
    Batch batch = batch_of({simple_job(++last_job_)});
    batch.epoch = epoch_;
    batch.changes.next_job_id = last_job_ + 1;
    batch.changes.facts = {AccountedJob{.job = JobId{last_job_}}};
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(store_->commit(batch).kind, Kind::Retry);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(40));
    signal_server(SIGCONT);
    commit_until_done(batch);
    commit_next();
    expect_each_once();
}

// It must be free to take over by another host of the connection string.
TEST_F(PostgresqlFaults, AStandbyDoesNotWaitLongForASilentServer) {
    ASSERT_TRUE(store_->changes_since(0));
    signal_server(SIGSTOP);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(store_->changes_since(0));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
    signal_server(SIGCONT);
    EXPECT_TRUE(store_->changes_since(0));
}

TEST_F(PostgresqlFaults, ASilentHostIsNotWaitedForLong) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    (directory_.path() + "/.s.PGSQL.5432").copy(address.sun_path, sizeof address.sun_path - 1);
    const int silent = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(bind(silent, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(silent, 8), 0);
    const std::size_t hosts = where_.connection.find("host=") + 5;
    where_.connection.insert(hosts, directory_.path() + ",");
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(open_postgresql(where_).value()->changes_since(0));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(8));
    close(silent);
}

TEST_F(PostgresqlFaults, AFullDiskIsReportedAsFull) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: it mounts a small disk";
    const std::string disk = server_->directory() + "/small";
    ASSERT_TRUE(std::filesystem::create_directory(disk));
    ASSERT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m,mode=0777"), 0);
    const std::string space = disk + "/space";
    ASSERT_TRUE(std::filesystem::create_directory(space));
    server_->give_to_server(space);
    auto admin = sql::open(target_of(where_)).value();
    ASSERT_TRUE(admin->run(fmt::format("CREATE TABLESPACE small LOCATION '{}'", space)));
    ASSERT_TRUE(admin->run("ALTER TABLE blobs SET TABLESPACE small"));
    ASSERT_TRUE(admin->run("ALTER TABLE blobs ALTER data SET STORAGE EXTERNAL"));
    commit_next();
    Batch large = batch_of({simple_job(++last_job_)}, {blob_of(std::string(4 << 20, 'x'))});
    large.epoch = epoch_;
    const CommitOutcome full = store_->commit(large);
    EXPECT_EQ(full.kind, Kind::Full) << full.why;
    EXPECT_EQ(store_->load()->jobs.size(), 1u) << "nothing of the batch is kept";
    // There is room again.
    ASSERT_TRUE(admin->run("ALTER TABLE blobs SET TABLESPACE pg_default"));
    EXPECT_TRUE(store_->commit(large));
    ASSERT_TRUE(admin->run("DROP TABLESPACE small"));
    umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace sluice
