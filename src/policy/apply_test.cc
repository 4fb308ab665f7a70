// policy/apply_test.cc: the rules of accounts, users, associations, QOS and the others.
#include "policy/apply.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/errors.h"

namespace sluice {
namespace {

using Verb = PolicyVerb;
using Entity = PolicyEntity;
using Names = std::vector<std::string>;

const PolicyActor kRoot{.name = "root", .uid = UserId{0}, .is_root = true};
constexpr Time kNow{Seconds{1000}};

// A small site: science (physics, chemistry), arts; ann and bob in physics, bob also in arts.
class PolicyTest : public testing::Test {
protected:
    PolicyTest() {
        policy.tres = {{1, "cpu"}, {1001, "gres/gpu"}};
        done(account("science"));
        done(account("physics", "science"));
        done(account("chemistry", "science"));
        done(account("arts"));
        done(user({"ann", "bob"}, "physics"));
        done(user({"bob"}, "arts"));
    }

    static PolicyStep account(const std::string& name, const std::string& parent = "root") {
        PolicyStep step{.verb = Verb::Add, .entity = Entity::Account, .names = {name}};
        step.record.parent = parent;
        return step;
    }
    static PolicyStep user(const Names& names, const std::string& account) {
        PolicyStep step{.verb = Verb::Add, .entity = Entity::User, .names = names};
        step.accounts = {account};
        return step;
    }
    static PolicyStep step(Verb verb, Entity entity, const Names& names) {
        return {.verb = verb, .entity = entity, .names = names};
    }

    Result<PolicyOutcome> apply(const PolicyStep& step, const PolicyActor& actor = kRoot) {
        return apply_change(policy, {{step}}, actor, facts, kNow);
    }
    PolicyOutcome done(const PolicyStep& step, const PolicyActor& actor = kRoot) {
        Result<PolicyOutcome> outcome = apply(step, actor);
        EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().detail);
        return outcome ? *outcome : PolicyOutcome{};
    }
    // What is said; a refused change changes nothing.
    std::string refused(const PolicyStep& step, const PolicyActor& actor = kRoot) {
        const Policy before = policy;
        const Result<PolicyOutcome> outcome = apply(step, actor);
        EXPECT_EQ(policy, before);
        if (outcome) return "";
        return outcome.error().detail.empty() ? std::string(text_of(outcome.error().code))
                                              : outcome.error().detail;
    }
    const Association* find(const std::string& account, const std::string& user = "") {
        for (const Association& each : policy.associations) {
            if (!each.deleted && each.account == account && each.user == user) return &each;
        }
        return nullptr;
    }

    Policy policy = first_policy("c", kNow);
    PolicyFacts facts{.gres = {"gpu"}};
};

TEST_F(PolicyTest, AFreshPolicyHasTheClusterRootAndNormal) {
    const Policy fresh = first_policy("c", kNow);
    EXPECT_EQ(fresh.clusters.at(0).name, "c");
    EXPECT_EQ(fresh.associations.size(), 2u);
    EXPECT_TRUE(fresh.associations[1].is_default);
    EXPECT_EQ(fresh.users.at(0).admin_level, AdminLevel::Administrator);
    EXPECT_EQ(fresh.qos.at(0).name, "normal");
}

TEST_F(PolicyTest, AccountsNeedAParentAndAreAddedOnce) {
    EXPECT_EQ(find("physics")->parent, find("science")->id);
    EXPECT_TRUE(done(account("physics", "science")).is_empty());
    EXPECT_NE(refused(account("new", "nosuch")).find("Parent account 'nosuch' doesn't exist"),
              std::string::npos);
    PolicyStep elsewhere = account("new");
    elsewhere.clusters = {"nosuch"};
    EXPECT_NE(refused(elsewhere).find("This cluster 'nosuch' doesn't exist"), std::string::npos);
    EXPECT_NE(refused(account("a b")).find("cannot be the name"), std::string::npos);
    EXPECT_EQ(done(account("new", "arts")).names, Names{"new"});
}

TEST_F(PolicyTest, JobsOfAQosAreSuspendedOnlyWhereSlurmConfAllowsIt) {
    PolicyStep change = step(Verb::Modify, Entity::Qos, {"normal"});
    change.qos.preempt_mode = PreemptWords{.mode = PreemptMode::Suspend};
    facts.cannot_suspend = "c1";
    EXPECT_NE(refused(change).find("needs PreemptMode=...,GANG"), std::string::npos);
    facts.cannot_suspend.clear();
    done(change);
    EXPECT_EQ(policy.qos.at(0).preempt_mode, "SUSPEND");
}

TEST_F(PolicyTest, TextsHaveLimits) {
    PolicyStep change = step(Verb::Modify, Entity::Qos, {"normal"});
    change.qos.description = std::string(1025, 'd');
    EXPECT_NE(refused(change), "");
    change.qos.description = std::string(1024, 'd');
    done(change);
}

TEST_F(PolicyTest, NewResourcesAreNumberedOnce) {
    Policy fresh = first_policy("c", kNow);
    const std::uint64_t version = fresh.version;
    EXPECT_TRUE(add_tres(fresh, {{"cpu", 4}, {"gres/gpu", 0}, {"gres/gpu:a40", 2}}));
    ASSERT_EQ(fresh.tres.size(), 10u);
    EXPECT_EQ(fresh.tres[8], (TresKind{1001, "gres/gpu"}));
    EXPECT_EQ(fresh.tres[9], (TresKind{1002, "gres/gpu:a40"}));
    EXPECT_EQ(fresh.version, version + 1);
    EXPECT_FALSE(add_tres(fresh, {{"gres/gpu", 8}}));
    EXPECT_EQ(fresh.version, version + 1);
}

TEST_F(PolicyTest, AnAccountCannotBeMovedBelowItself) {
    PolicyStep move = step(Verb::Modify, Entity::Account, {"science"});
    move.record.parent = "physics";
    EXPECT_NE(refused(move).find("sub-accounts"), std::string::npos);
    move.record.parent = "nosuch";
    EXPECT_EQ(refused(move), " Parent Account nosuch doesn't exist.");
    move.record.parent = "arts";
    EXPECT_EQ(done(move).associations.at(0).parent_account, "root");
    EXPECT_EQ(find("science")->parent, find("arts")->id);
}

TEST_F(PolicyTest, TheFirstAccountOfAUserIsItsDefault) {
    EXPECT_TRUE(find("physics", "bob")->is_default);
    EXPECT_FALSE(find("arts", "bob")->is_default);
    PolicyStep change = step(Verb::Modify, Entity::User, {"bob"});
    change.record.default_account = "chemistry";
    EXPECT_NE(refused(change).find("aren't associated with new default account 'chemistry'"),
              std::string::npos);
    change.record.default_account = "arts";
    done(change);
    EXPECT_TRUE(find("arts", "bob")->is_default);
    EXPECT_FALSE(find("physics", "bob")->is_default);
}

TEST_F(PolicyTest, TheDefaultAccountOfAUserWithOthersStays) {
    PolicyStep leave = step(Verb::Delete, Entity::User, {"bob"});
    leave.accounts = {"physics"};
    EXPECT_NE(refused(leave).find("You can not remove the default account of a user"),
              std::string::npos);
    leave.accounts = {"arts"};
    EXPECT_EQ(done(leave).associations.size(), 1u);
    leave.accounts = {"physics"};  // the last one: the user goes with it
    EXPECT_EQ(done(leave).users_left, Names{"bob"});
    EXPECT_TRUE(done(leave).is_empty());
}

TEST_F(PolicyTest, LiveJobsKeepTheirAssociation) {
    facts.jobs = {{.id = 7, .cluster = "c", .association = find("physics", "ann")->id}};
    EXPECT_NE(refused(step(Verb::Delete, Entity::User, {"ann"})).find("JobID = 7"),
              std::string::npos);
    EXPECT_NE(refused(step(Verb::Delete, Entity::Account, {"science"})).find("Job(s) active"),
              std::string::npos);
    facts.jobs[0].association = find("arts", "bob")->id;
    EXPECT_EQ(done(step(Verb::Delete, Entity::User, {"ann"})).names, Names{"ann"});
}

TEST_F(PolicyTest, DeletingAnAccountDeletesWhatIsBelow) {
    done([&] {
        PolicyStep change = step(Verb::Modify, Entity::User, {"bob"});
        change.record.default_account = "arts";
        return change;
    }());
    EXPECT_EQ(done(step(Verb::Delete, Entity::Account, {"science"})).names, Names{"science"});
    EXPECT_FALSE(find("physics"));
    EXPECT_FALSE(find("physics", "ann"));
    EXPECT_TRUE(find("arts", "bob"));
    EXPECT_NE(refused(step(Verb::Delete, Entity::Account, {"root"})), "");
}

TEST_F(PolicyTest, ADeletedAssociationComesBackWithItsId) {
    const std::uint32_t id = find("physics", "ann")->id;
    done(step(Verb::Delete, Entity::User, {"ann"}));
    done(user({"ann"}, "physics"));
    EXPECT_EQ(find("physics", "ann")->id, id);
    EXPECT_TRUE(find("physics", "ann")->is_default);
}

TEST_F(PolicyTest, LimitsAreSetInheritedAndRemoved) {
    PolicyStep limit = step(Verb::Modify, Entity::Account, {"science"});
    ASSERT_TRUE(set_association_key(limit.limits, "maxjobs", 0, "5"));
    ASSERT_TRUE(set_association_key(limit.limits, "grptres", 0, "cpu=8,gres/gpu=2"));
    EXPECT_EQ(done(limit).associations.size(), 1u);
    EXPECT_EQ(inherited(policy, *find("physics", "ann")).of_each.running, 5u);
    EXPECT_TRUE(inherited(policy, *find("physics", "ann")).of_all.tres.empty());
    limit.limits = {};
    ASSERT_TRUE(set_association_key(limit.limits, "MaxJobs", 0, "-1"));
    done(limit);
    EXPECT_FALSE(inherited(policy, *find("physics", "ann")).of_each.running);
    EXPECT_EQ(find("science")->of_all.tres.at("gres/gpu"), 2u);
    limit.limits = {};
    ASSERT_TRUE(set_association_key(limit.limits, "GrpTRES", 0, "gres/frob=1"));
    EXPECT_EQ(refused(limit), " no TRES known by type gres/frob");
}

TEST_F(PolicyTest, WrongNumbersAreNamed) {
    AssociationChange change;
    auto said = [&](const char* key, const char* value) {
        const Result<void> set = set_association_key(change, key, 0, value);
        return set ? "" : set.error().detail;
    };
    EXPECT_EQ(said("maxjobs", "abc"), "Invalid value for MaxJobs (abc)");
    EXPECT_EQ(said("maxjobs", "99999999999"), "Invalid value for MaxJobs (99999999999)");
    EXPECT_EQ(said("maxjobs", "4294967293"), "");
    EXPECT_EQ(said("fairshare", "-2"), "Invalid value for Fairshare (-2)");
    EXPECT_EQ(said("fairshare", "parent"), "");
    EXPECT_EQ(said("maxwall", "x"), "Bad MaxWall time format: MaxWall=x");
    EXPECT_EQ(set_association_key(change, "bogus", 0, "1").error().code, ErrorCode::NotFound);
}

TEST_F(PolicyTest, TheDefaultQosMustBeAllowed) {
    done(step(Verb::Add, Entity::Qos, {"high"}));
    PolicyStep change = step(Verb::Modify, Entity::User, {"ann"});
    change.limits.default_qos = "high";
    EXPECT_NE(refused(change).find("don't have access to their default qos"), std::string::npos);
    change.limits.default_qos = "nosuch";
    EXPECT_NE(refused(change).find("You gave a bad qos 'nosuch'"), std::string::npos);
    change.limits = {};
    change.limits.default_qos = "high";
    change.limits.qos_added = {"high"};
    done(change);
    EXPECT_EQ(find("physics", "ann")->qos, (Names{"high", "normal"}));
    change.limits = {};
    change.limits.qos_removed = {"high"};  // it is the default
    EXPECT_NE(refused(change), "");
    change.limits = {};
    change.limits.default_qos = "";
    change.limits.qos_replaced = true;  // QOS=: as the parent
    done(change);
    EXPECT_FALSE(find("physics", "ann")->qos);
}

TEST_F(PolicyTest, QosInUseIsNotDeleted) {
    done(step(Verb::Add, Entity::Qos, {"high", "low"}));
    EXPECT_TRUE(done(step(Verb::Add, Entity::Qos, {"high"})).is_empty());
    facts.jobs = {{.id = 7, .cluster = "c", .association = 0, .qos = "high"}};
    EXPECT_NE(refused(step(Verb::Delete, Entity::Qos, {"high"})).find("JobID = 7"),
              std::string::npos);
    facts.jobs.clear();
    facts.partition_qos = {"low"};
    EXPECT_NE(refused(step(Verb::Delete, Entity::Qos, {"low"})), "");
    EXPECT_NE(refused(step(Verb::Delete, Entity::Qos, {"normal"})), "");
    EXPECT_EQ(done(step(Verb::Delete, Entity::Qos, {"high"})).names, Names{"high"});
    EXPECT_TRUE(done(step(Verb::Delete, Entity::Qos, {"high"})).is_empty());
}

TEST_F(PolicyTest, PreemptionLoopsAreRefused) {
    done(step(Verb::Add, Entity::Qos, {"high", "low"}));
    PolicyStep change = step(Verb::Modify, Entity::Qos, {"high"});
    change.qos.preempt_added = {"low"};
    done(change);
    PolicyStep back = step(Verb::Modify, Entity::Qos, {"low"});
    back.qos.preempt_added = {"high"};
    EXPECT_NE(refused(back).find("QOS Preemption loop detected"), std::string::npos);
    back.qos.preempt_added = {"nosuch"};
    EXPECT_NE(refused(back).find("You gave a bad qos 'nosuch'"), std::string::npos);
}

TEST_F(PolicyTest, UsersMayChangeTheirOwnDefaultsOnly) {
    const PolicyActor bob{.name = "bob", .uid = UserId{5}};
    PolicyStep own = step(Verb::Modify, Entity::User, {"bob"});
    own.record.default_account = "arts";
    done(own, bob);
    own.limits.shares = 100;
    EXPECT_EQ(refused(own, bob), text_of(ErrorCode::AccessDenied));
    PolicyStep other = step(Verb::Modify, Entity::User, {"ann"});
    other.record.default_account = "physics";
    EXPECT_EQ(refused(other, bob), text_of(ErrorCode::AccessDenied));
    PolicyStep level = step(Verb::Modify, Entity::User, {"bob"});
    level.record.admin_level = AdminLevel::Administrator;
    EXPECT_EQ(refused(level, bob), text_of(ErrorCode::AccessDenied));
    for (Entity entity : {Entity::Account, Entity::Qos, Entity::Cluster, Entity::Resource})
        EXPECT_NE(refused(step(Verb::Add, entity, {"x"}), bob), "");
}

TEST_F(PolicyTest, CoordinatorsActInTheirAccountsAndBelow) {
    const PolicyActor bob{.name = "bob", .uid = UserId{5}};
    PolicyStep promote = step(Verb::Add, Entity::Coordinator, {"bob"});
    promote.accounts = {"science"};
    done(promote);
    done(user({"cem"}, "chemistry"), bob);
    EXPECT_NE(refused(user({"dan"}, "arts"), bob), "");
    done(account("optics", "physics"), bob);
    EXPECT_NE(refused(account("music", "arts"), bob), "");
    PolicyStep limit = step(Verb::Modify, Entity::Account, {"physics"});
    limit.limits.shares = 7;
    done(limit, bob);
    limit.names = {"science"};  // its own account is limited by others
    EXPECT_NE(refused(limit, bob), "");
    EXPECT_NE(refused(step(Verb::Delete, Entity::Account, {"chemistry"}), bob), "");
    PolicyStep admin = user({"eve"}, "physics");
    admin.record.admin_level = AdminLevel::Operator;
    EXPECT_NE(refused(admin, bob), "");
    promote.verb = Verb::Delete;
    EXPECT_FALSE(done(promote).is_empty());
    EXPECT_NE(refused(user({"eve"}, "physics"), bob), "");
}

TEST_F(PolicyTest, OperatorsChangeAccountsButNoLevelsAndNoQos) {
    PolicyStep level = step(Verb::Modify, Entity::User, {"ann"});
    level.record.admin_level = AdminLevel::Operator;
    done(level);
    const PolicyActor ann{.name = "ann", .uid = UserId{4}};
    done(account("new"), ann);
    EXPECT_NE(refused(level, ann), "");
    EXPECT_NE(refused(step(Verb::Add, Entity::Qos, {"q"}), ann), "");
    EXPECT_NE(refused(step(Verb::Add, Entity::Cluster, {"d"}), ann), "");
}

TEST_F(PolicyTest, ClustersHaveATreeOfTheirOwn) {
    done(step(Verb::Add, Entity::Cluster, {"d"}));
    EXPECT_NE(refused(step(Verb::Add, Entity::Cluster, {"d"})).find("already exists"),
              std::string::npos);
    EXPECT_EQ(done(account("both")).associations.size(), 2u);
    done(step(Verb::Delete, Entity::Cluster, {"d"}));
    EXPECT_TRUE(find("both"));
    EXPECT_NE(refused(step(Verb::Delete, Entity::Cluster, {"c"})), "");
}

TEST_F(PolicyTest, WckeysComeWithUsers) {
    PolicyStep add = step(Verb::Add, Entity::User, {"ann"});
    add.wckeys = {"k1", "k2"};
    EXPECT_EQ(done(add).wckeys.size(), 2u);
    EXPECT_TRUE(policy.wckeys[0].is_default && !policy.wckeys[1].is_default);
    PolicyStep change = step(Verb::Modify, Entity::User, {"ann"});
    change.record.default_wckey = "k3";
    EXPECT_NE(refused(change).find("new default wckey 'k3'"), std::string::npos);
    change.record.default_wckey = "k2";
    done(change);
    EXPECT_TRUE(policy.wckeys[1].is_default && !policy.wckeys[0].is_default);
}

TEST_F(PolicyTest, NoMoreLicencesAreSharedThanThereAre) {
    PolicyStep add = step(Verb::Add, Entity::Resource, {"matlab"});
    add.resource.count = 10;
    add.clusters = {"c"};
    add.resource.allowed = 101;
    EXPECT_NE(refused(add), "");
    add.resource.allowed = 50;
    EXPECT_EQ(done(add).names, Names{"matlab@slurmdb"});
    EXPECT_EQ(policy.licenses.at(0).shares.at(0).allowed, 5u);
    PolicyStep change = step(Verb::Modify, Entity::Resource, {"matlab"});
    change.resource.count = 4;
    EXPECT_NE(refused(change).find("more than 100%"), std::string::npos);
    change.resource.count = 5;
    done(change);
}

TEST_F(PolicyTest, AChangeOfSeveralStepsIsDoneOrNot) {
    const Policy before = policy;
    const PolicyChange change{{account("new"), account("bad", "nosuch")}};
    EXPECT_FALSE(apply_change(policy, change, kRoot, facts, kNow));
    EXPECT_EQ(policy, before);
    ASSERT_TRUE(
        apply_change(policy, {{account("new"), account("below", "new")}}, kRoot, facts, kNow));
    EXPECT_EQ(policy.version, before.version + 1);
}

TEST_F(PolicyTest, TransactionsSayWhoDidWhat) {
    const PolicyOutcome outcome = done(account("new"));
    ASSERT_EQ(outcome.transactions.size(), 2u);
    EXPECT_EQ(outcome.transactions[0].action, "Add Accounts");
    EXPECT_EQ(outcome.transactions[0].actor, "root");
    EXPECT_EQ(outcome.transactions[0].where, "new");
    EXPECT_EQ(outcome.transactions[1].action, "Add Associations");
}

}  // namespace
}  // namespace sluice
