// accounting/view_test.cc: what each role sees with each word of PrivateData.
#include "accounting/view.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace sluice {
namespace {

// science (coordinator: cora) has physics, which has ann and bob; arts has carl and cora's own job.
Policy tree() {
    Policy policy;
    const auto account = [&](std::uint32_t id, std::uint32_t parent, const char* name) {
        policy.accounts.push_back({.name = name});
        policy.associations.push_back(
            {.id = id, .parent = parent, .cluster = "c", .account = name});
    };
    const auto user = [&](std::uint32_t id, std::uint32_t parent, const char* name,
                          const char* of) {
        policy.users.push_back({.name = name});
        policy.associations.push_back(
            {.id = id, .parent = parent, .cluster = "c", .account = of, .user = name});
        policy.wckeys.push_back({.id = 100 + id, .name = "w", .cluster = "c", .user = name});
    };
    account(1, 0, "root");
    account(2, 1, "science");
    account(3, 2, "physics");
    account(4, 1, "arts");
    user(5, 3, "ann", "physics");
    user(6, 3, "bob", "physics");
    user(7, 4, "carl", "arts");
    user(8, 4, "cora", "arts");
    user(9, 4, "opal", "arts");
    policy.accounts[1].coordinators = {"cora"};
    policy.users.back().admin_level = AdminLevel::Operator;
    return policy;
}

AccountingCaller caller(const std::string& name) {
    const Policy policy = tree();
    for (const Association& each : policy.associations)
        if (each.user == name) return {UserId{each.id}, name};
    return {UserId{0}, name, name == "root"};
}

template <typename Record>
std::string names(const std::vector<Record>& records) {
    std::vector<std::string> all;
    for (const Record& each : records) all.push_back(each.name);
    return join(all, " ");
}

struct Case {
    const char* viewer;
    HiddenData hidden;
    std::string jobs, usage;  // of which associations
    std::string users, accounts, associations;
    bool events;
};

const std::string kUsers = "ann bob carl cora opal", kAccounts = "root science physics arts";
const std::string kEach = "5 6 7 8 9", kAll = "1 2 3 4 " + kEach;

TEST(AccountingView, HasOneRuleForEachWordAndRole) {
    const HiddenData every{true, true, true, true, true, true};
    const Case cases[] = {
        {"ann", {}, kEach, kEach, kUsers, kAccounts, kAll, true},
        {"ann", every, "5", "5", "ann", "", "1 2 3 5", false},
        {"ann", {.jobs = true}, "5", kEach, kUsers, kAccounts, kAll, true},
        {"ann", {.users = true}, kEach, kEach, "ann", kAccounts, "1 2 3 5", true},
        {"ann", {.accounts = true}, kEach, kEach, kUsers, "", kAll, true},
        {"ann", {.usage = true}, kEach, "5", kUsers, kAccounts, kAll, true},
        {"ann", {.events = true}, kEach, kEach, kUsers, kAccounts, kAll, false},
        {"cora", {}, kEach, kEach, kUsers, kAccounts, kAll, true},
        {"cora", every, "5 6 8", "5 6 8", "cora", "science physics", "1 2 3 4 5 6 8", false},
        {"cora", {.jobs = true}, "5 6 8", kEach, kUsers, kAccounts, kAll, true},
        {"cora", {.users = true}, kEach, kEach, "cora", kAccounts, "1 2 3 4 5 6 8", true},
        {"cora", {.accounts = true}, kEach, kEach, kUsers, "science physics", kAll, true},
        {"cora", {.usage = true}, kEach, "5 6 8", kUsers, kAccounts, kAll, true},
        {"opal", every, kEach, kEach, kUsers, kAccounts, kAll, true},
        {"root", every, kEach, kEach, kUsers, kAccounts, kAll, true},
        {"stranger", every, "", "", "", "", "", false},
    };
    const Policy policy = tree();
    for (const Case& each : cases) {
        SCOPED_TRACE(each.viewer);
        const AccountingView view(policy, caller(each.viewer), each.hidden);
        std::vector<std::string> jobs, usage, wckeys, associations;
        for (const Association& one : policy.associations) {
            if (one.user.empty()) continue;
            AccountedJob job;
            job.user = UserId{one.id};
            job.account = one.account;
            if (view.sees(job)) jobs.push_back(std::to_string(one.id));
            if (view.sees_usage_of(one.id)) usage.push_back(std::to_string(one.id));
        }
        EXPECT_EQ(join(jobs, " "), each.jobs);
        EXPECT_EQ(join(usage, " "), each.usage);
        const Policy seen = view.visible_policy();
        for (const Association& one : seen.associations)
            associations.push_back(std::to_string(one.id));
        EXPECT_EQ(names(seen.users), each.users);
        EXPECT_EQ(names(seen.accounts), each.accounts);
        EXPECT_EQ(join(associations, " "), each.associations);
        EXPECT_EQ(view.sees_all(HiddenKind::Events), each.events);
    }
}

TEST(AccountingView, WckeysAreThoseOfTheUser) {
    const Policy policy = tree();
    const AccountingView view(policy, caller("ann"), {.users = true, .usage = true});
    EXPECT_TRUE(view.sees_usage_of_wckey(105));
    EXPECT_FALSE(view.sees_usage_of_wckey(106));
    EXPECT_EQ(view.visible_policy().wckeys.size(), 1u);
}

}  // namespace
}  // namespace sluice
