// accounting/archive_test.cc
//
// Old rows leave the database, but not before their archive is on disk.
#include <fstream>

#include "accounting/archive_file.h"
#include "accounting/testing.h"

namespace sluice {
namespace {

using namespace testing_accounting;
using What = PurgeRule::What;

class AccountingArchive : public testing::Test {
protected:
    // Jobs of the first ten hours, one that still runs, and one of each other record.
    AccountingArchive() {
        for (std::uint32_t i = 1; i <= 10; ++i) {
            AccountedJob made = ran(i, at(static_cast<int>(i)), at(static_cast<int>(i) + 1));
            made.name = kOddName;
            made.script_hash = "hash" + std::to_string(i);
            c1_.send_all(made, step(i, kBatchStep));
            EXPECT_TRUE(accounting_->put_script(made.script_hash, "script"));
        }
        AccountedJob running = job(11);
        running.state = ShownState::Running;
        running.start = at(1);
        c1_.send(running);
        c1_.send(AccountedEvent{.start = at(0), .tres = {{"cpu", 4}}});
        c1_.send(AccountedEvent{.node = "n1", .start = at(1), .end = at(2), .state = "DOWN"});
        c1_.send(AccountedReservation{.id = 1, .name = "r", .start = at(1), .end = at(2)});
        Sender(*accounting_, "c2").send(ran(1, at(1), at(2)));
    }
    Result<void> purge(What what, Time before, bool archive = true) {
        return accounting_->purge("c1", {what, now_ - before, archive}, now_, directory_.path());
    }
    std::vector<std::string> archives() const {
        std::vector<std::string> found;
        for (const auto& each : std::filesystem::directory_iterator(directory_.path()))
            found.push_back(each.path());
        return found;
    }
    std::string ids() { return testing_accounting::ids(*accounting_, {.clusters = {"c1"}}); }

    const TimeZone zone_{"UTC"};
    const Time now_ = std::chrono::time_point_cast<Seconds>(std::chrono::system_clock::now());
    const TemporaryDirectory directory_;
    std::unique_ptr<Accounting> accounting_ = open_accounting({.path = ":memory:"}).value();
    Sender c1_{*accounting_, "c1"};
};

TEST_F(AccountingArchive, JobsThatEndedBeforeLeaveWithTheirSteps) {
    ASSERT_TRUE(purge(What::Jobs, at(6)));
    EXPECT_EQ(ids(), "5 6 7 8 9 10 11");  // job 5 ended at 6:00
    EXPECT_EQ(testing_accounting::ids(*accounting_, {.clusters = {"c2"}}), "1");
    ASSERT_EQ(archives().size(), 1u);
    EXPECT_EQ(accounting_->load_archive(archives()[0]).value(), 8u);
    EXPECT_EQ(accounting_->load_archive(archives()[0]).value(), 0u);  // nothing is doubled
    EXPECT_EQ(ids(), "1 2 3 4 5 6 7 8 9 10 11");
    const auto first = runs(*accounting_, {.clusters = {"c1"}, .jobs = {"1"}});
    EXPECT_EQ(first[0].job.name, kOddName);
    EXPECT_EQ(first[0].steps.size(), 1u);
}

TEST_F(AccountingArchive, WithoutAnArchiveNoFileIsWritten) {
    ASSERT_TRUE(purge(What::Jobs, at(6), false));
    EXPECT_EQ(ids(), "5 6 7 8 9 10 11");
    EXPECT_TRUE(archives().empty());
}

TEST_F(AccountingArchive, WhatCannotBeArchivedStays) {
    const auto done = accounting_->purge("c1", {What::Jobs, now_ - at(6), true}, now_,
                                         directory_.path() + "/missing");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().detail.find("/missing/"), std::string::npos);
    EXPECT_EQ(ids(), "1 2 3 4 5 6 7 8 9 10 11");
    EXPECT_FALSE(accounting_->purge("c1", {What::Jobs, now_ - at(6), true}, now_, ""));
    EXPECT_EQ(ids(), "1 2 3 4 5 6 7 8 9 10 11");
}

TEST_F(AccountingArchive, OtherKinds) {
    ASSERT_TRUE(purge(What::Steps, at(20)));
    ASSERT_TRUE(purge(What::Events, at(6)));
    ASSERT_TRUE(purge(What::Reservations, at(6)));
    EXPECT_EQ(ids(), "1 2 3 4 5 6 7 8 9 10 11");
    EXPECT_EQ(accounting_->events("c1", {}, {}).value().size(), 1u);  // that of the cluster lasts
    EXPECT_TRUE(accounting_->reservations("c1", {}, {}).value().empty());
    for (const std::string& file : archives()) EXPECT_TRUE(accounting_->load_archive(file)) << file;
    EXPECT_EQ(accounting_->events("c1", {}, {}).value().size(), 2u);
    EXPECT_EQ(accounting_->reservations("c1", {}, {}).value().size(), 1u);
}

TEST_F(AccountingArchive, UsageStaysWhenItsJobsLeave) {
    ASSERT_TRUE(accounting_->roll_up("c1", at(24 * 70)));
    const UsageQuestion all{"c1", RollupPeriod::Hour, at(0), at(24 * 70)};
    const auto before = accounting_->usage(all).value();
    ASSERT_TRUE(purge(What::Jobs, at(6)));
    c1_.send(ran(2, at(2), at(2, 30)));  // late: the jobs beside it are gone
    ASSERT_TRUE(accounting_->roll_up("c1", at(24 * 70)));
    EXPECT_EQ(accounting_->usage(all).value(), before);
}

TEST_F(AccountingArchive, UsageLeavesByMonth) {
    ASSERT_TRUE(accounting_->roll_up("c1", at(24 * 70)));
    const UsageQuestion all{"c1", RollupPeriod::Day, at(0), at(24 * 70)};
    const auto before = accounting_->usage(all).value();
    const auto cluster_before = accounting_->cluster_usage(all).value();
    ASSERT_TRUE(purge(What::Usage, at(24 * 40)));  // in February: January leaves
    const auto after = accounting_->usage(all).value();
    ASSERT_FALSE(after.empty());
    EXPECT_EQ(after[0].start, at(24 * 31));
    ASSERT_TRUE(accounting_->load_archive(archives().at(0)));
    EXPECT_EQ(accounting_->usage(all).value(), before);
    EXPECT_EQ(accounting_->cluster_usage(all).value(), cluster_before);
}

TEST_F(AccountingArchive, ADamagedArchiveChangesNothing) {
    ASSERT_TRUE(purge(What::Jobs, at(6)));
    const std::string file = archives().at(0);
    const auto size = std::filesystem::file_size(file);
    for (const auto cut : {size - 1, size - 4, size / 2, std::uintmax_t{20}, std::uintmax_t{3}}) {
        std::filesystem::resize_file(file, cut);
        const auto loaded = accounting_->load_archive(file);
        ASSERT_FALSE(loaded) << cut;
        EXPECT_NE(loaded.error().detail.find(file), std::string::npos);
    }
    EXPECT_EQ(ids(), "5 6 7 8 9 10 11");
    EXPECT_FALSE(accounting_->load_archive(directory_.path() + "/none"));
}

TEST_F(AccountingArchive, AnArchiveIsNotOverwritten) {
    ASSERT_TRUE(purge(What::Jobs, at(6)));
    c1_.send(ran(3, at(3), at(4)));
    ASSERT_TRUE(purge(What::Jobs, at(6)));
    EXPECT_EQ(archives().size(), 2u);
    ASSERT_TRUE(purge(What::Jobs, at(6)));  // nothing is left: no file
    EXPECT_EQ(archives().size(), 2u);
}

TEST_F(AccountingArchive, TransactionsByTime) {
    Policy policy;
    policy.version = 1;
    ASSERT_TRUE(accounting_->set_policy(
        policy, 0, {{.time = at(1), .action = "Add Users"}, {.time = at(9), .action = "Modify"}}));
    ASSERT_TRUE(purge(What::Transactions, at(6)));
    EXPECT_EQ(accounting_->transactions({}, {}).value().size(), 1u);
    EXPECT_EQ(accounting_->load_archive(archives().at(0)).value(), 1u);
    EXPECT_EQ(accounting_->load_archive(archives().at(0)).value(), 0u);
    EXPECT_EQ(accounting_->transactions({}, {}).value().size(), 2u);
}

}  // namespace
}  // namespace sluice
