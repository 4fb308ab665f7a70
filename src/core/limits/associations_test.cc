// core/limits/associations_test.cc: the tree, and what is inherited in it.
#include "core/limits/associations.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr UserId kAnn{1000}, kBob{1001};

// root - school - lab - ann, ann in gpu, bob; root - other - bob
Policy example() {
    Policy policy;
    policy.associations = {
        {.id = 1, .account = "root"},
        {.id = 2, .parent = 1, .account = "school"},
        {.id = 3, .parent = 2, .account = "lab"},
        {.id = 4, .parent = 3, .account = "lab", .user = "ann", .uid = kAnn, .is_default = true},
        {.id = 5,
         .parent = 3,
         .account = "lab",
         .user = "ann",
         .partition = "gpu",
         .uid = kAnn,
         .is_default = true},
        {.id = 6, .parent = 3, .account = "lab", .user = "bob", .uid = kBob},
        {.id = 7, .parent = 1, .account = "other"},
        {.id = 8, .parent = 7, .account = "other", .user = "bob", .uid = kBob, .is_default = true},
        {.id = 9, .parent = 7, .account = "other", .user = "left"},
        {.id = 10, .parent = 77, .account = "lost"}};
    return policy;
}

AssociationTree tree_of(Policy policy) {
    return AssociationTree(std::make_shared<const Policy>(std::move(policy)));
}

TEST(AssociationTree, FindsThatOfThePartitionFirst) {
    const AssociationTree tree = tree_of(example());
    EXPECT_EQ(tree.find("lab", kAnn, "gpu")->id, 5u);
    EXPECT_EQ(tree.find("lab", kAnn, "cpu")->id, 4u);
    EXPECT_EQ(tree.find("lab", kBob, "gpu")->id, 6u);
    EXPECT_EQ(tree.find("other", kAnn, "gpu"), nullptr);
    EXPECT_EQ(tree.find(10), nullptr) << "its parent is not there";
    EXPECT_EQ(tree.default_account(kAnn), "lab");
    EXPECT_EQ(tree.default_account(kBob), "other");
    EXPECT_EQ(tree.default_account(UserId{7}), "");
}

TEST(AssociationTree, KnowsTheWayToTheRootAndBack) {
    const AssociationTree tree = tree_of(example());
    std::vector<std::uint32_t> ids;
    for (const Association* each : tree.path(6)) ids.push_back(each->id);
    EXPECT_EQ(ids, (std::vector<std::uint32_t>{6, 3, 2, 1}));
    ids.clear();
    for (const Association* each : tree.children(3)) ids.push_back(each->id);
    EXPECT_EQ(ids, (std::vector<std::uint32_t>{4, 5, 6}));
    EXPECT_EQ(tree.parent(1), nullptr);
}

TEST(AssociationTree, ValuesAreThoseOfTheNearestThatHasOne) {
    Policy policy = example();
    policy.associations[0].max_wall = Seconds{60};
    policy.associations[1].max_per_job = {{"cpu", 8}, {"mem", 100}};
    policy.associations[1].qos = {{"normal", "high"}};
    policy.associations[2].max_per_job = {{"cpu", 4}};
    policy.associations[2].default_qos = "high";
    policy.associations[3].of_each.running = 2;
    const AssociationTree tree = tree_of(policy);
    const InheritedTerms& ann = tree.terms(4);
    EXPECT_EQ(ann.max_wall, Seconds{60});
    EXPECT_EQ(ann.max_per_job, (Tres{{"cpu", 4}, {"mem", 100}}));
    EXPECT_EQ(ann.default_qos, "high");
    EXPECT_EQ(ann.qos, (std::vector<std::string>{"normal", "high"}));
    EXPECT_EQ(ann.of_each.running, 2u);
    EXPECT_EQ(tree.terms(6).of_each.running, std::nullopt);
    EXPECT_EQ(tree.terms(8).max_per_job, Tres{});
    EXPECT_EQ(tree.terms(8).qos, std::nullopt);
}

TEST(AssociationTree, CountsJobsOnlyWhereTheyAreLimited) {
    Policy policy = example();
    EXPECT_FALSE(tree_of(policy).has_limits());
    EXPECT_EQ(tree_of(policy).limit_group(4), 0u);
    policy.associations[1].of_all.running = 10;
    {
        const AssociationTree tree = tree_of(policy);
        EXPECT_EQ(tree.counted(4), std::vector<std::uint32_t>{2});
        EXPECT_EQ(tree.limit_group(4), 2u) << "all users of the account have the same limits";
        EXPECT_EQ(tree.limit_group(6), 2u);
        EXPECT_EQ(tree.limit_group(8), 0u);
    }
    policy.associations[2].of_each.running = 1;
    const AssociationTree tree = tree_of(policy);
    EXPECT_EQ(tree.counted(4), (std::vector<std::uint32_t>{4, 2})) << "each user has its own count";
    EXPECT_EQ(tree.limit_group(4), 4u);
    EXPECT_EQ(tree.limit_group(6), 6u);
}

TEST(AssociationTree, AssociationOfAJobIsInItsFirstPartition) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        nodes     n1 cpus=8
        partition p nodes=n1 default
        partition q nodes=n1
        account   lab
        member    1000 account=lab default
        member    1000 account=lab partition=q
        submit    a user=1000
        submit    b user=1000 partition=q,p
        submit    c user=1001
    )"),
              "");
    const Cluster& cluster = scenario.cluster();
    const auto job = [&](const char* name) -> const Job& {
        return cluster.job(scenario.job(name));
    };
    EXPECT_EQ(association_of(cluster, job("a"))->partition, "");
    EXPECT_EQ(association_of(cluster, job("b"))->partition, "q");
    EXPECT_EQ(associations_of(cluster, job("b")).size(), 2u);
    EXPECT_EQ(association_of(cluster, job("c")), nullptr);
}

}  // namespace
}  // namespace sluice
