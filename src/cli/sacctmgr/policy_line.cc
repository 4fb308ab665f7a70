// See policy_line.h.
#include "cli/sacctmgr/policy_line.h"

#include <algorithm>

#include "model/times.h"
#include "policy/tree.h"

namespace sluice {

namespace {

using L = PolicyLine;
using A = Association;

template <auto... Members>
std::string tres(const L& line) {
    return line.own ? print_tres((line.shown.*....*Members)) : "";
}
template <auto... Members>
std::string count(const L& line) {
    return line.own ? count_text((line.shown.*....*Members)) : "";
}
template <auto... Members>
std::string wall(const L& line) {
    return line.own ? wall_text((line.shown.*....*Members)) : "";
}

template <const char* Name, auto... Members>
std::string one(const L& line) {
    return line.own ? one_of((line.shown.*....*Members), Name) : "";
}

std::string account(const L& line) {
    if (line.own) return line.indent + line.own->account;
    return line.account ? line.account->name : "";
}
std::string user(const L& line) {
    if (line.user) return line.user->name;
    return line.own ? line.own->user : "";
}
std::string cluster(const L& line) {
    if (line.cluster) return line.cluster->name;
    return line.own ? line.own->cluster : "";
}
std::string partition(const L& line) {
    return line.own ? line.own->partition : "";
}
std::string shares(const L& line) {
    return line.own ? shares_of(*line.own) : "";
}
std::string priority(const L& line) {
    return line.own && line.shown.priority ? std::to_string(line.shown.priority) : "";
}
std::string qos(const L& line) {
    return line.own ? qos_of(line.shown) : "";
}
std::string raw_qos(const L& line) {
    std::vector<std::string> ids;
    if (!line.own || !line.shown.qos) return "";
    for (const Qos& each : line.policy->qos) {
        if (std::find(line.shown.qos->begin(), line.shown.qos->end(), each.name) !=
            line.shown.qos->end())
            ids.push_back(std::to_string(each.id));
    }
    return join(ids, ",");
}
std::string default_qos(const L& line) {
    return line.own ? line.shown.default_qos : "";
}
std::string id(const L& line) {
    if (line.own) return std::to_string(line.own->id);
    return line.cluster ? std::to_string(line.cluster->id) : "";
}
std::string parent_id(const L& line) {
    return line.own && line.own->parent ? std::to_string(line.own->parent) : "";
}
std::string parent_name(const L& line) {
    if (!line.own || !line.own->user.empty()) return "";
    const A* parent = find_association(*line.policy, line.own->parent);
    return parent ? parent->account : "";
}
// "/vision/root/": the accounts from the root down, then the user.
std::string lineage(const L& line) {
    if (!line.own) return "";
    std::string path = "/";
    if (!line.own->user.empty())
        path = line.own->partition.empty()
                   ? fmt::format("/0-{}/", line.own->user)
                   : fmt::format("/0-{}/{}/", line.own->user, line.own->partition);
    const A* each =
        line.own->user.empty() ? line.own : find_association(*line.policy, line.own->parent);
    for (; each && each->parent; each = find_association(*line.policy, each->parent))
        path = fmt::format("/{}{}", each->account, path);
    return path;
}
std::string comment(const L& line) {
    return line.own ? line.own->comment : "";
}
std::string flags(const L& line) {
    if (line.cluster) return "None";
    if (line.own) return line.own->deleted ? "Deleted" : "";
    const bool deleted = line.user ? line.user->deleted : line.account && line.account->deleted;
    return deleted ? "Deleted" : "None";
}
std::string default_account(const L& line) {
    return line.user ? default_account_of(*line.policy, line.user->name) : "";
}
std::string default_wckey(const L& line) {
    return line.user ? default_wckey_of(*line.policy, line.user->name) : "";
}
std::string admin(const L& line) {
    return line.user ? print_admin_level(line.user->admin_level) : "";
}
std::string description(const L& line) {
    return line.account ? line.account->description : "";
}
std::string organization(const L& line) {
    return line.account ? line.account->organization : "";
}
std::string coordinators(const L& line) {
    if (!line.with_coordinators) return "";
    if (line.user) return join(coordinated_by(*line.policy, line.user->name), ",");
    if (!line.account) return "";
    std::vector<std::string> names = line.account->coordinators;
    std::sort(names.begin(), names.end());
    return join(names, ",");
}
std::string control_host(const L& line) {
    return line.cluster ? line.cluster->control_host : "";
}
std::string control_port(const L& line) {
    return line.cluster ? std::to_string(line.cluster->control_port) : "";
}
std::string rpc(const L& line) {
    return line.cluster ? std::to_string(line.cluster->rpc_version) : "";
}
std::string classification(const L& line) {
    return line.cluster ? line.cluster->classification : "";
}

using M = Allotment;

// clang-format off
constexpr ListField<L> kPolicyFields[] = {
    {"Account",          "Account",        10, account},
    {"AdminLevel",       "Admin",           9, admin},
    {"Classification",   "Class",           9, classification},
    {"Cluster",          "Cluster",        10, cluster},
    {"Comment",          "Comment",        20, comment},
    {"ControlHost",      "ControlHost",    15, control_host},
    {"ControlPort",      "ControlPort",    12, control_port},
    {"Coordinators",     "Coord Accounts", 20, coordinators},
    {"DefaultAccount",   "Def Acct",       10, default_account},
    {"DefaultQOS",       "Def QOS",         9, default_qos},
    {"DefQOS",           "Def QOS",         9, default_qos},
    {"DefaultWCKey",     "Def WCKey",      10, default_wckey},
    {"Description",      "Descr",          20, description},
    {"Fairshare",        "Share",           9, shares},
    {"Flags",            "Flags",          20, flags},
    {"GrpCPUs",          "GrpCPUs",         8, one<kCpu, &A::of_all, &M::tres>},
    {"GrpCPUMins",       "GrpCPUMins",     11, one<kCpu, &A::of_all, &M::minutes>},
    {"GrpCPURunMins",    "GrpCPURunMins",  13, one<kCpu, &A::of_all, &M::run_minutes>},
    {"GrpJobs",          "GrpJobs",         7, count<&A::of_all, &M::running>},
    {"GrpJobsAccrue",    "GrpJobsAccrue",  13, count<&A::of_all, &M::accruing>},
    {"GrpMemory",        "GrpMem",          7, one<kMem, &A::of_all, &M::tres>},
    {"GrpNodes",         "GrpNodes",        8, one<kNode, &A::of_all, &M::tres>},
    {"GrpSubmitJobs",    "GrpSubmit",       9, count<&A::of_all, &M::submitted>},
    {"GrpTRES",          "GrpTRES",        13, tres<&A::of_all, &M::tres>},
    {"GrpTRESMins",      "GrpTRESMins",    13, tres<&A::of_all, &M::minutes>},
    {"GrpTRESRunMins",   "GrpTRESRunMins", 13, tres<&A::of_all, &M::run_minutes>},
    {"GrpWall",          "GrpWall",        11, wall<&A::of_all, &M::wall>},
    {"ID",               "ID",              6, id},
    {"Lineage",          "Lineage",        20, lineage},
    {"MaxCPUs",          "MaxCPUs",         8, one<kCpu, &A::max_per_job>},
    {"MaxCPUsPerJob",    "MaxCPUs",         8, one<kCpu, &A::max_per_job>},
    {"MaxCPUMinsPerJob", "MaxCPUMins",     11, one<kCpu, &A::max_minutes_per_job>},
    {"MaxJobs",          "MaxJobs",         7, count<&A::of_each, &M::running>},
    {"MaxJobsAccrue",    "MaxJobsAccrue",  13, count<&A::of_each, &M::accruing>},
    {"MaxNodesPerJob",   "MaxNodes",        8, one<kNode, &A::max_per_job>},
    {"MaxSubmitJobs",    "MaxSubmit",       9, count<&A::of_each, &M::submitted>},
    {"MaxTRES",          "MaxTRES",        13, tres<&A::max_per_job>},
    {"MaxTRESPerJob",    "MaxTRES",        13, tres<&A::max_per_job>},
    {"MaxTRESMins",      "MaxTRESMins",    13, tres<&A::max_minutes_per_job>},
    {"MaxTRESMinsPerJob","MaxTRESMins",    13, tres<&A::max_minutes_per_job>},
    {"MaxTRESPerNode",   "MaxTRESPerNode", 14, tres<&A::max_per_node>},
    {"MaxTRESRunMins",   "MaxTRESRunMins", 14, tres<&A::of_each, &M::run_minutes>},
    {"MaxWallDurationPerJob", "MaxWall",   11, wall<&A::max_wall>},
    {"MinPrioThreshold", "MinPrioThres",   12, count<&A::min_priority>},
    {"Name",             "Name",           10, nullptr},
    {"Organization",     "Org",            20, organization},
    {"ParentID",         "Par ID",          6, parent_id},
    {"ParentName",       "ParentName",     10, parent_name},
    {"Partition",        "Partition",      10, partition},
    {"Priority",         "Priority",       10, priority},
    {"QOS",              "QOS",            20, qos},
    {"QosLevel",         "QOS",            20, qos},
    {"QOSRAWlevel",      "QOS_RAW",        10, raw_qos},
    {"RPC",              "RPC",             5, rpc},
    {"Share",            "Share",           9, shares},
    {"User",             "User",           10, user},
};
// clang-format on

}  // namespace

std::span<const ListField<PolicyLine>> policy_fields() {
    return kPolicyFields;
}

std::string qos_of(const Association& association) {
    std::vector<std::string> names = association.qos.value_or(std::vector<std::string>{});
    std::sort(names.begin(), names.end());
    return join(names, ",");
}

std::string shares_of(const Association& association) {
    return association.shares == kSharesOfParent ? "parent" : std::to_string(association.shares);
}

std::string default_account_of(const Policy& policy, const std::string& user) {
    for (const Association& each : policy.associations) {
        if (!each.deleted && each.is_default && each.user == user) return each.account;
    }
    return "";
}

std::string default_wckey_of(const Policy& policy, const std::string& user) {
    for (const Wckey& each : policy.wckeys) {
        if (!each.deleted && each.is_default && each.user == user) return each.name;
    }
    return "";
}

// Compat: with the accounts below those that name the user.
std::vector<std::string> coordinated_by(const Policy& policy, const std::string& user) {
    std::vector<std::string> direct, all;
    for (const Account& each : policy.accounts) {
        const auto& names = each.coordinators;
        if (!each.deleted && std::find(names.begin(), names.end(), user) != names.end())
            direct.push_back(each.name);
    }
    for (const Association* each : tree_order(policy, false)) {
        if (!each->user.empty()) continue;
        for (const Association* above = each; above;
             above = find_association(policy, above->parent)) {
            if (std::find(direct.begin(), direct.end(), above->account) == direct.end()) continue;
            if (std::find(all.begin(), all.end(), each->account) == all.end())
                all.push_back(each->account);
            break;
        }
    }
    return all;
}

std::string print_admin_level(AdminLevel level) {
    switch (level) {
        case AdminLevel::Operator:
            return "Operator";
        case AdminLevel::Administrator:
            return "Administrator";
        case AdminLevel::None:
            break;
    }
    return "None";
}

}  // namespace sluice
