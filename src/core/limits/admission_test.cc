// core/limits/admission_test.cc: which accounts, QOS and wckeys users may use.
#include "core/limits/admission.h"

#include <gtest/gtest.h>

#include "core/permission.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Admission, NeedsAnAssociationWithTheAccount) {
    EXPECT_SCENARIO(R"(
        settings  associations
        nodes     n1 cpus=8
        submit    first user=1005 account=any   # accounting has sent nothing yet
        account   vision
        account   nlp
        member    1000 account=vision default
        member    1001 account=nlp
        submit    a user=1000
        submit    b user=1000 account=VISION
        submit    c user=1000 account=nlp refused=Invalid
        submit    d user=1001 refused=Invalid
        submit    e user=1001 account=nlp
        submit    f user=1002 refused=Invalid
        submit    g user=0 refused=Invalid      # root, too
        pass
        expect    a running
        expect    first pending InvalidAccount
        unmember  1001 account=nlp
        submit    h user=1001 account=nlp refused
        member    1005 account=vision
        pass
        expect    first pending InvalidAccount
        account   any
        member    1005 account=any
        pass
        expect    first running
    )");
}

TEST(Admission, NamesOfAccountsAreInLowerCase) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings  associations
        nodes     n1 cpus=8
        account   vision
        member    1000 account=vision default
        submit    a user=1000 account=VISION
        submit    b user=1000
    )"),
              "");
    for (const char* name : {"a", "b"})
        EXPECT_EQ(scenario.cluster().job(scenario.job(name)).request->account, "vision");
}

TEST(Admission, AnAssociationMayBeOfOnePartition) {
    EXPECT_SCENARIO(R"(
        settings  associations
        nodes     n1 cpus=8
        partition p nodes=n1 default
        partition q nodes=n1
        account   lab
        member    1000 account=lab partition=q default
        submit    a user=1000 refused=Invalid
        submit    b user=1000 partition=q
        submit    c user=1000 partition=p,q
        pass
        expect    b running
        expect    c running
        submit    d user=1000 partition=q hold
        update    d Partition=p refused
    )");
}

TEST(Admission, QosMustBeOneOfTheAssociation) {
    EXPECT_SCENARIO(R"(
        settings  enforceqos associations
        qos       high Priority=1
        qos       low  Priority=1
        qos       part Priority=1
        nodes     n1 cpus=8
        account   vision QOS=normal,high DefaultQOS=high
        account   nlp
        account   sub parent=vision QOS=low DefaultQOS=low
        member    1000 account=vision default
        member    1001 account=nlp default
        member    1002 account=sub default
        submit    a user=1000
        submit    b user=1000 qos=low refused=qos
        submit    c user=1000 qos=normal
        submit    d user=1001 qos=high
        submit    e user=1001 qos=part refused=qos    # nobody was given it
        submit    f user=1002
        submit    g user=1002 qos=high refused=qos
        submit    h user=1000 qos=nosuch refused=qos
    )");
}

TEST(Admission, TheDefaultQosIsThatOfTheAssociation) {
    Scenario scenario;
    ASSERT_EQ(scenario.run(R"(
        settings  enforceqos associations
        qos       high Priority=1
        nodes     n1 cpus=8
        account   vision QOS=normal,high DefaultQOS=high
        account   nlp
        member    1000 account=vision default
        member    1000 account=nlp
        submit    a user=1000
        submit    b user=1000 account=nlp
        submit    c user=1000 hold
        update    c QOS=normal
    )"),
              "");
    const auto qos_of = [&](const char* name) {
        return scenario.cluster().job(scenario.job(name)).request->qos;
    };
    EXPECT_EQ(qos_of("a"), "high");
    EXPECT_EQ(qos_of("b"), "normal");
    EXPECT_EQ(qos_of("c"), "normal");
}

Policy policy_with_wckeys() {
    Policy policy;
    policy.associations = {{.id = 1, .account = "root"},
                           {.id = 2,
                            .parent = 1,
                            .account = "root",
                            .user = "ann",
                            .uid = UserId{1000},
                            .is_default = true}};
    policy.wckeys = {{.id = 3, .name = "paper", .user = "ann", .uid = UserId{1000}}};
    return policy;
}

TEST(Admission, WckeyMustBeOneOfTheUser) {
    Settings settings;
    settings.enforce_wckeys = settings.enforce_associations = true;
    Cluster cluster(std::make_shared<Settings>(settings), from_unix(1));
    const UserId ann{1000}, bob{1001};
    EXPECT_TRUE(check_wckey(cluster, ann, "any")) << "accounting has sent nothing yet";
    Policy policy = policy_with_wckeys();
    cluster.set_policy(policy);
    EXPECT_TRUE(check_wckey(cluster, ann, "paper"));
    EXPECT_FALSE(check_wckey(cluster, ann, "other"));
    EXPECT_FALSE(check_wckey(cluster, bob, "paper"));
    EXPECT_FALSE(check_wckey(cluster, ann, "")) << "there is no default";
    EXPECT_EQ(charged_to(cluster, ann, {}, "main").wckey, "");
    policy.wckeys[0].is_default = true;
    cluster.set_policy(policy);
    EXPECT_EQ(charged_to(cluster, ann, {}, "main").wckey, "paper");
    policy.wckeys[0].deleted = true;
    cluster.set_policy(policy);
    EXPECT_FALSE(check_wckey(cluster, ann, "paper"));
}

TEST(Admission, OperatorsAndCoordinatorsAreThoseOfThePolicy) {
    Cluster cluster(std::make_shared<Settings>(), from_unix(1));
    Policy policy;
    policy.associations = {{.id = 1, .account = "root"},
                           {.id = 2, .parent = 1, .account = "school"},
                           {.id = 3, .parent = 2, .account = "lab"},
                           {.id = 4, .parent = 1, .account = "other"}};
    policy.users = {{.name = "op", .uid = UserId{10}, .admin_level = AdminLevel::Operator},
                    {.name = "coord", .uid = UserId{11}},
                    {.name = "gone",
                     .uid = UserId{12},
                     .admin_level = AdminLevel::Administrator,
                     .deleted = true}};
    policy.accounts = {{.name = "school", .coordinators = {"coord"}}};
    cluster.set_policy(policy);
    const auto job_of = [](const char* account) {
        JobTerms terms;
        terms.account = account;
        Job job;
        job.user = UserId{99};
        job.request = std::make_shared<const JobTerms>(terms);
        return job;
    };
    const auto role = [&](std::uint32_t uid, const Job& job) {
        return role_in(cluster, Caller{UserId{uid}, GroupId{1}}, job);
    };
    EXPECT_EQ(role(10, job_of("lab")), Role::Operator);
    EXPECT_EQ(role(11, job_of("lab")), Role::Coordinator) << "of the account above";
    EXPECT_EQ(role(11, job_of("other")), Role::Other);
    EXPECT_EQ(role(12, job_of("lab")), Role::Other);
    EXPECT_EQ(role(99, job_of("lab")), Role::Owner);
    EXPECT_EQ(role(0, job_of("lab")), Role::Root);
}

}  // namespace
}  // namespace sluice
