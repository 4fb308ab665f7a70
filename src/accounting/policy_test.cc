// accounting/policy_test.cc
//
// The policy survives, changes are written alone, and two writers do not overwrite each other.
#include "accounting/policy_rows.h"
#include "accounting/testing.h"

namespace sluice {
namespace {

using namespace testing_accounting;

Association association(std::uint32_t id, std::uint32_t parent) {
    Association made;
    made.id = id;
    made.parent = parent;
    made.cluster = "c1";
    made.account = kOddName;
    return made;
}

Policy policy_of_all_kinds() {
    Policy policy;
    policy.version = 1;
    policy.next_id = 20;
    policy.qos = {{.id = 1, .name = "normal"}, {.id = 10, .name = kOddName}};
    policy.accounts = {{.name = kOddName, .description = "d"}, {.name = "root"}};
    policy.users = {{.name = kOddName, .uid = UserId{5}}, {.name = "z"}};
    policy.associations = {association(2, 0), association(9, 2), association(3, 9)};
    policy.associations[2].qos = {{"normal"}};
    policy.wckeys = {{.id = 11, .name = kOddName, .cluster = "c1", .user = "z"}};
    policy.licenses = {{.id = 12, .name = "matlab", .shares = {{"c1", 50}}}};
    policy.clusters = {{.id = 13, .name = "c1"}};
    policy.tres = {{1, "cpu"}, {2, "mem"}};
    std::sort(policy.accounts.begin(), policy.accounts.end(),
              [](const Account& a, const Account& b) { return a.name < b.name; });
    return policy;
}

class AccountingPolicy : public testing::Test {
protected:
    AccountingPolicy() { EXPECT_TRUE(accounting_->set_policy(policy_of_all_kinds(), 0, {})); }
    const TemporaryDirectory directory_;
    const sql::Target target_{.path = directory_.path() + "/accounting.db"};
    std::unique_ptr<Accounting> accounting_ = open_accounting(target_).value();
};

TEST_F(AccountingPolicy, IsLoadedAsItWasSaved) {
    EXPECT_EQ(open_accounting(target_).value()->policy().value(), policy_of_all_kinds());
}

TEST_F(AccountingPolicy, AnEmptyDatabaseHasAnEmptyOne) {
    EXPECT_EQ(open_accounting({.path = ":memory:"}).value()->policy().value(), Policy{});
}

TEST_F(AccountingPolicy, OnlyDifferencesAreWritten) {
    Policy changed = policy_of_all_kinds();
    changed.version = 2;
    changed.users[1].admin_level = AdminLevel::Operator;
    changed.accounts.pop_back();
    auto database = sql::open(target_).value();
    // A row that a save touches becomes visible as one without its mark.
    ASSERT_TRUE(database->run(
        "CREATE TRIGGER no_other BEFORE UPDATE ON policy WHEN old.kind <> 'user' BEGIN SELECT "
        "RAISE(ABORT, 'touched'); END"));
    const auto saved = accounting_->set_policy(changed, 1, {});
    ASSERT_TRUE(saved) << saved.error().detail;
    EXPECT_EQ(accounting_->policy().value(), changed);
}

TEST_F(AccountingPolicy, TheSecondOfTwoWritersIsRefused) {
    Policy mine = policy_of_all_kinds(), theirs = mine;
    mine.version = theirs.version = 2;
    mine.users.clear();
    theirs.accounts.clear();
    auto other = open_accounting(target_).value();
    ASSERT_TRUE(other->set_policy(theirs, 1, {}));
    EXPECT_EQ(accounting_->set_policy(mine, 1, {{.action = "Remove Users"}}).error().code,
              ErrorCode::AccountingBusy);
    EXPECT_EQ(accounting_->policy().value(), theirs);
    EXPECT_TRUE(accounting_->transactions({}, {}).value().empty());
}

TEST_F(AccountingPolicy, IsNotSavedInPart) {
    Policy wrong = policy_of_all_kinds();
    wrong.version = 2;
    wrong.users.push_back(wrong.users[0]);
    EXPECT_EQ(accounting_->set_policy(wrong, 1, {}).error().code, ErrorCode::BadArgument);
    wrong = policy_of_all_kinds();
    EXPECT_EQ(accounting_->set_policy(wrong, 1, {}).error().code, ErrorCode::BadArgument);
    EXPECT_EQ(accounting_->policy().value(), policy_of_all_kinds());
}

TEST_F(AccountingPolicy, TransactionsSayWhoChangedWhat) {
    Policy changed = policy_of_all_kinds();
    changed.version = 2;
    const Transaction first{.time = at(1), .action = "Add Users", .actor = kOddName, .info = "i"};
    const Transaction second{.time = at(3), .action = "Add Accounts", .actor = "root"};
    ASSERT_TRUE(accounting_->set_policy(changed, 1, {first, second}));
    const auto all = accounting_->transactions({}, {}).value();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_LT(all[0].id, all[1].id);
    EXPECT_EQ(all[0].actor, kOddName);
    EXPECT_EQ(all[1].action, "Add Accounts");
    EXPECT_EQ(accounting_->transactions(at(2), {}).value().size(), 1u);
    EXPECT_EQ(accounting_->transactions({}, at(1)).value().size(), 1u);
    EXPECT_EQ(accounting_->transactions(at(1, 1), at(2)).value().size(), 0u);
}

}  // namespace
}  // namespace sluice
