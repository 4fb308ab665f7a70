// cli/sluice/lab_test.cc: transcripts of sluice lab against a policy, which changes as slurmctld
// would change it.
#include "cli/sluice/lab.h"

#include <gtest/gtest.h>

#include "cli/sluice/lab_plan.h"
#include "cli/sluice/policy_cluster.h"
#include "cli/sluice/sluice.h"
#include "policy/words.h"

namespace sluice {
namespace {

class LabCommand : public testing::Test {
protected:
    std::string run(std::vector<std::string> words) {
        words.insert(words.begin(), "lab");
        const Invocation invocation{.tool = "sluice",
                                    .args = std::move(words),
                                    .environment = Environment({"PATH=/bin"}),
                                    .directory = "/tmp"};
        KeptStreams streams("");
        const int code = run_sluice(invocation, client, streams);
        return streams.said + (code ? fmt::format("[exit {}]\n", code) : "");
    }
    std::vector<std::string> users_of(const std::string& account) const {
        std::vector<std::string> users;
        for (const Association& each : client.policy.associations) {
            if (!each.deleted && each.account == account && !each.user.empty())
                users.push_back(each.user);
        }
        return users;
    }
    using Names = std::vector<std::string>;

    PolicyCluster client;
};

TEST_F(LabCommand, AddsALabWithItsMembersInOneChange) {
    EXPECT_EQ(run({"add", "kira-lab", "--gpus", "24", "--users", "daemon,bin"}),
              "sacctmgr -i add account name=kira-lab cluster=oracle Fairshare=24 "
              "GrpTRES=gres/gpu=24\n"
              "sacctmgr -i add user name=daemon,bin account=kira-lab cluster=oracle\n"
              "sacctmgr -i add user name=daemon,bin account=overcap cluster=oracle\n");
    EXPECT_EQ(client.changes, 1);
    EXPECT_EQ(users_of("kira-lab"), (Names{"daemon", "bin"}));
    EXPECT_EQ(users_of("overcap"), (Names{"daemon", "bin"}));
    EXPECT_EQ(labs_of(client.policy, "oracle").at(0).cap, 24u);
}

TEST_F(LabCommand, ChangesTheCapAndTheMembers) {
    run({"add", "kira-lab", "--gpus", "24", "--users", "daemon,bin"});
    run({"add", "wu-lab", "--gpus", "8"});
    EXPECT_EQ(run({"set", "Kira-Lab", "--gpus=32"}),
              "sacctmgr -i modify account name=kira-lab cluster=oracle set Fairshare=32 "
              "GrpTRES=gres/gpu=32\n");
    EXPECT_EQ(run({"set", "wu-lab", "--users", "+daemon,+sys"}),
              "sacctmgr -i add user name=daemon,sys account=wu-lab cluster=oracle\n"
              "sacctmgr -i add user name=sys account=overcap cluster=oracle\n");
    EXPECT_EQ(run({"set", "kira-lab", "--users", "-daemon,-bin"}),
              "sacctmgr -i modify user name=daemon cluster=oracle set DefaultAccount=wu-lab\n"
              "sacctmgr -i delete user name=daemon account=kira-lab cluster=oracle\n"
              "sacctmgr -i delete user name=bin account=kira-lab,overcap cluster=oracle\n");
    EXPECT_EQ(users_of("kira-lab"), Names{});
    EXPECT_EQ(users_of("overcap"), (Names{"daemon", "sys"}));
}

TEST_F(LabCommand, RemovesALab) {
    run({"add", "kira-lab", "--gpus", "24", "--users", "daemon,bin"});
    run({"add", "wu-lab", "--gpus", "8", "--users", "bin"});
    EXPECT_EQ(run({"remove", "kira-lab"}),
              "sacctmgr -i modify user name=bin cluster=oracle set DefaultAccount=wu-lab\n"
              "sacctmgr -i delete user name=bin account=kira-lab cluster=oracle\n"
              "sacctmgr -i delete user name=daemon account=kira-lab,overcap cluster=oracle\n"
              "sacctmgr -i delete account name=kira-lab cluster=oracle\n");
    ASSERT_EQ(labs_of(client.policy, "oracle").size(), 1u);
    EXPECT_EQ(users_of("overcap"), Names{"bin"});
}

TEST_F(LabCommand, ListsLabsWithWhatTheyUse) {
    run({"add", "nlp", "--gpus", "24", "--users", "daemon,bin"});
    run({"add", "vision-lab", "--gpus", "8"});
    EXPECT_EQ(run({"list"}),
              "LAB           CAP IN-USE OVERCAP USERS\n"
              "nlp            24      0       0 bin,daemon\n"
              "vision-lab      8      0       0 \n"
              "total          32      0       0 the cluster has 24 GPUs\n");
}

TEST_F(LabCommand, OnlyPrintsWithDryRun) {
    EXPECT_NE(run({"add", "kira-lab", "--gpus", "24", "--dry-run"}).find("add account"),
              std::string::npos);
    EXPECT_EQ(client.changes, 0);
}

TEST_F(LabCommand, SaysWhatIsWrongAndChangesNothing) {
    run({"add", "kira-lab", "--gpus", "24", "--users", "daemon"});
    client.change({.verb = PolicyVerb::Add, .entity = PolicyEntity::Account, .names = {"plain"}});
    const struct {
        Names words;
        std::string text;
    } kCases[] = {
        {{"add", "wu-lab"}, "lab add needs --gpus, the cap of the lab"},
        {{"add", "--gpus=3"}, "lab add needs the name of one lab"},
        {{"add", "a", "b", "--gpus=3"}, "lab add needs the name of one lab"},
        {{"add", "wu-lab", "--gpus=0"}, "--gpus=0: a number from 1 to 1000000 is needed"},
        {{"add", "wu-lab", "--gpus=4x"}, "--gpus=4x: a number from 1 to 1000000 is needed"},
        {{"add", "wu-lab", "--gpus=-4"}, "--gpus=-4: a number from 1 to 1000000 is needed"},
        {{"add", "kira-lab", "--gpus=3"},
         "the account kira-lab exists already: sluice lab set changes it"},
        {{"add", "overcap", "--gpus=3"}, "the account overcap is not a lab"},
        {{"add", "root", "--gpus=3"}, "the account root is not a lab"},
        {{"add", "wu lab", "--gpus=3"},
         "'wu lab' cannot be the name of an account: blanks and , = | : ' \" are not allowed"},
        {{"add", "wu-lab", "--gpus=3", "--users=nosuchuser"},
         "--users=nosuchuser: there is no such user on this host"},
        {{"add", "wu-lab", "--gpus=3", "--users=bin,bin"}, "--users: bin appears twice"},
        {{"add", "wu-lab", "--gpus=3", "--users=+bin"},
         "--users=+bin: a new lab has only new users, without a sign"},
        {{"set", "kira-lab"}, "lab set needs --gpus or --users"},
        {{"set", "nosuch", "--gpus=3"}, "there is no lab nosuch"},
        {{"set", "plain", "--users=+bin"}, "the account plain is not a lab: it has no cap on GPUs"},
        {{"set", "kira-lab", "--users=bin"}, "--users=bin: +NAME adds a user, -NAME removes one"},
        {{"set", "kira-lab", "--users=+daemon"}, "user daemon is a member of kira-lab already"},
        {{"set", "kira-lab", "--users=-bin"}, "user bin is not a member of kira-lab"},
        {{"remove", "plain"}, "the account plain is not a lab: it has no cap on GPUs"},
        {{"remove", "kira-lab", "--gpus=3"}, "lab remove takes neither --gpus nor --users"},
    };
    const Policy before = client.policy;
    for (const auto& each : kCases)
        EXPECT_EQ(run(each.words), "sluice: error: " + each.text + "\n[exit 1]\n");
    EXPECT_NE(run({"frob"}).find("Usage:"), std::string::npos);
    EXPECT_NE(run({"add", "wu-lab", "--gpus=3", "--frob"}).find("unrecognized option '--frob'"),
              std::string::npos);
    EXPECT_EQ(client.policy, before);
}

TEST_F(LabCommand, IsRefusedByTheServer) {
    run({"add", "kira-lab", "--gpus", "24", "--users", "daemon"});
    for (const Association& each : client.policy.associations) {
        if (each.user == "daemon") client.jobs_of_labs.push_back({7, "oracle", each.id, "", ""});
    }
    EXPECT_NE(run({"remove", "kira-lab"}).find("Job(s) active, cancel job(s) before remove"),
              std::string::npos);
    client.actor = {.name = "daemon", .uid = UserId{1}};
    EXPECT_NE(run({"add", "wu-lab", "--gpus", "8"}).find("Access/permission denied"),
              std::string::npos);
}

// Each line that is printed means the step that was made.
TEST(SacctmgrLine, IsReadAsTheSameStep) {
    PolicyStep add{.verb = PolicyVerb::Add, .entity = PolicyEntity::Account, .names = {"lab"}};
    add.clusters = {"sky"};
    add.limits.shares = 4;
    add.limits.of_all.tres["gres/gpu"] = 4;
    PolicyStep modify{.verb = PolicyVerb::Modify, .entity = PolicyEntity::User, .names = {"ann"}};
    modify.record.default_account = "lab";
    PolicyStep remove{
        .verb = PolicyVerb::Delete, .entity = PolicyEntity::User, .names = {"ann", "bob"}};
    remove.accounts = {"lab", "overcap"};
    for (const PolicyStep& step : {add, modify, remove}) {
        const std::string line = sacctmgr_line(step);
        std::vector<std::string> words;
        for (std::string_view word : split(line, ' ')) words.emplace_back(word);
        ASSERT_EQ(words[0] + words[1], "sacctmgr-i");
        words.erase(words.begin(), words.begin() + 4);
        const bool is_user = step.entity == PolicyEntity::User;
        Result<SacctmgrWords> read = read_change_words(
            is_user ? SacctmgrEntity::User : SacctmgrEntity::Account, step.verb, words);
        ASSERT_TRUE(read) << line;
        read->step.entity = step.entity;
        EXPECT_EQ(read->step, step) << line;
    }
}

}  // namespace
}  // namespace sluice
