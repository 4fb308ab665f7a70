// sql/contract_test.cc
//
// What every engine promises (database.h), asked of real servers.
#include "model/errors.h"
#include "sql/drivers.h"
#include "sql/testing.h"

namespace sluice::sql {
namespace {

using namespace testing_sql;

class SqlContract : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (IsSkipped()) return;
        database_ = connect();
        ASSERT_TRUE(database_->run("DROP TABLE IF EXISTS things"));
        ASSERT_TRUE(database_->run(
            fmt::format("CREATE TABLE things (name {} NOT NULL PRIMARY KEY, number BIGINT, part "
                        "DOUBLE PRECISION, data {})",
                        database_->dialect().key_text_type, database_->dialect().bytes_type)));
    }
    Target target() const { return PrivateServer::of(GetParam()).target(); }
    std::unique_ptr<Database> connect(std::chrono::seconds timeout = std::chrono::seconds(10)) {
        Target at = target();
        at.timeout = timeout;
        auto opened = open(at);
        EXPECT_TRUE(opened) << opened.error().detail;
        return *std::move(opened);
    }
    bool is_server() const { return GetParam() != Engine::Sqlite; }

    Result<std::uint64_t> put(const std::string& name, std::int64_t number = 0) {
        return database_->run("INSERT INTO things (name, number) VALUES (?, ?)", {name, number});
    }
    static std::int64_t ask(Database& database, std::string_view statement,
                            const Row& values = {}) {
        std::int64_t answer = -1;
        const auto done =
            database.query(statement, values, [&](const RowView& row) -> Result<void> {
                answer = row.number(0);
                return {};
            });
        EXPECT_TRUE(done) << done.error().detail;
        return answer;
    }
    std::int64_t count() { return ask(*database_, "SELECT COUNT(*) FROM things"); }

    // As an administrator, or a crash of the server's process, does.
    void end_connection() {
        auto other = connect();
        if (GetParam() == Engine::Postgresql) {
            const auto process = ask(*database_, "SELECT pg_backend_pid()");
            ASSERT_TRUE(other->query("SELECT pg_terminate_backend(CAST(? AS INT))", {process},
                                     [](const RowView&) -> Result<void> { return {}; }));
        } else {
            const auto number = ask(*database_, "SELECT CONNECTION_ID()");
            ASSERT_TRUE(other->run(fmt::format("KILL {}", number)));
        }
    }

    std::unique_ptr<Database> database_;
};

INSTANTIATE_TEST_SUITE_P(Engines, SqlContract,
                         testing::Values(Engine::Sqlite, Engine::Postgresql, Engine::Mariadb),
                         test_name);

TEST_P(SqlContract, ValuesComeBackAsTheyWere) {
    std::string all_bytes;
    for (int i = 0; i < 256; ++i) all_bytes.push_back(static_cast<char>(i));
    const std::string odd = "o'b\"r;--%_\\ \xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80`$1? ";
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 62,
                                      std::numeric_limits<std::int64_t>::min()}) {
        ASSERT_TRUE(database_->run("DELETE FROM things"));
        const auto done =
            database_->run("INSERT INTO things (name, number, part, data) VALUES (?, ?, ?, ?)",
                           {odd, number, 0.1, Bytes{all_bytes}});
        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(*done, 1u);
        int rows = 0;
        ASSERT_TRUE(database_->query("SELECT name, number, part, data FROM things WHERE name = ?",
                                     {odd}, [&](const RowView& row) -> Result<void> {
                                         ++rows;
                                         EXPECT_EQ(row.text(0), odd);
                                         EXPECT_EQ(row.number(1), number);
                                         EXPECT_EQ(row.real(2), 0.1);
                                         EXPECT_EQ(row.text(3), all_bytes);
                                         for (int i = 0; i < 4; ++i) EXPECT_FALSE(row.is_null(i));
                                         return {};
                                     }));
        EXPECT_EQ(rows, 1);
    }
}

TEST_P(SqlContract, NullIsNotEmpty) {
    ASSERT_TRUE(database_->run("INSERT INTO things VALUES (?, ?, ?, ?)",
                               {std::string("null"), Null{}, Null{}, Null{}}));
    ASSERT_TRUE(database_->run("INSERT INTO things VALUES (?, ?, ?, ?)",
                               {std::string("set"), std::int64_t{0}, 0.0, Bytes{}}));
    std::string seen;
    ASSERT_TRUE(database_->query("SELECT number, part, data FROM things ORDER BY name", {},
                                 [&](const RowView& row) -> Result<void> {
                                     for (int i = 0; i < 3; ++i) seen += row.is_null(i) ? 'n' : '-';
                                     EXPECT_EQ(row.text(2), "");
                                     EXPECT_EQ(row.number(0), 0);
                                     return {};
                                 }));
    EXPECT_EQ(seen, "nnn---");
    EXPECT_EQ(ask(*database_, "SELECT COUNT(*) FROM things WHERE data IS NULL"), 1);
}

TEST_P(SqlContract, TextsAreComparedByTheirBytes) {
    for (const char* name : {"a", "A", "a ", "\xc3\xa9", "e"}) ASSERT_TRUE(put(name)) << name;
    EXPECT_EQ(count(), 5);
    EXPECT_EQ(ask(*database_, "SELECT COUNT(*) FROM things WHERE name = ?", {std::string("a")}), 1);
}

TEST_P(SqlContract, AValueOfAnySize) {
    const std::string large(5'000'000, '\xff');
    ASSERT_TRUE(
        database_->run("INSERT INTO things (name, data) VALUES ('large', ?)", {Bytes{large}}));
    ASSERT_TRUE(
        database_->run("INSERT INTO things (name, data) VALUES ('small', ?)", {Bytes{"x"}}));
    std::vector<std::string> found;
    ASSERT_TRUE(database_->query("SELECT data FROM things ORDER BY name", {},
                                 [&](const RowView& row) -> Result<void> {
                                     found.emplace_back(row.text(0));
                                     return {};
                                 }));
    EXPECT_TRUE((found == std::vector<std::string>{large, "x"}));
}

TEST_P(SqlContract, SumsAreNumbers) {
    EXPECT_EQ(ask(*database_, "SELECT SUM(number) FROM things"), 0);  // NULL
    ASSERT_TRUE(put("a", 1'000'000'000'000));
    ASSERT_TRUE(put("b", 2));
    EXPECT_EQ(ask(*database_, "SELECT SUM(number) FROM things"), 1'000'000'000'002);
    EXPECT_EQ(ask(*database_, "SELECT MAX(number) FROM things"), 1'000'000'000'000);
}

TEST_P(SqlContract, RowsThatMatchAreCounted) {
    ASSERT_TRUE(put("a", 1));
    ASSERT_TRUE(put("b", 1));
    EXPECT_EQ(database_->run("UPDATE things SET number = 1").value(),
              2u);  // even if nothing changes
    EXPECT_EQ(
        database_->run("UPDATE things SET number = 2 WHERE name = ?", {std::string("x")}).value(),
        0u);
    EXPECT_EQ(database_->run("DELETE FROM things").value(), 2u);
}

TEST_P(SqlContract, AnErrorOfTheReaderEndsTheQuery) {
    ASSERT_TRUE(put("a"));
    ASSERT_TRUE(put("b"));
    int rows = 0;
    const auto done =
        database_->query("SELECT name FROM things", {}, [&](const RowView&) -> Result<void> {
            ++rows;
            return Error{ErrorCode::BadArgument, "enough"};
        });
    EXPECT_EQ(done.error().detail, "enough");
    EXPECT_EQ(rows, 1);
    EXPECT_EQ(count(), 2);
}

TEST_P(SqlContract, ATransactionIsSeenByOthersWhenItIsCommitted) {
    auto other = connect();
    ASSERT_TRUE(database_->begin());
    ASSERT_TRUE(put("a"));
    EXPECT_EQ(ask(*other, "SELECT COUNT(*) FROM things"), 0);
    ASSERT_TRUE(database_->commit());
    EXPECT_EQ(ask(*other, "SELECT COUNT(*) FROM things"), 1);
}

TEST_P(SqlContract, RollbackUndoesAll) {
    ASSERT_TRUE(put("before"));
    ASSERT_TRUE(database_->begin());
    ASSERT_TRUE(put("a"));
    database_->rollback();
    EXPECT_EQ(count(), 1);
    // Also after a failed statement.
    const auto done = transact(*database_, [&]() -> Result<void> {
        TRY(put("b"));
        TRY(put("before"));
        return {};
    });
    EXPECT_FALSE(done);
    EXPECT_FALSE(database_->is_lost());
    EXPECT_EQ(count(), 1);
    EXPECT_TRUE(put("c"));
}

TEST_P(SqlContract, AWrongStatementIsAnErrorThatSaysWhy) {
    const auto done = database_->run("SELEC 1");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().detail.find("SELEC"), std::string::npos) << done.error().detail;
    EXPECT_FALSE(database_->is_lost());
    EXPECT_EQ(count(), 0);
}

TEST_P(SqlContract, ManyDifferentStatements) {
    for (int i = 0; i < 600; ++i) {
        ASSERT_EQ(ask(*database_, fmt::format("SELECT {} + COUNT(*) FROM things", i)), i);
    }
}

TEST_P(SqlContract, AStatementThatTakesTooLongEnds) {
    auto hurried = connect(std::chrono::seconds(1));
    const std::string_view slow =
        GetParam() == Engine::Sqlite
            ? "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) "
              "FROM n"
        : GetParam() == Engine::Postgresql ? "SELECT pg_sleep(30)"
                                           : "SELECT SLEEP(30), COUNT(*) FROM things";
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(hurried->query(slow, {}, [](const RowView&) -> Result<void> { return {}; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    if (hurried->is_lost()) {
        ASSERT_TRUE(hurried->reconnect());
    }
    EXPECT_EQ(ask(*hurried, "SELECT COUNT(*) FROM things"), 0);
}

TEST_P(SqlContract, ALostConnectionIsMadeAgainAndTheTransactionRepeated) {
    if (!is_server()) GTEST_SKIP() << "SQLite has no connection";
    ASSERT_TRUE(put("before"));
    int tries = 0;
    const auto done = transact(*database_, [&]() -> Result<void> {
        ++tries;
        TRY(put("a"));
        if (tries == 1) end_connection();
        TRY(put("b"));
        return {};
    });
    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(tries, 2);
    EXPECT_EQ(count(), 3);
}

TEST_P(SqlContract, ALossBetweenStatementsIsReported) {
    if (!is_server()) GTEST_SKIP() << "SQLite has no connection";
    end_connection();
    EXPECT_FALSE(put("a"));
    EXPECT_TRUE(database_->is_lost());
    ASSERT_TRUE(database_->reconnect());
    EXPECT_FALSE(database_->is_lost());
    EXPECT_TRUE(put("a"));
}

TEST_P(SqlContract, AWrongPasswordIsRefusedAndNotRepeated) {
    if (!is_server()) GTEST_SKIP() << "SQLite has no password";
    Target wrong = target();
    wrong.password = "hunter2";
    const auto opened = open(wrong);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().detail.find("sluice"), std::string::npos);
    EXPECT_EQ(opened.error().detail.find("hunter2"), std::string::npos) << opened.error().detail;
}

TEST_P(SqlContract, AHostThatDoesNotAnswerIsNamed) {
    if (!is_server()) {
        EXPECT_NE(open({.path = "/no/such/directory/a.db"}).error().detail.find("/no/such"),
                  std::string::npos);
        EXPECT_FALSE(open({.path = ""}));
        return;
    }
    Target unknown = target();
    for (const char* host : {"host.invalid", "/no/such/socket"}) {
        unknown.hosts = {host};
        unknown.timeout = std::chrono::seconds(5);
        const auto opened = open(unknown);
        ASSERT_FALSE(opened);
        EXPECT_NE(opened.error().detail.find(host), std::string::npos) << opened.error().detail;
    }
}

TEST_P(SqlContract, TheSecondHostIsTriedIfTheFirstDoesNotAnswer) {
    if (!is_server()) GTEST_SKIP() << "SQLite has no host";
    Target two = target();
    two.hosts.insert(two.hosts.begin(), "/no/such/socket");
    const auto opened = open(two);
    ASSERT_TRUE(opened) << opened.error().detail;
    EXPECT_EQ(ask(**opened, "SELECT COUNT(*) FROM things"), 0);
}

TEST_P(SqlContract, TlsThatWasAskedForIsNotLeftOut) {
    if (!is_server()) GTEST_SKIP() << "SQLite has no TLS";
    Target with = target();
    with.ssl_ca = "/no/such/ca.pem";
    with.hosts = {"127.0.0.1"};
    EXPECT_FALSE(open(with));
    if (GetParam() == Engine::Postgresql) {
        with.ssl_cipher = "AES";
        EXPECT_NE(open(with).error().detail.find("SSL_CIPHER"), std::string::npos);
    }
}

TEST(SqlPlaceholders, AreNumberedOutsideOfQuotes) {
    EXPECT_EQ(numbered_placeholders("SELECT ? WHERE a = ?"), "SELECT $1 WHERE a = $2");
    EXPECT_EQ(numbered_placeholders("SELECT '?', '''?', \"?\", ?"), "SELECT '?', '''?', \"?\", $1");
    EXPECT_EQ(numbered_placeholders("SELECT 1 -- ?\n, ?"), "SELECT 1 -- ?\n, $1");
    EXPECT_EQ(numbered_placeholders("SELECT '?"), "SELECT '?");
    EXPECT_EQ(numbered_placeholders(""), "");
}

TEST(SqlSqlite, TheFileIsPrivate) {
    const Target target = PrivateServer::of(Engine::Sqlite).target("private");
    ASSERT_TRUE(open(target));
    const auto mode = std::filesystem::status(target.path).permissions();
    EXPECT_EQ(static_cast<unsigned>(mode), 0600u);
}

}  // namespace
}  // namespace sluice::sql
