// cli/sacctmgr/sacctmgr_test.cc: transcripts of commands against a database that is a Policy.
#include "cli/sacctmgr/sacctmgr.h"

#include <gtest/gtest.h>

#include "cli/common/change_policy.h"
#include "model/accounting_order.h"
#include "model/errors.h"
#include "model/policy_fields.h"
#include "policy/change_fields.h"
#include "protocol/field_codec.h"

namespace sluice {
namespace {

// Answers from its policy and applies changes to it, as slurmctld does.
class PolicyClient : public Client {
public:
    Result<const Config*> config() override { return &config_; }

    Result<wire::Reply> call(const wire::Request& request, const Waiting&) override {
        wire::Reply reply;
        if (request.has_ask_accounting()) {
            field_codec::put_fields(policy, *reply.mutable_rows()->add_rows());
            return reply;
        }
        if (request.has_accounting_order()) {
            TRY(field_codec::get_fields(request.accounting_order(), orders.emplace_back()));
            return reply;
        }
        PolicyChange change;
        TRY(field_codec::get_fields(request.change_policy(), change));
        TRY(apply_change(policy, change, actor, {}, Time{}));
        reply.mutable_done();
        return reply;
    }
    Result<OpenedNode> connect_node(const wire::NodeAddress&, const FirstMessage&) override {
        return Error{ErrorCode::LaunchFailed, ""};
    }

    Policy policy = first_policy("oracle", Time{});
    PolicyActor actor{.name = "root", .uid = UserId{0}, .is_root = true};
    std::vector<AccountingOrder> orders;

private:
    Config config_;
};

class TestStreams : public Streams {
public:
    void out(std::string_view text) override { all += text; }
    void err(std::string_view text) override { all += text; }
    Result<std::string> read_all() override { return std::string(); }
    bool read_line(std::string& line) override {
        if (input.empty()) return false;
        line = input.substr(0, input.find('\n'));
        input.erase(0, line.size() + 1);
        return true;
    }
    bool out_is_terminal() const override { return false; }
    void flush() override {}

    std::string all, input;
};

class Sacctmgr : public testing::Test {
protected:
    std::string run(std::vector<std::string> words, const std::string& input = "") {
        const Invocation invocation{.tool = "sacctmgr",
                                    .args = std::move(words),
                                    .environment = Environment({"PATH=/bin"}),
                                    .directory = "/tmp"};
        TestStreams streams;
        streams.input = input;
        const int code = run_sacctmgr(invocation, client, streams);
        return streams.all + (code ? fmt::format("[exit {}]\n", code) : "");
    }

    PolicyClient client;
};

TEST_F(Sacctmgr, AddsAccountsAfterAQuestion) {
    EXPECT_EQ(run({"add", "account", "mgra"}, "n\n"),
              " Adding Account(s)\n"
              "  mgra\n"
              " Settings\n"
              "  Description     = Account Name\n"
              "  Organization    = Parent/Account Name\n"
              " Associations\n"
              "  A = mgra       C = oracle    \n"
              "Would you like to commit changes? (You have 30 seconds to decide)\n"
              "(N/y): \n"
              " Changes Discarded\n");
    EXPECT_EQ(client.policy.accounts.size(), 1u);
    run({"add", "account", "mgra"}, "y\n");
    EXPECT_EQ(client.policy.accounts.size(), 2u);
    EXPECT_EQ(run({"-i", "add", "account", "mgra"}), " Nothing new added.\n[exit 1]\n");
}

TEST_F(Sacctmgr, ShowsTheSettingsOfAnAccount) {
    run({"-i", "add", "account", "mgra"});
    EXPECT_EQ(run({"-i", "add", "account", "mgrb", "description=b things", "organization=orgb",
                   "parent=mgra", "fairshare=5", "maxjobs=3", "grptres=cpu=10"}),
              " Adding Account(s)\n"
              "  mgrb\n"
              " Settings\n"
              "  Description     = b things\n"
              "  Organization    = orgb\n"
              " Associations\n"
              "  A = mgrb       C = oracle    \n"
              " Settings\n"
              "  Fairshare     = 5\n"
              "  GrpTRES       = cpu=10\n"
              "  MaxJobs       = 3\n"
              "  Parent        = mgra\n");
}

TEST_F(Sacctmgr, AddsModifiesAndDeletesUsers) {
    run({"-i", "add", "account", "mgra,mgrb"});
    EXPECT_EQ(run({"-i", "add", "user", "daemon", "account=mgra"}),
              " Adding User(s)\n"
              "  daemon\n"
              " Associations =\n"
              "  U = daemon    A = mgra       C = oracle    \n"
              " Non Default Settings\n");
    EXPECT_EQ(run({"-i", "add", "user", "daemon", "account=mgrb", "partition=debug"}),
              " Associations =\n"
              "  U = daemon    A = mgrb       C = oracle     P = debug     \n"
              " Non Default Settings\n");
    EXPECT_EQ(run({"-i", "modify", "user", "daemon", "set", "maxjobs=4"}),
              " Modified user associations...\n"
              "  C = oracle     A = mgra                 U = daemon   \n"
              "  C = oracle     A = mgrb                 U = daemon    P = debug\n");
    EXPECT_EQ(run({"-i", "delete", "user", "daemon", "account=mgrb"}),
              " Deleting user associations...\n"
              "  C = oracle     A = mgrb       U = daemon    P = debug\n");
    EXPECT_EQ(run({"-i", "delete", "user", "daemon"}), " Deleting users...\n  daemon\n");
    EXPECT_EQ(run({"-i", "delete", "user", "daemon"}), " Nothing deleted\n[exit 1]\n");
}

TEST_F(Sacctmgr, ShowsAssociationsAsATree) {
    run({"-i", "add", "account", "nlp", "fairshare=100"});
    run({"-i", "add", "user", "nobody", "account=nlp"});
    EXPECT_EQ(run({"show", "assoc", "tree", "format=account,user,share"}),
              "Account                    User     Share \n"
              "-------------------- ---------- --------- \n"
              "root                                    1 \n"
              " root                      root         1 \n"
              " nlp                                  100 \n"
              "  nlp                    nobody         1 \n");
    EXPECT_EQ(run({"-nP", "show", "user", "withassoc", "nobody", "format=user,account,qos"}),
              "nobody|nlp|normal\n");
    EXPECT_EQ(run({"show", "user"}),
              "      User   Def Acct     Admin \n"
              "---------- ---------- --------- \n"
              "    nobody        nlp      None \n"
              "      root       root Administ+ \n");
}

TEST_F(Sacctmgr, RefusesWhatItDoesNotKnow) {
    EXPECT_EQ(run({"-i", "add", "account", "mgre", "bogus=1"}),
              " Unknown option: bogus=1\n Use keyword 'where' to modify condition\n[exit 1]\n");
    EXPECT_EQ(run({"-i", "modify", "user", "daemon", "bogus=3", "set", "maxjobs=3"}),
              " Unknown condition: bogus=3\n Use keyword 'set' to modify value\n[exit 1]\n");
    EXPECT_EQ(run({"-i", "modify", "user", "daemon", "set"}),
              " You didn't give me anything to set\n[exit 1]\n");
    EXPECT_EQ(run({"-i", "delete", "account"}),
              " No conditions given to remove, not executing.\n[exit 1]\n");
    EXPECT_EQ(run({"show", "user", "format=bogus"}), "Unknown field 'bogus'\n[exit 1]\n");
    EXPECT_EQ(run({"bogus"}), "invalid keyword: bogus\n[exit 1]\n");
    EXPECT_EQ(run({"-r", "add", "account", "x"}),
              "Can't run this command in readonly mode.\n[exit 1]\n");
    EXPECT_NE(run({"show", "federation"}).find("not supported"), std::string::npos);
}

TEST_F(Sacctmgr, OrdersArchives) {
    using What = PurgeRule::What;
    EXPECT_EQ(run({"-i", "archive", "dump", "Directory=/a", "jobs", "PurgeJobAfter=2days",
                   "purgestepafter=1"}),
              "");
    ASSERT_EQ(client.orders.size(), 1u);
    EXPECT_EQ(client.orders[0].path, "/a");
    ASSERT_EQ(client.orders[0].rules.size(), 2u);
    EXPECT_EQ(client.orders[0].rules[0],
              (PurgeRule{.what = What::Jobs, .older_than = Seconds{2 * 86400}, .archive = true}));
    EXPECT_FALSE(client.orders[0].rules[1].archive);
    EXPECT_EQ(run({"archive", "load", "File=/a/b"}), "");
    EXPECT_EQ(client.orders[1].path, "/a/b");
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"-i", "archive"},
                                                  {"-i", "archive", "dump"},
                                                  {"-i", "archive", "dump", "Jobs"},
                                                  {"-i", "archive", "dump", "PurgeJobAfter=x"},
                                                  {"-i", "archive", "dump", "bogus"},
                                                  {"archive", "load"},
                                                  {"-r", "archive", "load", "File=/a"}}) {
        EXPECT_NE(run(wrong).find("[exit 1]"), std::string::npos);
    }
    EXPECT_NE(run({"archive", "dump", "PurgeJobAfter=1"}, "n\n").find("Changes Discarded"),
              std::string::npos);
    EXPECT_EQ(client.orders.size(), 2u);
}

TEST_F(Sacctmgr, SaysWhoMayNot) {
    client.actor = {.name = "daemon", .uid = UserId{1}};
    EXPECT_EQ(run({"-i", "add", "account", "mgrq"}),
              " Problem adding accounts: Access/permission denied\n[exit 1]\n");
    EXPECT_EQ(run({"-i", "delete", "qos", "normal"}).find("Nothing"), std::string::npos);
}

TEST_F(Sacctmgr, ReadsCommandsFromASession) {
    EXPECT_EQ(run({}, "add account mgra\ny\nshow account mgra format=account\nquit\n"),
              "sacctmgr:  Adding Account(s)\n"
              "  mgra\n"
              " Settings\n"
              "  Description     = Account Name\n"
              "  Organization    = Parent/Account Name\n"
              " Associations\n"
              "  A = mgra       C = oracle    \n"
              "Would you like to commit changes? (You have 30 seconds to decide)\n"
              "(N/y): \n"
              "sacctmgr:    Account \n"
              "---------- \n"
              "      mgra \n"
              "sacctmgr: ");
}

}  // namespace
}  // namespace sluice
