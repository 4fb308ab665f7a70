// accounting/contract_test.cc
//
// The statements of accounting on every engine: the details are tested with SQLite alone.
#include "accounting/testing.h"
#include "sql/testing.h"

namespace sluice {
namespace {

using namespace testing_accounting;

class AccountingContract : public sql::testing_sql::EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (IsSkipped()) return;
        // Each test has a database of its own.
        static int number = 0;
        const auto& server = sql::testing_sql::PrivateServer::of(GetParam());
        const std::string name = fmt::format("accounting{}", ++number);
        server.make_database(name);
        target_ = server.target(name);
        auto opened = open_accounting(target_);
        ASSERT_TRUE(opened) << opened.error().detail;
        accounting_ = *std::move(opened);
        c1_ = std::make_unique<Sender>(*accounting_, kOddName);
    }
    std::string ids(const JobSelection& selection) {
        return testing_accounting::ids(*accounting_, selection);
    }
    // Ends all other connections to the database.
    void end_connections() {
        auto other = sql::open(target_).value();
        std::vector<std::int64_t> numbers;
        const bool is_postgresql = GetParam() == sql::Engine::Postgresql;
        ASSERT_TRUE(other->query(
            is_postgresql ? "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                            "datname = current_database()"
                          : "SELECT id FROM information_schema.processlist WHERE id <> "
                            "CONNECTION_ID() AND db = DATABASE()",
            {}, [&](const sql::RowView& row) -> Result<void> {
                numbers.push_back(row.number(0));
                return {};
            }));
        ASSERT_FALSE(numbers.empty());
        for (const std::int64_t number : numbers) {
            ASSERT_TRUE(other->run(is_postgresql
                                       ? fmt::format("SELECT pg_terminate_backend({})", number)
                                       : fmt::format("KILL {}", number)));
        }
    }

    const TimeZone zone_{"UTC"};
    sql::Target target_;
    std::unique_ptr<Accounting> accounting_;
    std::unique_ptr<Sender> c1_;
};

INSTANTIATE_TEST_SUITE_P(Engines, AccountingContract,
                         testing::Values(sql::Engine::Sqlite, sql::Engine::Postgresql,
                                         sql::Engine::Mariadb),
                         sql::testing_sql::test_name);

TEST_P(AccountingContract, JobsOfEveryFilter) {
    AccountedJob odd = ran(1, at(1), at(2));
    odd.name = odd.account = odd.qos = odd.partition = odd.wckey = kOddName;
    AccountedJob broken = ran(2, at(1), at(2));
    broken.account = "\xff";
    c1_->send_all(odd, broken, step(1, kBatchStep), job(3));
    EXPECT_EQ(ids({}), "1 2 3");
    EXPECT_EQ(runs(*accounting_, {.jobs = {"1"}})[0].job, odd);
    EXPECT_EQ(runs(*accounting_, {.jobs = {"1.batch"}})[0].steps.size(), 1u);
    EXPECT_EQ(ids({.clusters = {kOddName},
                   .users = {UserId{1000}},
                   .groups = {GroupId{100}},
                   .accounts = {kOddName},
                   .partitions = {kOddName},
                   .qos = {kOddName},
                   .names = {kOddName},
                   .wckeys = {kOddName},
                   .start = at(2),
                   .end = at(3)}),
              "1");
    EXPECT_EQ(ids({.accounts = {"\xff"}}), "2");
    EXPECT_EQ(ids({.states = {ShownState::Suspended, ShownState::Completed}, .start = at(0)}), "");
    EXPECT_EQ(ids({.only_live = true}), "3");
}

TEST_P(AccountingContract, FactsAreAppliedOnceEvenIfTheConnectionIsLost) {
    const std::vector<NumberedFact> facts{{1, job(1)}, {2, job(2)}};
    ASSERT_EQ(accounting_->apply("c1", facts).value(), 2u);
    ASSERT_EQ(accounting_->apply("c1", facts).value(), 2u);
    if (GetParam() != sql::Engine::Sqlite) end_connections();
    ASSERT_EQ(accounting_->apply("c1", {{2, job(2)}, {3, job(3)}}).value(), 3u);
    if (GetParam() != sql::Engine::Sqlite) end_connections();
    EXPECT_EQ(ids({}), "1 2 3");
    if (GetParam() != sql::Engine::Sqlite) end_connections();
    EXPECT_EQ(accounting_->last_applied("c1").value(), 3u);
}

TEST_P(AccountingContract, PolicyAndTransactions) {
    Policy policy;
    policy.version = 1;
    policy.next_id = 9;
    policy.accounts = {{.name = kOddName}};
    policy.users = {{.name = "u"}, {.name = "v"}};
    policy.tres = {{1, "cpu"}};
    const Transaction why{.time = at(1), .action = "Add", .actor = kOddName};
    const auto saved = accounting_->set_policy(policy, 0, {why});
    ASSERT_TRUE(saved) << saved.error().detail;
    EXPECT_EQ(accounting_->policy().value(), policy);
    EXPECT_EQ(accounting_->set_policy(policy, 0, {why}).error().code, ErrorCode::AccountingBusy);
    policy.version = 2;
    policy.users.pop_back();
    policy.accounts[0].description = kOddName;
    ASSERT_TRUE(accounting_->set_policy(policy, 1, {}));
    EXPECT_EQ(open_accounting(target_).value()->policy().value(), policy);
    EXPECT_EQ(accounting_->transactions({}, {}).value().at(0).actor, kOddName);
}

TEST_P(AccountingContract, RollUp) {
    c1_->send_all(AccountedEvent{.start = at(0), .tres = {{"cpu", 4}}},
                  AccountedReservation{.id = 1, .name = "r", .start = at(5), .end = at(6)},
                  ran(1, at(1), at(2)));
    const auto done = accounting_->roll_up(kOddName, at(24 * 40));
    ASSERT_TRUE(done) << done.error().detail;
    c1_->send(ran(2, at(1, 30), at(2)));
    ASSERT_TRUE(accounting_->roll_up(kOddName, at(24 * 40)));
    const UsageQuestion month{kOddName, RollupPeriod::Month, at(0), at(24 * 40)};
    EXPECT_EQ(accounting_->usage(month).value().at(0).seconds, 2 * 3600u + 3600u);
    const ClusterUsageRow row = accounting_->cluster_usage(month).value().at(0);
    EXPECT_EQ(row.allocated, 3 * 3600u);
    EXPECT_EQ(row.count, 4u);
    EXPECT_EQ(row.idle + row.allocated, 4u * 31 * 24 * 3600);
    EXPECT_TRUE(accounting_->wckey_usage(month).value().empty());
}

TEST_P(AccountingContract, Import) {
    AccountedJob other = ran(2, at(3), at(4));
    c1_->send(other);
    AccountedJob again = ran(3, at(2), at(3));
    again.qos = kOddName;
    const std::vector<AccountedRun> given{
        {.cluster = {}, .job = ran(1, at(1), at(2)), .steps = {step(1, kBatchStep)}},
        {.cluster = {}, .job = ran(2, at(1), at(2))},
        {.cluster = {}, .job = again}};
    const auto checked = accounting_->import_runs(kOddName, given, true);
    ASSERT_TRUE(checked) << checked.error().detail;
    EXPECT_EQ(*checked, (ImportOutcome{.added = 2, .known = 0, .taken = {2}}));
    EXPECT_EQ(ids({}), "2");
    EXPECT_EQ(accounting_->import_runs(kOddName, given, false).value(), *checked);
    EXPECT_EQ(ids({}), "1 2 3");
    EXPECT_EQ(accounting_->import_runs(kOddName, given, false).value(),
              (ImportOutcome{.added = 0, .known = 2, .taken = {2}}));
    const std::vector<UsageImport> imports = accounting_->imports_after(kOddName, 0).value();
    ASSERT_EQ(imports.size(), 1u);
    ASSERT_EQ(imports[0].used.size(), 2u);
    EXPECT_EQ(imports[0].used[1].qos, kOddName);
    EXPECT_EQ(imports[0].used[0].amounts.tres_seconds.at("cpu"), 2 * 3600);
    EXPECT_TRUE(accounting_->imports_after(kOddName, imports[0].number).value().empty());
    AccountedRun live{.cluster = {}, .job = job(9)};
    EXPECT_FALSE(accounting_->import_runs(kOddName, {live}, false));
}

TEST_P(AccountingContract, PurgeAndArchive) {
    const TemporaryDirectory directory;
    AccountedJob old = ran(1, at(1), at(2));
    old.script_hash = "h";
    c1_->send_all(old, step(1, kBatchStep), ran(2, at(8), at(9)),
                  AccountedEvent{.start = at(0), .tres = {{"cpu", 4}}});
    ASSERT_TRUE(accounting_->put_script("h", std::string("a\0b", 3)));
    ASSERT_TRUE(accounting_->roll_up(kOddName, at(24 * 40)));
    using What = PurgeRule::What;
    // Later than the script, whose time is that of this machine's clock.
    const Time now = from_unix(std::int64_t{1} << 33);
    for (const What what : {What::Jobs, What::Steps, What::Events, What::Reservations,
                            What::Suspends, What::Transactions, What::Usage}) {
        const Seconds age = what == What::Jobs ? now - at(5) : now - at(24 * 32);
        const auto done = accounting_->purge(kOddName, {what, age, true}, now, directory.path());
        ASSERT_TRUE(done) << done.error().detail;
    }
    EXPECT_EQ(ids({}), "2");
    for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
        const auto loaded = accounting_->load_archive(file.path());
        ASSERT_TRUE(loaded) << loaded.error().detail;
        EXPECT_GT(*loaded, 0u);
    }
    EXPECT_EQ(ids({}), "1 2");
    const UsageQuestion january{kOddName, RollupPeriod::Month, at(0), at(24)};
    EXPECT_EQ(accounting_->usage(january).value().size(), 2u);
    EXPECT_EQ(runs(*accounting_, {.jobs = {"1"}, .scripts = true})[0].script,
              std::string("a\0b", 3));
}

TEST_P(AccountingContract, ANewerSchemaIsRefused) {
    ASSERT_TRUE(sql::open(target_).value()->run("UPDATE meta SET value = 7 WHERE name = 'schema'"));
    EXPECT_NE(open_accounting(target_).error().detail.find("schema 7"), std::string::npos);
}

}  // namespace
}  // namespace sluice
