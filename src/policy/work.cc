// See work.h.
#include "policy/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

template <typename Record>
Record* find_named(std::vector<Record>& records, std::string_view name) {
    for (Record& each : records) {
        if (!each.deleted && each.name == name) return &each;
    }
    return nullptr;
}

bool is_known_tres(const PolicyWork& work, std::string_view name) {
    for (std::string_view plain : {"cpu", "mem", "node", "billing", "energy", "fs/disk"}) {
        if (name == plain) return true;
    }
    for (const TresKind& kind : work.policy.tres) {
        if (kind.name == name) return true;
    }
    if (!name.starts_with("gres/")) return false;
    name.remove_prefix(5);
    return has_name(work.facts.gres, name.substr(0, name.find(':')));
}

}  // namespace

void PolicyWork::note(std::string action, std::string where, std::string info,
                      std::string cluster) {
    outcome.transactions.push_back({.id = 0,
                                    .time = now,
                                    .action = std::move(action),
                                    .actor = actor.name,
                                    .where = std::move(where),
                                    .info = std::move(info),
                                    .cluster = std::move(cluster)});
}

Account* find_account(Policy& policy, std::string_view name) {
    return find_named(policy.accounts, name);
}
PolicyUser* find_user(Policy& policy, std::string_view name) {
    return find_named(policy.users, name);
}
Qos* find_qos(Policy& policy, std::string_view name) {
    return find_named(policy.qos, name);
}
ClusterRecord* find_cluster(Policy& policy, std::string_view name) {
    return find_named(policy.clusters, name);
}

Association* find_association(Policy& policy, const AssociationKeys& keys) {
    for (Association& each : policy.associations) {
        if (!each.deleted && each.cluster == keys.cluster && each.account == keys.account &&
            each.user == keys.user && each.partition == keys.partition)
            return &each;
    }
    return nullptr;
}

std::vector<Association*> associations_of_user(Policy& policy, std::string_view user) {
    std::vector<Association*> found;
    for (Association& each : policy.associations) {
        if (!each.deleted && each.user == user) found.push_back(&each);
    }
    return found;
}

bool has_name(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool selects(const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || has_name(names, name);
}

Result<std::vector<std::string>> clusters_of(PolicyWork& work) {
    std::vector<std::string> clusters = work.step.clusters;
    for (const std::string& name : clusters) {
        if (find_cluster(work.policy, name)) continue;
        return Error{ErrorCode::BadArgument,
                     fmt::format(" This cluster '{}' doesn't exist.\n"
                                 "        Contact your admin to add it to accounting.",
                                 name)};
    }
    if (!clusters.empty()) return clusters;
    for (const ClusterRecord& each : work.policy.clusters) {
        if (!each.deleted) clusters.push_back(each.name);
    }
    std::sort(clusters.begin(), clusters.end());
    return clusters;
}

Result<void> check_name(std::string_view what, std::string_view name) {
    const bool has_control = std::any_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
    });
    if (!name.empty() && !has_control && name.find_first_of(",=|'\": ") == std::string::npos)
        return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format(" '{}' cannot be the name of {}: blanks and , = | : ' \" are not "
                             "allowed",
                             name, what)};
}

Result<void> check_known_qos(const Policy& policy, const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const Qos& qos : policy.qos) {
        if (!qos.deleted) known.push_back(qos.name);
    }
    for (const std::string& name : names) {
        if (name.empty() || has_name(known, name)) continue;
        return Error{
            ErrorCode::BadArgument,
            fmt::format(" You gave a bad qos '{}'. Valid QOS's are {}", name, join(known, ","))};
    }
    return {};
}

Result<void> check_known_tres(const PolicyWork& work,
                              const std::vector<const TresChange*>& changes) {
    for (const TresChange* change : changes) {
        for (const auto& [name, count] : *change) {
            if (is_known_tres(work, name)) continue;
            return Error{ErrorCode::BadArgument, fmt::format(" no TRES known by type {}", name)};
        }
    }
    return {};
}

Result<void> check_limits(PolicyWork& work) {
    const AssociationChange& limits = work.step.limits;
    TRY(check_known_qos(work.policy, limits.qos_added));
    TRY(check_known_qos(work.policy, limits.qos_removed));
    TRY(check_known_qos(work.policy, {limits.default_qos.value_or("")}));
    return check_known_tres(
        work, {&limits.max_per_job, &limits.max_per_node, &limits.max_minutes_per_job,
               &limits.of_all.tres, &limits.of_all.minutes, &limits.of_all.run_minutes,
               &limits.of_each.run_minutes});
}

}  // namespace sluice
