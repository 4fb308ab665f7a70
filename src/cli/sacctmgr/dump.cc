// cli/sacctmgr/dump.cc
//
// sacctmgr dump: the associations of a cluster as a file that sacctmgr load reads.
#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/sacctmgr/commands.h"
#include "cli/sacctmgr/policy_line.h"
#include "model/errors.h"
#include "model/times.h"
#include "os/files.h"
#include "policy/tree.h"

namespace sluice {

namespace {

constexpr std::string_view kDumpHeader =
    "# To edit this file start with a cluster line for the new cluster\n"
    "# Cluster - 'cluster_name':MaxTRESPerJob=node=50\n"
    "# Followed by Accounts you want in this fashion (root is created by default)...\n"
    "# Parent - 'root'\n"
    "# Account - 'cs':MaxTRESPerJob=node=5:MaxJobs=4:MaxTRESMinsPerJob=cpu=20:FairShare=399:"
    "MaxWallDurationPerJob=40:Description='Computer Science':Organization='LC'\n"
    "# Any of the options after a ':' can be left out and they can be in any order.\n"
    "# If you want to add any sub accounts just list the Parent THAT HAS ALREADY\n"
    "# BEEN CREATED before the account line in this fashion...\n"
    "# Parent - 'cs'\n"
    "# Account - 'test':MaxTRESPerJob=node=1:MaxJobs=1:MaxTRESMinsPerJob=cpu=1:FairShare=1:"
    "MaxWallDurationPerJob=1:Description='Test Account':Organization='Test'\n"
    "# To add users to a account add a line like this after a Parent - 'line'\n"
    "# User - 'lipari':MaxTRESPerJob=node=2:MaxJobs=3:MaxTRESMinsPerJob=cpu=4:FairShare=1:"
    "MaxWallDurationPerJob=1\n";

// ":Key=value", quoted where a colon would end it.
void put(std::string& out, std::string_view key, const std::string& value) {
    if (value.empty()) return;
    const char* quote = value.find(':') == std::string::npos ? "" : "'";
    out += fmt::format(":{}={}{}{}", key, quote, value, quote);
}
void put_quoted(std::string& out, std::string_view key, const std::string& value) {
    if (!value.empty()) out += fmt::format(":{}='{}'", key, value);
}
void put(std::string& out, std::string_view key, const std::optional<std::uint32_t>& count) {
    if (count) put(out, key, std::to_string(*count));
}
void put(std::string& out, std::string_view key, const std::optional<Seconds>& length) {
    if (length) put(out, key, std::to_string(length->count() / 60));
}

void put_limits(std::string& out, const Association& each) {
    put_quoted(out, "DefaultQOS", each.default_qos);
    put(out, "Fairshare", shares_of(each));
    put(out, "GrpTRESMins", print_tres(each.of_all.minutes));
    put(out, "GrpTRESRunMins", print_tres(each.of_all.run_minutes));
    put(out, "GrpTRES", print_tres(each.of_all.tres));
    put(out, "GrpJobs", each.of_all.running);
    put(out, "GrpJobsAccrue", each.of_all.accruing);
    put(out, "GrpSubmitJobs", each.of_all.submitted);
    put(out, "GrpWall", each.of_all.wall);
    put(out, "MaxTRESMinsPerJob", print_tres(each.max_minutes_per_job));
    put(out, "MaxTRESRunMins", print_tres(each.of_each.run_minutes));
    put(out, "MaxTRESPerJob", print_tres(each.max_per_job));
    put(out, "MaxTRESPerNode", print_tres(each.max_per_node));
    put(out, "MaxJobs", each.of_each.running);
    put(out, "MaxJobsAccrue", each.of_each.accruing);
    put(out, "MaxSubmitJobs", each.of_each.submitted);
    put(out, "MaxWallDurationPerJob", each.max_wall);
    put(out, "MinPrioThreshold", each.min_priority);
    if (each.priority) put(out, "Priority", std::to_string(each.priority));
    put_quoted(out, "QOS", qos_of(each));
    put_quoted(out, "Comment", each.comment);
}

std::string user_line(const Policy& policy, const Association& each) {
    std::string line = fmt::format("User - '{}'", each.user);
    put_quoted(line, "Partition", each.partition);
    put_quoted(line, "DefaultAccount", default_account_of(policy, each.user));
    put_quoted(line, "DefaultWCKey", default_wckey_of(policy, each.user));
    for (const PolicyUser& user : policy.users) {
        if (user.name == each.user && user.admin_level != AdminLevel::None)
            put_quoted(line, "AdminLevel", print_admin_level(user.admin_level));
    }
    std::vector<std::string> coordinated;
    for (const Account& account : policy.accounts) {
        for (const std::string& name : account.coordinators) {
            if (name == each.user) coordinated.push_back(account.name);
        }
    }
    put_quoted(line, "Coordinator", join(coordinated, ","));
    put_limits(line, each);
    return line + "\n";
}

std::string account_line(const Policy& policy, const Association& each) {
    std::string line = fmt::format("Account - '{}'", each.account);
    for (const Account& account : policy.accounts) {
        if (account.deleted || account.name != each.account) continue;
        put_quoted(line, "Description", account.description);
        put_quoted(line, "Organization", account.organization);
    }
    put_limits(line, each);
    return line + "\n";
}

// An account is followed by all its children before one of these is a parent itself.
std::string print_dump(const Policy& policy, const std::string& cluster) {
    const std::vector<const Association*> all = tree_order(policy, false);
    std::string out(kDumpHeader);
    for (const Association* parent : all) {
        if (parent->cluster != cluster || !parent->user.empty()) continue;
        std::string lines;
        for (const Association* each : all) {
            if (each->parent != parent->id) continue;
            lines += each->user.empty() ? account_line(policy, *each) : user_line(policy, *each);
        }
        if (parent->parent == 0) {
            out += fmt::format("Cluster - '{}'", cluster);
            put_limits(out, *parent);
            out += '\n';
        }
        if (!lines.empty()) out += fmt::format("Parent - '{}'\n{}", parent->account, lines);
    }
    return out;
}

}  // namespace

int dump_policy(AccountingCommand& command) {
    std::string cluster, file;
    for (const std::string& word : command.words) {
        const std::size_t at = word.find('=');
        const std::string_view key = std::string_view(word).substr(0, at);
        if (at == std::string::npos)
            cluster = to_lower(word);
        else if (means(key, "cluster", 1) || means(key, "name", 1))
            cluster = to_lower(word.substr(at + 1));
        else if (means(key, "file", 1))
            file = word.substr(at + 1);
        else
            return command.say("Unknown option: " + word);
    }
    if (cluster.empty()) return command.say("We need a cluster to dump.");
    const Result<Policy> policy = ask_policy(command.client);
    if (!policy) return command.fail(to_string(policy.error()));
    bool is_known = false;
    for (const ClusterRecord& each : policy->clusters)
        is_known = is_known || (!each.deleted && each.name == cluster);
    if (!is_known) return command.say(fmt::format("Cluster {} doesn't exist.", cluster));
    if (file.empty()) file = cluster + ".cfg";
    if (!file.starts_with('/')) file = command.invocation.directory + "/" + file;
    if (Result<void> written = write_file_atomically(file, print_dump(*policy, cluster)); !written)
        return command.fail(fmt::format("{}: {}", file, to_string(written.error())));
    return 0;
}

}  // namespace sluice
