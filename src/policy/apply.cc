// See apply.h.
#include "policy/apply.h"

#include <algorithm>
#include <utility>

#include "model/errors.h"
#include "model/field_checks.h"
#include "policy/change_fields.h"
#include "policy/work.h"

namespace sluice {

namespace {

using Perform = Result<void> (*)(PolicyWork& work);

// By entity, then by verb: add, modify, delete. Coordinators have nothing to modify.
constexpr Perform kSteps[][3] = {
    {add_accounts, modify_accounts, delete_accounts},     // Account
    {add_users, modify_users, delete_users},              // User
    {add_qos, modify_qos, delete_qos},                    // Qos
    {add_coordinators, nullptr, delete_coordinators},     // Coordinator
    {add_clusters, modify_clusters, delete_clusters},     // Cluster
    {add_resources, modify_resources, delete_resources},  // Resource
};

Result<void> perform(PolicyWork& work) {
    const Perform function = kSteps[static_cast<std::size_t>(work.step.entity)]
                                   [static_cast<std::size_t>(work.step.verb)];
    if (!function) return Error{ErrorCode::NotSupported, "modify coordinator"};
    return function(work);
}

}  // namespace

Result<PolicyOutcome> apply_change(Policy& policy, const PolicyChange& change,
                                   const PolicyActor& actor, const PolicyFacts& facts, Time now) {
    TRY(validate_fields(change));
    Policy changed = policy;
    PolicyOutcome outcome;
    for (const PolicyStep& step : change.steps) {
        PolicyWork work{changed, step, actor, facts, now, outcome};
        TRY(perform(work));
    }
    if (outcome.is_empty()) return outcome;
    order_associations(changed);
    TRY(validate_fields(changed));
    ++changed.version;
    policy = std::move(changed);
    return outcome;
}

Policy first_policy(const std::string& cluster, Time now) {
    Policy policy;
    Qos normal;
    normal.id = 1;
    normal.name = kDefaultQos;
    normal.description = "Normal QOS default";
    policy.qos.push_back(normal);
    policy.tres = {{1, "cpu"},     {2, "mem"},     {3, "energy"}, {4, "node"},
                   {5, "billing"}, {6, "fs/disk"}, {7, "vmem"},   {8, "pages"}};
    policy.clusters.push_back({.id = 1, .name = cluster, .created = now, .modified = now});
    policy.accounts.push_back({.name = std::string(kRootAccount),
                               .description = "default root account",
                               .organization = "root",
                               .created = now,
                               .modified = now});
    policy.users.push_back({.name = std::string(kRootUser),
                            .uid = UserId{0},
                            .admin_level = AdminLevel::Administrator,
                            .created = now,
                            .modified = now});
    Association root{.id = 1, .cluster = cluster, .account = std::string(kRootAccount)};
    root.qos = {std::string(kDefaultQos)};
    root.created = root.modified = now;
    Association user{.id = 2, .parent = 1, .cluster = cluster, .account = root.account};
    user.user = kRootUser;
    user.uid = UserId{0};
    user.is_default = true;
    user.created = user.modified = now;
    policy.associations = {root, user};
    policy.next_id = 3;
    policy.version = 1;
    return policy;
}

Result<void> define_qos(Policy& policy, const QosDefinitions& all, const PolicyFacts& facts,
                        Time now) {
    PolicyChange change;
    for (const PolicyVerb verb : {PolicyVerb::Add, PolicyVerb::Modify}) {
        for (const auto& [name, values] : all) {
            PolicyStep& step = change.steps.emplace_back();
            step.verb = verb;
            step.entity = PolicyEntity::Qos;
            step.names = {name};
            if (verb == PolicyVerb::Modify) step.qos = values;
        }
    }
    const PolicyActor root{.name = std::string(kRootUser), .uid = {}, .is_root = true};
    TRY(apply_change(policy, change, root, facts, now));
    return {};
}

Result<PolicyOutcome> preview(Policy& policy, const PolicyChange& change) {
    PolicyFacts facts;
    for (const TresKind& kind : policy.tres) {
        if (!kind.name.starts_with("gres/")) continue;
        const std::string name = kind.name.substr(5);
        facts.gres.push_back(name.substr(0, name.find(':')));
    }
    return apply_change(policy, change, {.name = "root", .uid = {}, .is_root = true}, facts,
                        Time{});
}

bool add_tres(Policy& policy, const Tres& seen) {
    constexpr std::uint32_t kFirstOwn = 1001;  // Compat: below are those that every cluster has
    bool is_new = false;
    for (const auto& [name, amount] : seen) {
        std::uint32_t next = kFirstOwn;
        bool is_known = false;
        for (const TresKind& kind : policy.tres) {
            is_known = is_known || kind.name == name;
            next = std::max(next, kind.id + 1);
        }
        if (is_known) continue;
        policy.tres.push_back({next, name});
        is_new = true;
    }
    if (is_new) ++policy.version;
    return is_new;
}

}  // namespace sluice
