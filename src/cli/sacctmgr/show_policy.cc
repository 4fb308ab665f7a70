// cli/sacctmgr/show_policy.cc
//
// sacctmgr show account, association, cluster, problem and user. See show.h.
#include <algorithm>

#include "cli/sacctmgr/policy_line.h"
#include "cli/sacctmgr/show.h"
#include "policy/tree.h"

namespace sluice {

namespace {

constexpr std::string_view kAssociationFormat =
    "Cluster,Account,User,Partition,Share,Priority,GrpJobs,GrpTRES,GrpSubmit,GrpWall,GrpTRESMins,"
    "MaxJobs,MaxTRES,MaxTRESPerNode,MaxSubmit,MaxWall,MaxTRESMins,QOS,DefaultQOS,GrpTRESRunMins";
constexpr std::string_view kUserAssociations =
    ",Cluster,Account,Partition,Share,Priority,MaxJobs,MaxNodes,MaxCPUs,MaxSubmit,MaxWall,"
    "MaxCPUMins,QOS,DefaultQOS";
constexpr std::string_view kAccountAssociations =
    ",Cluster,ParentName,User,Share,Priority,GrpJobs,GrpNodes,GrpCPUs,GrpMem,GrpSubmit,GrpWall,"
    "GrpCPUMins,MaxJobs,MaxNodes,MaxCPUs,MaxSubmit,MaxWall,MaxCPUMins,QOS,DefaultQOS";
constexpr std::string_view kClusterLimits =
    ",Share,GrpJobs,GrpTRES,GrpSubmit,MaxJobs,MaxTRES,MaxSubmit,MaxWall,QOS,DefaultQOS";

std::string parent_account(const Policy& policy, const Association& each) {
    const Association* parent = find_association(policy, each.parent);
    return parent && each.user.empty() ? parent->account : "";
}

// Compat: withsubaccounts selects everything below the accounts that are named.
bool is_of_account(const Policy& policy, const SacctmgrWords& words, const Association& each) {
    if (is_among(words.step.accounts, each.account)) return true;
    if (!words.has("withsub")) return false;
    for (const Association* above = &each; above; above = find_association(policy, above->parent)) {
        if (is_among(words.step.accounts, above->account)) return true;
    }
    return false;
}

bool matches(const Policy& policy, const SacctmgrWords& words, const Association& each) {
    return is_of_account(policy, words, each) && is_among(words.step.clusters, each.cluster) &&
           is_among(words.step.partitions, each.partition) && words.selects("users", each.user) &&
           words.selects("ids", std::to_string(each.id)) &&
           is_among(words.step.parents, parent_account(policy, each)) &&
           (!words.has("onlydefaults") || each.is_default);
}

PolicyLine line_of(const Policy& policy, const SacctmgrWords& words, const Association& each) {
    PolicyLine line{.policy = &policy};
    line.own = &each;
    const bool is_raw = words.has("woplimits") || words.has("wopinfo");
    line.shown = is_raw ? each : inherited(policy, each);
    return line;
}

std::vector<PolicyLine> association_lines(const Policy& policy, const SacctmgrWords& words) {
    std::vector<PolicyLine> lines;
    for (const Association* each : tree_order(policy, words.has("withdeleted"))) {
        if (matches(policy, words, *each)) lines.push_back(line_of(policy, words, *each));
    }
    return lines;
}

// Each account is indented by one more than the nearest one above it that is shown.
void indent(const Policy& policy, std::vector<PolicyLine>& lines) {
    std::map<std::uint32_t, std::size_t> depths;
    for (PolicyLine& line : lines) {
        std::size_t depth = 0;
        for (const Association* above = find_association(policy, line.own->parent); above;
             above = find_association(policy, above->parent)) {
            const auto found = depths.find(above->id);
            if (found == depths.end()) continue;
            depth = found->second + 1;
            break;
        }
        depths[line.own->id] = depth;
        line.indent = std::string(depth, ' ');
    }
}

}  // namespace

int show_associations(AccountingCommand& command, const Policy& policy,
                      const SacctmgrWords& words) {
    std::vector<PolicyLine> lines = association_lines(policy, words);
    std::string format(words.has("wolimits") ? "Cluster,Account,User,Partition"
                                             : kAssociationFormat);
    format = format_or(words, format);
    if (words.has("tree")) {
        indent(policy, lines);
        // Compat: without a width of its own the column is aligned to the left.
        std::vector<std::string> fields;
        for (std::string_view each : split(format, ',')) {
            const bool is_plain = each.size() >= 2 && starts_with_ignoring_case("account", each);
            fields.push_back(is_plain ? "Account%-20" : std::string(each));
        }
        format = join(fields, ",");
    }
    return print_list(command, policy_fields(), format, lines);
}

int show_accounts(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    const bool with_associations = words.has("withassoc") || command.with_associations;
    std::vector<const Account*> accounts;
    for (const Account& each : policy.accounts) {
        const bool is_meant = (!each.deleted || words.has("withdeleted")) &&
                              is_among(words.step.names, each.name) &&
                              is_among(words.step.descriptions, each.description) &&
                              is_among(words.step.organizations, each.organization);
        if (is_meant) accounts.push_back(&each);
    }
    std::sort(accounts.begin(), accounts.end(),
              [](const Account* a, const Account* b) { return a->name < b->name; });
    const std::vector<PolicyLine> all =
        with_associations ? association_lines(policy, words) : std::vector<PolicyLine>{};
    std::vector<PolicyLine> lines;
    for (const Account* account : accounts) {
        PolicyLine bare{.policy = &policy};
        bare.account = account;
        bare.with_coordinators = words.has("withcoord");
        if (!with_associations) lines.push_back(bare);
        for (PolicyLine line : all) {
            if (line.own->account != account->name) continue;
            line.account = account;
            line.with_coordinators = bare.with_coordinators;
            lines.push_back(std::move(line));
        }
    }
    std::string format = "Account,Description,Organization";
    if (with_associations) format += kAccountAssociations;
    if (words.has("withcoord")) format += ",Coordinators";
    return print_list(command, policy_fields(), format_or(words, format), lines);
}

int show_users(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    const bool with_associations = words.has("withassoc") || command.with_associations;
    std::vector<const PolicyUser*> users;
    for (const PolicyUser& each : policy.users) {
        const bool is_meant =
            (!each.deleted || words.has("withdeleted")) && is_among(words.step.names, each.name) &&
            is_among(words.step.default_accounts, default_account_of(policy, each.name)) &&
            words.selects("adminlevel", to_lower(print_admin_level(each.admin_level)));
        if (is_meant) users.push_back(&each);
    }
    std::sort(users.begin(), users.end(),
              [](const PolicyUser* a, const PolicyUser* b) { return a->name < b->name; });
    const std::vector<PolicyLine> all =
        with_associations ? association_lines(policy, words) : std::vector<PolicyLine>{};
    std::vector<PolicyLine> lines;
    for (const PolicyUser* user : users) {
        PolicyLine bare{.policy = &policy};
        bare.user = user;
        bare.with_coordinators = words.has("withcoord");
        const std::size_t before = lines.size();
        for (PolicyLine line : all) {
            if (line.own->user != user->name) continue;
            line.user = user;
            line.with_coordinators = bare.with_coordinators;
            lines.push_back(std::move(line));
        }
        if (lines.size() == before) lines.push_back(bare);
    }
    std::string format = "User,DefaultAccount,Admin";
    if (with_associations) format += kUserAssociations;
    if (words.has("withcoord")) format += ",Coordinators";
    return print_list(command, policy_fields(), format_or(words, format), lines);
}

int show_clusters(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    std::vector<PolicyLine> lines;
    for (const ClusterRecord& each : policy.clusters) {
        if ((each.deleted && !words.has("withdeleted")) || !is_among(words.step.names, each.name))
            continue;
        PolicyLine line{.policy = &policy};
        for (const Association& root : policy.associations) {
            if (root.parent == 0 && root.cluster == each.name) line = line_of(policy, words, root);
        }
        line.cluster = &each;
        lines.push_back(std::move(line));
    }
    std::sort(lines.begin(), lines.end(), [](const PolicyLine& a, const PolicyLine& b) {
        return a.cluster->name < b.cluster->name;
    });
    std::string format = "Cluster,ControlHost,ControlPort,RPC";
    if (!words.has("wolimits")) format += kClusterLimits;
    return print_list(command, policy_fields(), format_or(words, format), lines);
}

namespace {

struct ProblemLine {
    std::string cluster, account, user, problem;
};

constexpr ListField<ProblemLine> kProblemFields[] = {
    {"Cluster", "Cluster", 10, [](const ProblemLine& line) { return line.cluster; }},
    {"Account", "Account", 10, [](const ProblemLine& line) { return line.account; }},
    {"User", "User", 10, [](const ProblemLine& line) { return line.user; }},
    {"Problem", "Problem", 40, [](const ProblemLine& line) { return line.problem; }},
};

}  // namespace

int show_problems(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words) {
    std::vector<ProblemLine> lines;
    for (const Account& account : policy.accounts) {
        const bool has_users = std::any_of(
            policy.associations.begin(), policy.associations.end(), [&](const Association& each) {
                return !each.deleted && each.account == account.name && !each.user.empty();
            });
        const bool has_any = std::any_of(
            policy.associations.begin(), policy.associations.end(),
            [&](const Association& each) { return !each.deleted && each.account == account.name; });
        if (account.deleted || account.name == "root") continue;
        if (!has_any)
            lines.push_back({"", account.name, "", "Account has no Associations"});
        else if (!has_users)
            lines.push_back({"", account.name, "", "Account has no users"});
    }
    for (const PolicyUser& user : policy.users) {
        const bool has_any = std::any_of(
            policy.associations.begin(), policy.associations.end(),
            [&](const Association& each) { return !each.deleted && each.user == user.name; });
        if (user.deleted) continue;
        if (!user.uid) lines.push_back({"", "", user.name, "User does not have a uid"});
        if (!has_any) lines.push_back({"", "", user.name, "User has no Associations"});
    }
    std::erase_if(lines, [&](const ProblemLine& line) {
        return !is_among(words.step.accounts, line.account) || !words.selects("users", line.user);
    });
    return print_list<ProblemLine>(command, kProblemFields,
                                   format_or(words, "Cluster,Account,User,Problem"), lines);
}

}  // namespace sluice
