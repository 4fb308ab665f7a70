// policy/wckeys.cc
//
// Workload characterization keys of users. See work.h.
#include <fmt/format.h>

#include <algorithm>

#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

Wckey* find_wckey(Policy& policy, const std::string& name, const std::string& user,
                  const std::string& cluster) {
    for (Wckey& each : policy.wckeys) {
        if (each.name == name && each.user == user && each.cluster == cluster) return &each;
    }
    return nullptr;
}

void make_default_wckey(Policy& policy, Wckey& chosen) {
    for (Wckey& each : policy.wckeys) {
        if (each.user == chosen.user && each.cluster == chosen.cluster) each.is_default = false;
    }
    chosen.is_default = true;
}

void add_wckey(PolicyWork& work, const std::string& name, const std::string& user,
               const std::string& cluster) {
    Wckey* key = find_wckey(work.policy, name, user, cluster);
    if (key && !key->deleted) return;
    const bool has_default =
        std::any_of(work.policy.wckeys.begin(), work.policy.wckeys.end(), [&](const Wckey& each) {
            return each.user == user && each.cluster == cluster && each.is_default;
        });
    if (!key) {
        key = &work.policy.wckeys.emplace_back();
        *key = {.id = work.policy.next_id++, .name = name, .cluster = cluster, .user = user};
    }
    key->deleted = false;
    key->uid = find_user(work.policy, user)->uid;
    if (!has_default || work.step.record.default_wckey == name)
        make_default_wckey(work.policy, *key);
    work.outcome.wckeys.push_back(*key);
    work.note(
        "Add WCKeys", fmt::format("id_wckey={}", key->id),
        fmt::format("user='{}', wckey_name='{}', is_def={}", user, name, key->is_default ? 1 : 0),
        cluster);
}

}  // namespace

void add_wckeys(PolicyWork& work, const std::string& user,
                const std::vector<std::string>& clusters) {
    std::vector<std::string> keys = work.step.wckeys;
    const std::optional<std::string>& chosen = work.step.record.default_wckey;
    if (chosen && !has_name(keys, *chosen)) keys.push_back(*chosen);
    for (const std::string& key : keys) {
        for (const std::string& cluster : clusters) add_wckey(work, key, user, cluster);
    }
}

Result<void> set_default_wckey(PolicyWork& work, const std::vector<std::string>& users) {
    const std::string& name = *work.step.record.default_wckey;
    std::string strangers;
    for (const std::string& user : users) {
        for (const ClusterRecord& cluster : work.policy.clusters) {
            if (cluster.deleted || !selects(work.step.clusters, cluster.name)) continue;
            Wckey* key = find_wckey(work.policy, name, user, cluster.name);
            if (!key || key->deleted) {
                strangers += fmt::format("\n  U = {} C = {}", user, cluster.name);
                continue;
            }
            make_default_wckey(work.policy, *key);
            work.note("Modify WCKeys", fmt::format("(id_wckey={})", key->id), "is_def=1",
                      cluster.name);
        }
    }
    if (strangers.empty()) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format(" Can't modify because these users aren't associated with new default "
                             "wckey '{}'...{}",
                             name, strangers)};
}

}  // namespace sluice
