// core/schedule/fair_share_test.cc: the formulas, with the numbers of their documents and of a real
// cluster.
#include "core/schedule/fair_share.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"

namespace sluice {
namespace {

constexpr std::uint32_t kParent = kSharesOfParent;

// Usage is that of the association itself; accounts have the sum of those below.
struct Member {
    const char* account;
    const char* parent;  // of an account; a user has its account
    const char* user;
    const char* partition;
    std::uint32_t shares;
    double used;
};

class Tree {
public:
    explicit Tree(const std::vector<Member>& members) {
        Policy policy;
        policy.associations = {{.id = 1, .account = "root"}};
        for (const Member& member : members) add(policy, member);
        policy_ = std::make_shared<const Policy>(std::move(policy));
        tree_ = std::make_shared<const AssociationTree>(policy_);
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i].used == 0) continue;
            for (const Association* each : tree_->path(policy_->associations[i + 1].id))
                book_.add_to_association(each->id, {{{"billing", members[i].used}}, 1});
        }
    }
    FairShare shares(std::vector<std::string> flags = {}, double dampening = 1) const {
        PrioritySettings settings;
        settings.flags = std::move(flags);
        settings.dampening = dampening;
        return fair_share_of(policy_, tree_, book_, settings);
    }

private:
    static void add(Policy& policy, const Member& member) {
        const std::string_view wanted = *member.user ? member.account : member.parent;
        std::uint32_t above = 0;
        for (const Association& each : policy.associations) {
            if (each.account == wanted && each.user.empty()) above = each.id;
        }
        Association added{.id = static_cast<std::uint32_t>(policy.associations.size()) + 1,
                          .parent = above,
                          .account = member.account,
                          .user = member.user,
                          .partition = member.partition,
                          .shares = member.shares};
        if (!added.user.empty()) added.uid = uid_of(added.user);
        policy.associations.push_back(std::move(added));
    }
    static UserId uid_of(const std::string& name) {
        return UserId{static_cast<std::uint32_t>(std::hash<std::string>{}(name)&0xffffff)};
    }

    std::shared_ptr<const Policy> policy_;
    std::shared_ptr<const AssociationTree> tree_;
    UsageBook book_;
};

const ShareLine& line_of(const FairShare& shares, std::string_view account,
                         std::string_view user = "", std::string_view partition = "") {
    for (const ShareLine& line : shares.lines) {
        if (line.association->account == account && line.association->user == user &&
            line.association->partition == partition)
            return line;
    }
    ADD_FAILURE() << account << ' ' << user;
    return shares.lines.front();
}

// A cluster of Slurm with these associations had used so much when its sshare was recorded.
const std::vector<Member> kRecorded = {
    {"vision", "root", "", "", 100, 0},    {"nlp", "root", "", "", 100, 0},
    {"sa", "root", "", "", 40, 0},         {"sb", "root", "", "", 60, 0},
    {"sa1", "sa", "", "", 3, 0},           {"sa2", "sa", "", "", 1, 0},
    {"sz", "sa1", "", "", 2, 0},           {"sp", "sb", "", "", kParent, 0},
    {"root", "", "root", "", 1, 0},        {"nlp", "", "nobody", "", 1, 0},
    {"nlp", "", "root", "", 1, 0},         {"vision", "", "root", "", 1, 0},
    {"sa1", "", "daemon", "", 10, 479.98}, {"sa1", "", "bin", "", 10, 359.98},
    {"sa2", "", "daemon", "", 5, 60},      {"sz", "", "mail", "", 0, 0},
    {"sz", "", "news", "", 0, 30},         {"sz", "", "proxy", "", 2, 0},
    {"sz", "", "uucp", "", 2, 60},         {"sb", "", "sys", "", 1, 719.95},
    {"sb", "", "games", "", 1, 165},       {"sb", "", "lp", "long", 7, 599.98},
    {"sb", "", "lp", "short", 7, 90},      {"sb", "", "man", "", kParent, 80},
    {"sp", "", "man", "", 2, 80},
};

struct Expected {
    const char *account, *user, *partition;
    double norm_shares, norm_usage, effective, factor, level;
};

constexpr double kInfinite = HUGE_VAL;
// The recorded usage has two decimals.
constexpr double kRounding = 5e-6;

TEST(FairTree, GivesTheNumbersOfARealCluster) {
    const FairShare shares = Tree(kRecorded).shares();
    const Expected expected[] = {
        {"root", "root", "", 0.003322, 0, 0, 1, kInfinite},
        {"nlp", "", "", 0.332226, 0, 0, 0, kInfinite},
        {"nlp", "nobody", "", 0.5, 0, 0, 1, kInfinite},
        {"vision", "root", "", 1, 0, 0, 1, kInfinite},
        {"sa", "", "", 0.132890, 0.363304, 0.363304, 0, 0.365782},
        {"sa1", "", "", 0.75, 0.341286, 0.939393, 0, 0.798388},
        {"sa1", "bin", "", 0.454545, 0.132109, 0.387091, 0.705882, 1.174259},
        {"sa1", "daemon", "", 0.454545, 0.176148, 0.516131, 0.411765, 0.880679},
        {"sz", "", "", 0.090909, 0.033029, 0.096778, 0, 0.939359},
        {"sz", "mail", "", 0, 0, 0, 0.529412, 0},
        {"sz", "news", "", 0, 0.011010, 0.333333, 0.529412, 0},
        {"sz", "proxy", "", 0.5, 0, 0, 0.647059, kInfinite},
        {"sz", "uucp", "", 0.5, 0.022019, 0.666667, 0.588235, 0.75},
        {"sa2", "daemon", "", 1, 0.022019, 1, 0.764706, 1},
        {"sb", "", "", 0.199336, 0.636696, 0.636696, 0, 0.313078},
        {"sb", "games", "", 0.055556, 0.060553, 0.095105, 0.117647, 0.584149},
        {"sb", "lp", "long", 0.388889, 0.220185, 0.345825, 0.176471, 1.124526},
        {"sb", "lp", "short", 0.388889, 0.033028, 0.051874, 0.294118, 7.496778},
        {"sb", "sys", "", 0.055556, 0.264213, 0.414975, 0.058824, 0.133877},
        {"sp", "man", "", 0.111111, 0.029358, 0.046110, 0.235294, 2.409672},
    };
    for (const Expected& each : expected) {
        SCOPED_TRACE(std::string(each.account) + " " + each.user);
        const ShareLine& line = line_of(shares, each.account, each.user, each.partition);
        EXPECT_NEAR(line.norm_shares, each.norm_shares, 1e-6);
        EXPECT_NEAR(line.norm_usage, each.norm_usage, kRounding);
        EXPECT_NEAR(line.effective_usage, each.effective, kRounding);
        EXPECT_NEAR(line.factor, each.factor, 1e-6);
        if (std::isinf(each.level))
            EXPECT_TRUE(std::isinf(line.level));
        else
            EXPECT_NEAR(line.level, each.level, 3e-4 * each.level + 1e-6);
    }
    // Fairshare=parent: the share of the account, before all others of its level.
    const ShareLine& man = line_of(shares, "sb", "man");
    EXPECT_NEAR(man.norm_shares, 0.199336, 1e-6);
    EXPECT_NEAR(man.factor, 0.352941, 1e-6);
}

TEST(FairTree, LinesAreInTheOrderOfTheTreeUsersFirst) {
    std::string order;
    for (const ShareLine& line : Tree(kRecorded).shares().lines) {
        order += std::string(line.depth, ' ') + line.association->account;
        if (line.is_user()) order += "/" + line.association->user;
        order += "\n";
    }
    EXPECT_EQ(order,
              "root\n root/root\n nlp\n  nlp/nobody\n  nlp/root\n sa\n  sa1\n   sa1/bin\n"
              "   sa1/daemon\n   sz\n    sz/mail\n    sz/news\n    sz/proxy\n    sz/uucp\n"
              "  sa2\n   sa2/daemon\n sb\n  sb/games\n  sb/lp\n  sb/lp\n  sb/man\n  sb/sys\n"
              "  sp\n   sp/man\n vision\n  vision/root\n");
}

// A user ties with the first user of an account of the same level, and not with the second.
TEST(FairTree, AUserTiesWithTheFirstUserOfAnAccount) {
    const FairShare shares = Tree({{"a", "root", "", "", 1, 0},
                                   {"root", "", "x", "", 1, 10},
                                   {"a", "", "y", "", 1, 2},
                                   {"a", "", "z", "", 1, 8}})
                                 .shares();
    EXPECT_DOUBLE_EQ(line_of(shares, "root", "x").factor, 1);
    EXPECT_DOUBLE_EQ(line_of(shares, "a", "y").factor, 1);
    EXPECT_DOUBLE_EQ(line_of(shares, "a", "z").factor, 1.0 / 3);
}

TEST(FairTree, UsersOfABetterAccountComeFirstWhateverTheyUsed) {
    const FairShare shares = Tree({{"a", "root", "", "", 2, 0},
                                   {"b", "root", "", "", 1, 0},
                                   {"a", "", "x", "", 1, 9},
                                   {"a", "", "y", "", 1, 1},
                                   {"b", "", "z", "", 1, 10}})
                                 .shares();
    EXPECT_DOUBLE_EQ(line_of(shares, "a", "y").factor, 1);
    EXPECT_DOUBLE_EQ(line_of(shares, "a", "x").factor, 2.0 / 3);
    EXPECT_DOUBLE_EQ(line_of(shares, "b", "z").factor, 1.0 / 3);
}

TEST(ClassicFairShare, GivesTheNumbersOfARealCluster) {
    const FairShare shares = Tree(kRecorded).shares({"NO_FAIR_TREE"});
    const Expected expected[] = {
        {"root", "", "", 1, 1, 1, 0.5, 0},
        {"nlp", "nobody", "", 0.166113, 0, 0, 1, 0},
        {"sa", "", "", 0.132890, 0.363304, 0.363304, 0.150323, 0},
        {"sa1", "", "", 0.099668, 0.341286, 0.357800, 0.083047, 0},
        {"sa1", "bin", "", 0.045304, 0.132109, 0.234696, 0.027575, 0},
        {"sa1", "daemon", "", 0.045304, 0.176148, 0.258717, 0.019094, 0},
        {"sz", "", "", 0.009061, 0.033029, 0.062554, 0.008351, 0},
        {"sz", "mail", "", 0, 0, 0, 0, 0},
        {"sz", "news", "", 0, 0.011010, 0.011010, 0, 0},
        {"sz", "uucp", "", 0.004530, 0.022019, 0.042286, 0.001549, 0},
        {"sa2", "daemon", "", 0.033223, 0.022019, 0.107340, 0.106510, 0},
        {"sb", "games", "", 0.011074, 0.060553, 0.092561, 0.003047, 0},
        {"sb", "lp", "long", 0.077519, 0.220185, 0.382161, 0.032806, 0},
        {"sb", "man", "", 0.199336, 0.029358, 0.636696, 0.109266, 0},
        {"sp", "", "", 0.199336, 0.029358, 0.636696, 0.109266, 0},
        {"sp", "man", "", 0.022148, 0.029358, 0.096840, 0.048283, 0},
        {"vision", "root", "", 0.332226, 0, 0, 1, 0},
    };
    for (const Expected& each : expected) {
        SCOPED_TRACE(std::string(each.account) + " " + each.user);
        const ShareLine& line = line_of(shares, each.account, each.user, each.partition);
        EXPECT_NEAR(line.norm_shares, each.norm_shares, 1e-6);
        EXPECT_NEAR(line.norm_usage, each.norm_usage, kRounding);
        EXPECT_NEAR(line.effective_usage, each.effective, kRounding);
        EXPECT_NEAR(line.factor, each.factor, kRounding);
    }
}

// The example of the document, in which the machine is not used completely: a user of no interest
// has the rest.
TEST(ClassicFairShare, GivesTheNumbersOfTheDocument) {
    const Tree tree({{"a", "root", "", "", 40, 0},
                     {"d", "root", "", "", 60, 0},
                     {"b", "a", "", "", 30, 0},
                     {"c", "a", "", "", 10, 0},
                     {"e", "d", "", "", 25, 0},
                     {"f", "d", "", "", 35, 0},
                     {"root", "", "rest", "", 0, 30},
                     {"b", "", "user1", "", 1, 20},
                     {"c", "", "user2", "", 1, 25},
                     {"c", "", "user3", "", 1, 0},
                     {"e", "", "user4", "", 1, 25},
                     {"f", "", "user5", "", 1, 0}});
    const FairShare shares = tree.shares({"NO_FAIR_TREE"});
    const auto factor = [&](const char* account, const char* user) {
        return line_of(shares, account, user).factor;
    };
    EXPECT_NEAR(line_of(shares, "c", "user2").effective_usage, 0.275, 1e-9);
    EXPECT_NEAR(factor("b", "user1"), 0.408479, 1e-6);
    EXPECT_NEAR(factor("c", "user2"), 0.022097, 1e-6);
    EXPECT_NEAR(factor("c", "user3"), 0.125, 1e-6);
    EXPECT_NEAR(factor("e", "user4"), 0.5, 1e-6);
    EXPECT_NEAR(factor("f", "user5"), 0.749154, 1e-4);
    // FairShareDampeningFactor=5: F = 2^(-U/S/5)
    EXPECT_NEAR(line_of(tree.shares({"NO_FAIR_TREE"}, 5), "e", "user4").factor, std::exp2(-0.2),
                1e-9);
}

// Accounts with Fairshare=parent above other accounts, users without shares: the lines that sshare
// -l of Slurm 22.05 printed for this tree (the account is indented by its depth).
const std::vector<Member> kNested = {
    {"root", "", "root", "", 1, 0},        {"arts", "root", "", "", 20, 0},
    {"arts", "", "news", "", 9, 68},       {"film", "arts", "", "", 7, 0},
    {"film", "", "mail", "", 1, 0},        {"film", "", "uucp", "", 0, 15},
    {"music", "arts", "", "", kParent, 0}, {"music", "", "lp", "", 4, 46},
    {"music", "", "man", "", 2, 60},       {"nlp", "root", "", "", 100, 0},
    {"nlp", "", "nobody", "", 1, 3},       {"nlp", "", "root", "", 1, 0},
    {"science", "root", "", "", 50, 0},    {"chem", "science", "", "", 10, 0},
    {"chem", "", "daemon", "", 5, 21},     {"chem", "", "games", "", 5, 62},
    {"physics", "science", "", "", 30, 0}, {"physics", "", "bin", "", 1, 124},
    {"physics", "", "daemon", "", 3, 106}, {"physics", "", "sys", "", kParent, 36},
    {"vision", "root", "", "", 100, 0},    {"vision", "", "root", "", 1, 198},
};

std::string fraction(double value) {
    return fmt::format("{:.6f}", value);
}

std::string print_lines(const FairShare& shares) {
    std::string text;
    for (const ShareLine& line : shares.lines) {
        const bool is_tree = shares.is_fair_tree;
        text += fmt::format(
            "{}{}|{}|{}|{}|{}|{}", std::string(line.depth, ' '), line.association->account,
            line.association->user, fraction(line.norm_shares),
            line.parent ? fraction(line.norm_usage) : "", fraction(line.effective_usage),
            line.is_user() || !is_tree ? fraction(line.factor) : "");
        if (is_tree) {
            const bool has_level = line.parent && line.has_own_shares();
            text += "|" + (has_level ? fraction(line.level) : "");
        }
        text += "\n";
    }
    return text;
}

// Equal but for what usage had decayed there while the jobs ran.
void expect_like(const std::string& lines, const std::string& expected) {
    const std::vector<std::string_view> own = split(lines, '\n'), real = split(expected, '\n');
    ASSERT_EQ(own.size(), real.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
        SCOPED_TRACE(real[i]);
        const std::vector<std::string_view> cells = split(own[i], '|'),
                                            wanted = split(real[i], '|');
        ASSERT_EQ(cells.size(), wanted.size());
        for (std::size_t j = 0; j < cells.size(); ++j) {
            const bool is_number = !wanted[j].empty() && wanted[j].find('.') != wanted[j].npos;
            if (!is_number) {
                EXPECT_EQ(cells[j], wanted[j]);
                continue;
            }
            const double value = std::stod(std::string(wanted[j]));
            EXPECT_NEAR(std::stod(std::string(cells[j])), value, 2e-6 + 1e-4 * value);
        }
    }
}

TEST(FairTree, PrintsTheLinesOfARealCluster) {
    expect_like(print_lines(Tree(kNested).shares()),
                "root||0.000000||1.000000||\n"
                " root|root|0.003690|0.000000|0.000000|1.000000|inf\n"
                " arts||0.073801|0.255754|0.255754||0.288561\n"
                "  arts|news|0.409091|0.092017|0.359787|0.214286|1.137036\n"
                "  film||0.318182|0.020298|0.079367||4.009018\n"
                "   film|mail|1.000000|0.000000|0.000000|0.357143|inf\n"
                "   film|uucp|0.000000|0.020298|1.000000|0.285714|0.000000\n"
                "  music||0.073801|0.143439|0.560846||\n"
                "   music|lp|0.181818|0.062246|0.243382|0.142857|0.747048\n"
                "   music|man|0.090909|0.081193|0.317464|0.071429|0.286360\n"
                " nlp||0.369004|0.004060|0.004060||90.893749\n"
                "  nlp|nobody|0.500000|0.004060|1.000000|0.857143|0.500000\n"
                "  nlp|root|0.500000|0.000000|0.000000|0.928571|inf\n"
                " science||0.184502|0.472264|0.472264||0.390675\n"
                "  chem||0.250000|0.112316|0.237823||1.051200\n"
                "   chem|daemon|0.500000|0.028417|0.253014|0.714286|1.976174\n"
                "   chem|games|0.500000|0.083898|0.746986|0.642857|0.669357\n"
                "  physics||0.750000|0.359949|0.762177||0.984024\n"
                "   physics|bin|0.250000|0.167796|0.466167|0.428571|0.536289\n"
                "   physics|daemon|0.750000|0.143438|0.398495|0.500000|1.882081\n"
                "   physics|sys|0.750000|0.048715|0.135338|0.571429|\n"
                " vision||0.369004|0.267922|0.267922||1.377280\n"
                "  vision|root|1.000000|0.267922|1.000000|0.785714|1.000000\n");
}

TEST(ClassicFairShare, PrintsTheLinesOfARealCluster) {
    expect_like(print_lines(Tree(kNested).shares({"NO_FAIR_TREE"})),
                "root||1.000000||1.000000|0.500000\n"
                " root|root|0.003690|0.000000|0.000000|1.000000\n"
                " arts||0.073801|0.255754|0.255754|0.090530\n"
                "  arts|news|0.030191|0.092017|0.159000|0.025980\n"
                "  film||0.023482|0.020298|0.095216|0.060169\n"
                "   film|mail|0.023482|0.000000|0.095216|0.060169\n"
                "   film|uucp|0.000000|0.020298|0.020298|0.000000\n"
                "  music||0.073801|0.143439|0.255754|0.090530\n"
                "   music|lp|0.013418|0.062246|0.097429|0.006520\n"
                "   music|man|0.006709|0.081193|0.097062|0.000044\n"
                " nlp||0.369004|0.004060|0.004060|0.992403\n"
                "  nlp|nobody|0.184502|0.004060|0.004060|0.984864\n"
                "  nlp|root|0.184502|0.000000|0.002030|0.992403\n"
                " science||0.184502|0.472264|0.472264|0.169614\n"
                "  chem||0.046125|0.112316|0.202303|0.047831\n"
                "   chem|daemon|0.023063|0.028417|0.115360|0.031206\n"
                "   chem|games|0.023063|0.083898|0.143100|0.013557\n"
                "  physics||0.138376|0.359949|0.444185|0.108069\n"
                "   physics|bin|0.034594|0.167796|0.236894|0.008682\n"
                "   physics|daemon|0.103782|0.143438|0.368999|0.085052\n"
                "   physics|sys|0.138376|0.048715|0.444185|0.108069\n"
                " vision||0.369004|0.267922|0.267922|0.604549\n"
                "  vision|root|0.369004|0.267922|0.267922|0.604549\n");
}

// R = Rparent * rl^k: further from the share than the account, k is 1; else the account pulls.
TEST(DepthOblivious, FollowsTheDocument) {
    const FairShare shares = Tree(kRecorded).shares({"DEPTH_OBLIVIOUS"});
    EXPECT_FALSE(shares.is_fair_tree);
    EXPECT_NEAR(line_of(shares, "sa").factor, 0.150323, kRounding);  // as a real cluster
    EXPECT_NEAR(line_of(shares, "sa1").factor, 0.093154, kRounding);
    EXPECT_NEAR(line_of(shares, "sa1", "daemon").factor, 0.067537, kRounding);
    EXPECT_NEAR(line_of(shares, "sp", "man").factor, 0.115149, kRounding);
    EXPECT_NEAR(line_of(shares, "sz", "proxy").factor, 1, 1e-9);
    EXPECT_NEAR(line_of(shares, "sz", "news").factor, 0, 1e-9);
    const double parent = 0.363304 / 0.132890, local = (0.022019 / 0.033223) / parent;
    const double k = 1 / (1 + std::pow(5 * std::log(parent), 2));
    EXPECT_NEAR(line_of(shares, "sa2").factor, std::exp2(-parent * std::pow(local, k)), 1e-5);
}

TEST(FairShare, WithoutAssociationsIsEmpty) {
    const auto none = std::make_shared<const Policy>();
    const FairShare shares = fair_share_of(none, std::make_shared<const AssociationTree>(none),
                                           UsageBook(), PrioritySettings());
    EXPECT_TRUE(shares.empty());
    EXPECT_EQ(shares.find("a", UserId{1}, ""), nullptr);
}

}  // namespace
}  // namespace sluice
