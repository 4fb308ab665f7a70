// accounting/jobs_test.cc
//
// Facts into rows, and which of them sacct's question finds.
#include "accounting/facts.h"
#include "accounting/import.h"
#include "accounting/testing.h"

namespace sluice {
namespace {

using namespace testing_accounting;

class AccountingJobs : public testing::Test {
protected:
    std::string ids(const JobSelection& selection, Time now = at(24)) {
        return testing_accounting::ids(*accounting_, selection, now);
    }
    std::string of_state(ShownState state, Time start, Time end) {
        return ids({.states = {state}, .start = start, .end = end});
    }
    Error error_of(const JobSelection& selection) {
        return accounting_
            ->jobs(selection, at(24), [](const AccountedRun&) -> Result<void> { return {}; })
            .error();
    }

    std::unique_ptr<Accounting> accounting_ = open_accounting({.path = ":memory:"}).value();
    Sender c1_{*accounting_, "c1"};
};

TEST_F(AccountingJobs, FactsAreAppliedOnce) {
    AccountedJob later = ran(1, at(1), at(2));
    ASSERT_EQ(accounting_->apply("c1", {{1, job(1)}, {2, later}}).value(), 2u);
    // The sender did not hear of it: the same facts again, and a new one.
    AccountedJob newer = later;
    newer.comment = "newer";
    ASSERT_EQ(accounting_->apply("c1", {{1, job(1)}, {2, later}, {3, newer}}).value(), 3u);
    ASSERT_EQ(accounting_->apply("c1", {{1, job(1)}, {2, later}}).value(), 3u);
    EXPECT_EQ(accounting_->last_applied("c1").value(), 3u);
    EXPECT_EQ(accounting_->last_applied("c2").value(), 0u);
    const auto found = runs(*accounting_, {});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].job, newer);
    EXPECT_EQ(found[0].cluster, "c1");
}

TEST_F(AccountingJobs, EachClusterHasItsOwnJobsAndNumbers) {
    Sender c2(*accounting_, "c2");
    c1_.send_all(ran(1, at(1), at(2)), ran(2, at(1), at(2)));
    c2.send(ran(1, at(3), at(4)));
    EXPECT_EQ(ids({.clusters = {"c1"}}), "1 2");
    EXPECT_EQ(ids({.clusters = {"c2"}}), "1");
    EXPECT_EQ(ids({.clusters = {"*"}}), "1 2 1");
    EXPECT_EQ(ids({.clusters = {"c3"}}), "");
}

TEST_F(AccountingJobs, WithoutStatesJobsAreFoundThatWereKnownInTheTime) {
    c1_.send(ran(1, at(2), at(4)));
    EXPECT_EQ(ids({.start = at(4), .end = at(5)}), "1");
    EXPECT_EQ(ids({.start = at(4) + Seconds(1), .end = at(5)}), "");
    EXPECT_EQ(ids({.start = at(0), .end = at(2)}), "1");
    EXPECT_EQ(ids({.start = at(0), .end = at(2) - Seconds(1)}), "");
    EXPECT_EQ(ids({.start = at(3), .end = at(3)}), "1");
}

TEST_F(AccountingJobs, RunningMeansThatItRanAtSomeTimeThen) {
    AccountedJob waited = ran(1, at(4), at(6));
    waited.eligible = waited.submit = at(2);
    AccountedJob running = job(2);
    running.state = ShownState::Running;
    running.eligible = running.submit = running.start.emplace(at(5));
    AccountedJob pending = job(3);
    pending.eligible = pending.submit = at(5);
    c1_.send_all(waited, running, pending);
    EXPECT_EQ(of_state(ShownState::Running, at(2), at(3)), "");
    EXPECT_EQ(of_state(ShownState::Running, at(2), at(4)), "1");
    EXPECT_EQ(of_state(ShownState::Running, at(6), at(7)), "1 2");
    EXPECT_EQ(of_state(ShownState::Running, at(7), at(8)), "2");
    EXPECT_EQ(of_state(ShownState::Pending, at(2), at(3)), "1");
    EXPECT_EQ(of_state(ShownState::Pending, at(5), at(9)), "2 3");
    EXPECT_EQ(of_state(ShownState::Pending, at(8), at(9)), "3");
    // Without a time: now.
    EXPECT_EQ(ids({.states = {ShownState::Running}}, at(10)), "2");
    EXPECT_EQ(ids({.states = {ShownState::Running}}, at(4, 30)), "1");
}

TEST_F(AccountingJobs, AFinalStateCountsWhenItWasReached) {
    AccountedJob failed = ran(2, at(1), at(3));
    failed.state = ShownState::Failed;
    c1_.send_all(ran(1, at(1), at(3)), failed);
    EXPECT_EQ(of_state(ShownState::Failed, at(3), at(4)), "2");
    EXPECT_EQ(of_state(ShownState::Failed, at(1), at(3) - Seconds(1)), "");
    EXPECT_EQ(of_state(ShownState::Completed, at(0), at(9)), "1");
    EXPECT_EQ(
        ids({.states = {ShownState::Failed, ShownState::Completed}, .start = at(0), .end = at(9)}),
        "1 2");
}

TEST_F(AccountingJobs, SuspendedIsKnownForEachTime) {
    AccountedJob running = job(1);
    running.state = ShownState::Running;
    running.start = at(1);
    AccountedJob suspended = running;
    suspended.state = ShownState::Suspended;
    suspended.suspend_time = at(2);
    AccountedJob resumed = running;
    resumed.suspended = Minutes(60);
    c1_.send_all(running, suspended);
    EXPECT_EQ(of_state(ShownState::Suspended, at(8), at(9)), "1");
    c1_.send(resumed);
    EXPECT_EQ(of_state(ShownState::Suspended, at(8), at(9)), "");
    EXPECT_EQ(of_state(ShownState::Suspended, at(0), at(1)), "");
    EXPECT_EQ(of_state(ShownState::Suspended, at(3), at(4)), "1");
}

TEST_F(AccountingJobs, AHeldJobIsFoundOnlyByItsId) {
    AccountedJob held = job(1);
    held.eligible = Time{};
    c1_.send(held);
    EXPECT_EQ(ids({.start = at(0), .end = at(9)}), "");
    EXPECT_EQ(ids({.jobs = {"1"}}), "1");
    EXPECT_EQ(ids({.jobs = {"1"}, .states = {ShownState::Pending}}), "");
}

TEST_F(AccountingJobs, ById) {
    AccountedJob array = job(12);
    array.array_job = JobId{12};
    array.array_tasks = TaskSet::parse("4-9").value();
    c1_.send(array);
    for (std::uint32_t task : {1u, 2u, 3u}) {
        AccountedJob made = ran(12 + task, at(1), at(2));
        made.array_job = JobId{12};
        made.array_task = task;
        c1_.send(made);
    }
    c1_.send(ran(20, at(1), at(2)));
    EXPECT_EQ(ids({.jobs = {"12"}}), "12 13 14 15");
    EXPECT_EQ(ids({.jobs = {"12_3"}}), "15");
    EXPECT_EQ(ids({.jobs = {"12_[1-4]"}}), "12 13 14 15");
    EXPECT_EQ(ids({.jobs = {"12_[1-2]", "20"}}), "13 14 20");
    EXPECT_EQ(ids({.jobs = {"12_10"}}), "");
    EXPECT_EQ(ids({.jobs = {"14"}}), "14");
    EXPECT_EQ(ids({.jobs = {"21"}}), "");
    EXPECT_NE(error_of({.jobs = {"12; DROP TABLE jobs"}}).detail.find("DROP"), std::string::npos);
    EXPECT_NE(error_of({.jobs = {"12+1"}}).detail.find("12+1"), std::string::npos);
}

TEST_F(AccountingJobs, Steps) {
    c1_.send_all(ran(1, at(1), at(2)), step(1, StepId{10}), step(1, StepId{2}),
                 step(1, kExternStep), step(1, kBatchStep), ran(2, at(1), at(2)));
    const auto names = [&](const JobSelection& selection) {
        std::string text;
        for (const AccountedRun& run : runs(*accounting_, selection)) {
            text += std::to_string(run.job.job.value) + ":";
            for (const AccountedStep& each : run.steps) text += print_step(each.step) + " ";
        }
        return text;
    };
    EXPECT_EQ(names({}), "1:batch extern 2 10 2:");
    EXPECT_EQ(names({.no_steps = true}), "1:2:");
    EXPECT_EQ(names({.jobs = {"1.batch"}}), "1:batch ");
    EXPECT_EQ(names({.jobs = {"1.2", "1.10"}}), "1:2 10 ");
    EXPECT_EQ(names({.jobs = {"1.2", "1"}}), "1:batch extern 2 10 ");
    EXPECT_EQ(names({.jobs = {"1.3"}}), "");
}

TEST_F(AccountingJobs, OnlyTheLastRunUnlessAllAreAskedFor) {
    AccountedJob first = ran(1, at(1), at(2));
    first.state = ShownState::Requeued;
    AccountedJob second = ran(1, at(3), at(4));
    second.restarts = 1;
    c1_.send_all(first, second, step(1, kBatchStep, 0), step(1, kBatchStep, 1));
    EXPECT_EQ(ids({}), "1/1");
    EXPECT_EQ(ids({.all_runs = true}), "1 1/1");
    EXPECT_EQ(ids({.start = at(0), .end = at(2)}), "1");
    for (const AccountedRun& run : runs(*accounting_, {.all_runs = true})) {
        ASSERT_EQ(run.steps.size(), 1u);
        EXPECT_EQ(run.steps[0].restarts, run.job.restarts);
    }
}

TEST_F(AccountingJobs, EveryFilterSelects) {
    AccountedJob odd = ran(2, at(1), at(2));
    odd.name = odd.account = odd.qos = odd.partition = odd.wckey = kOddName;
    odd.user = UserId{1001};
    odd.group = GroupId{101};
    odd.constraint = "[rack1*2&rack2]";
    odd.reason = Reason::Licenses;
    odd.node_names = "n[1-3]";
    odd.node_count = 3;
    odd.tres_allocated["cpu"] = 6;
    odd.time_limit = TimeLimit{Minutes(30)};
    c1_.send_all(ran(1, at(1), at(2)), odd);
    EXPECT_EQ(ids({.users = {UserId{1001}, UserId{5}}}), "2");
    EXPECT_EQ(ids({.groups = {GroupId{101}}}), "2");
    EXPECT_EQ(ids({.accounts = {kOddName}}), "2");
    EXPECT_EQ(ids({.accounts = {"physics", "' OR 1=1 --", "%"}}), "1");
    EXPECT_EQ(ids({.partitions = {kOddName}}), "2");
    EXPECT_EQ(ids({.qos = {kOddName}}), "2");
    EXPECT_EQ(ids({.names = {kOddName}}), "2");
    EXPECT_EQ(ids({.wckeys = {kOddName}}), "2");
    EXPECT_EQ(ids({.reasons = {"licenses"}}), "2");
    EXPECT_EQ(ids({.constraints = {"rack1", "rack2"}}), "2");
    EXPECT_EQ(ids({.constraints = {"rack1", "rack"}}), "");
    EXPECT_EQ(ids({.nodes = "n[3-9]"}), "2");
    EXPECT_EQ(ids({.nodes = "n1"}), "1 2");
    EXPECT_EQ(ids({.cpus_min = 3}), "2");
    EXPECT_EQ(ids({.cpus_min = 1, .cpus_max = 2}), "1");
    EXPECT_EQ(ids({.nodes_min = 3, .nodes_max = 3}), "2");
    EXPECT_EQ(ids({.limit_min = Minutes(30)}), "2");
    EXPECT_EQ(ids({.limit_min = Minutes(29)}), "");
    EXPECT_EQ(ids({.limit_min = Minutes(29), .limit_max = Minutes(30)}), "2");
    EXPECT_NE(error_of({.nodes = "n[1-"}).detail, "");
}

TEST_F(AccountingJobs, OneOfThePartitionsOfAWaitingJob) {
    AccountedJob waiting = job(1);
    waiting.partition = "short,long";
    AccountedJob wckey = job(2);
    wckey.wckey = "*default";
    c1_.send_all(waiting, wckey);
    EXPECT_EQ(ids({.partitions = {"long"}}), "1");
    EXPECT_EQ(ids({.partitions = {"lon"}}), "");
    EXPECT_EQ(ids({.wckeys = {"default"}}), "2");
}

TEST_F(AccountingJobs, JobsWithoutAnEnd) {
    c1_.send_all(ran(1, at(1), at(2)), job(2));
    EXPECT_EQ(ids({.only_live = true}), "2");
}

TEST_F(AccountingJobs, AnAnswerOfManyJobsIsComplete) {
    std::vector<NumberedFact> facts;
    for (std::uint32_t i = 1; i <= 1000; ++i) facts.push_back({i, ran(i, at(1), at(2))});
    ASSERT_TRUE(accounting_->apply("c1", facts));
    const auto found = runs(*accounting_, {.no_steps = true});
    ASSERT_EQ(found.size(), 1000u);
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(found[i].job.job.value, i + 1);
}

TEST_F(AccountingJobs, ScriptsAreFoundByTheirHash) {
    AccountedJob made = ran(1, at(1), at(2));
    made.script_hash = "abc";
    made.environment_hash = "def";
    c1_.send(made);
    const std::string script("#!/bin/sh\n\0x", 12);
    ASSERT_TRUE(accounting_->put_script("abc", script));
    ASSERT_TRUE(accounting_->put_script("abc", script));
    ASSERT_TRUE(accounting_->put_script("def", "A=1"));
    EXPECT_EQ(runs(*accounting_, {})[0].script, "");
    const auto found = runs(*accounting_, {.scripts = true, .environments = true});
    EXPECT_EQ(found[0].script, script);
    EXPECT_EQ(found[0].environment, "A=1");
}

TEST_F(AccountingJobs, TextThatIsNotUtf8IsKept) {
    AccountedJob made = ran(1, at(1), at(2));
    made.name = made.account = made.partition = "a\xff\xc3";
    c1_.send(made);
    EXPECT_EQ(runs(*accounting_, {.accounts = {"a\xff\xc3"}, .partitions = {"a\xff\xc3"}})[0].job,
              made);
    EXPECT_EQ(ids({.accounts = {"a??"}}), "");
}

TEST_F(AccountingJobs, EventsAndReservationsOfATime) {
    AccountedEvent event{.node = "n1", .start = at(2), .state = "DOWN*", .reason = kOddName};
    AccountedReservation reservation{.id = 1, .name = kOddName, .start = at(5), .end = at(6)};
    c1_.send_all(event, reservation);
    EXPECT_EQ(accounting_->events("c1", at(9), {}).value(), std::vector{event});
    event.end = at(3);
    c1_.send(event);
    EXPECT_EQ(accounting_->events("c1", {}, {}).value(), std::vector{event});
    EXPECT_TRUE(accounting_->events("c1", at(4), {}).value().empty());
    EXPECT_TRUE(accounting_->events("c1", {}, at(1)).value().empty());
    EXPECT_TRUE(accounting_->events("c2", {}, {}).value().empty());
    EXPECT_EQ(accounting_->reservations("c1", at(6), at(7)).value(), std::vector{reservation});
    EXPECT_TRUE(accounting_->reservations("c1", at(7), at(8)).value().empty());
}

// ---- failures

// Fails the next commit, as a crash before it does.
class FailingDatabase : public sql::Database {
public:
    FailingDatabase(std::unique_ptr<sql::Database> real, bool& fails)
        : real_(std::move(real)), fails_(fails) {}
    const sql::Dialect& dialect() const override { return real_->dialect(); }
    Result<std::uint64_t> run(std::string_view statement, const sql::Row& values) override {
        return real_->run(statement, values);
    }
    Result<void> query(std::string_view statement, const sql::Row& values,
                       const std::function<Result<void>(const sql::RowView&)>& each) override {
        return real_->query(statement, values, each);
    }
    Result<void> begin() override { return real_->begin(); }
    Result<void> commit() override {
        if (fails_) return Error{ErrorCode::StoreFailed, "the disk is full"};
        return real_->commit();
    }
    void rollback() override { real_->rollback(); }
    bool is_lost() const override { return real_->is_lost(); }
    Result<void> reconnect() override { return real_->reconnect(); }

private:
    std::unique_ptr<sql::Database> real_;
    bool& fails_;
};

TEST(AccountingFailures, FactsThatWereNotCommittedAreAppliedLater) {
    bool fails = false;
    auto accounting = make_accounting(std::make_unique<FailingDatabase>(
                                          sql::open({.path = ":memory:"}).value(), fails))
                          .value();
    const std::vector<NumberedFact> facts{{1, job(1)}, {2, job(2)}};
    fails = true;
    EXPECT_EQ(accounting->apply("c1", facts).error().detail, "the disk is full");
    fails = false;
    EXPECT_EQ(accounting->last_applied("c1").value(), 0u);
    EXPECT_TRUE(runs(*accounting, {}).empty());
    EXPECT_EQ(accounting->apply("c1", facts).value(), 2u);
    EXPECT_EQ(testing_accounting::ids(*accounting, {}), "1 2");
}

TEST(AccountingFailures, ANewerSchemaIsRefused) {
    const TemporaryDirectory directory;
    const sql::Target target{.path = directory.path() + "/accounting.db"};
    ASSERT_TRUE(open_accounting(target));
    ASSERT_TRUE(open_accounting(target));  // again: there is nothing to make
    ASSERT_TRUE(sql::open(target).value()->run("UPDATE meta SET value = 99 WHERE name = 'schema'"));
    const std::string why = open_accounting(target).error().detail;
    EXPECT_NE(why.find("schema 99"), std::string::npos) << why;
    EXPECT_NE(why.find(fmt::format("knows {}", accounting::kSchema)), std::string::npos) << why;
}

TEST(AccountingFailures, AnOlderSchemaIsMigratedStepByStep) {
    auto database = sql::open({.path = ":memory:"}).value();
    ASSERT_TRUE(accounting::prepare_schema(*database));
    const auto add_column = [](sql::Database& at) -> Result<void> {
        TRY(at.run("ALTER TABLE jobs ADD COLUMN extra BIGINT"));
        return {};
    };
    const auto fail = [](sql::Database&) -> Result<void> {
        return Error{ErrorCode::StoreFailed, "no"};
    };
    constexpr std::int64_t kNow = accounting::kSchema;
    const accounting::AccountingMigration good[] = {{kNow, add_column}};
    const accounting::AccountingMigration bad[] = {{kNow, add_column}, {kNow + 1, fail}};
    EXPECT_FALSE(accounting::prepare_schema(*database, {.version = kNow + 1}));  // no step
    EXPECT_FALSE(accounting::prepare_schema(*database, {.version = kNow + 2, .steps = bad}));
    // The first step is done, the second is not.
    EXPECT_TRUE(accounting::prepare_schema(*database, {.version = kNow + 1, .steps = good}));
    EXPECT_TRUE(database->run("UPDATE jobs SET extra = 1"));
}

TEST(AccountingFailures, ADatabaseOfTheFirstVersionGetsTheTableOfImports) {
    auto database = sql::open({.path = ":memory:"}).value();
    ASSERT_TRUE(accounting::prepare_schema(*database));
    ASSERT_TRUE(database->run("DROP TABLE imports"));
    ASSERT_TRUE(database->run("UPDATE meta SET value = 1 WHERE name = 'schema'"));
    ASSERT_TRUE(accounting::prepare_schema(*database));
    EXPECT_TRUE(accounting::imports_after(*database, "c1", 0).value().empty());
}

TEST(AccountingFailures, ADamagedRowIsAnError) {
    const TemporaryDirectory directory;
    const sql::Target target{.path = directory.path() + "/accounting.db"};
    auto accounting = open_accounting(target).value();
    ASSERT_TRUE(accounting->apply("c1", {{1, job(1)}}));
    ASSERT_TRUE(sql::open(target).value()->run("UPDATE jobs SET data = ?", {sql::Bytes{"\xff"}}));
    const auto done =
        accounting->jobs({}, at(9), [](const AccountedRun&) -> Result<void> { return {}; });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().detail.find("jobs"), std::string::npos);
}

}  // namespace
}  // namespace sluice
