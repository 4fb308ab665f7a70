// policy/associations.cc
//
// The tree of associations: adding, limiting and deleting nodes. See work.h.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

// "(id_assoc=4 || id_assoc=7)", as the list of transactions shows it.
std::string where_of(const std::vector<std::uint32_t>& ids) {
    std::vector<std::string> parts;
    for (std::uint32_t id : ids) parts.push_back(fmt::format("id_assoc={}", id));
    return fmt::format("({})", join(parts, " || "));
}

std::string info_of(const AssociationChange& limits) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : settings_of(limits))
        parts.push_back(fmt::format("{}='{}'", name, value));
    return join(parts, ", ");
}

Association& with_id(Policy& policy, std::uint32_t id) {
    return *std::find_if(policy.associations.begin(), policy.associations.end(),
                         [&](const Association& each) { return each.id == id; });
}

// A deleted association keeps its id, so that its history belongs to it again.
Association* find_deleted(Policy& policy, const AssociationKeys& keys) {
    for (Association& each : policy.associations) {
        if (each.deleted && each.cluster == keys.cluster && each.account == keys.account &&
            each.user == keys.user && each.partition == keys.partition)
            return &each;
    }
    return nullptr;
}

std::optional<std::vector<std::string>> qos_above(const Policy& policy, const Association& each) {
    const Association* parent = find_association(policy, each.parent);
    return parent ? inherited(policy, *parent).qos : std::nullopt;
}

Result<void> check_jobs(const PolicyWork& work, const std::set<std::uint32_t>& ids) {
    std::string lines;
    for (const LiveJob& job : work.facts.jobs) {
        if (!ids.contains(job.association)) continue;
        const Association* each = find_association(std::as_const(work.policy), job.association);
        lines += fmt::format("\n  JobID = {:<10} C = {:<10} A = {:<10} {}", job.id, each->cluster,
                             each->account, each->user.empty() ? "" : "U = " + each->user);
        if (!each->partition.empty()) lines += " P = " + each->partition;
    }
    if (lines.empty()) return {};
    return Error{ErrorCode::BadArgument,
                 " Error with request: Job(s) active, cancel job(s) before remove" + lines};
}

// A user that keeps other associations on the cluster keeps its default account.
Result<void> check_defaults_stay(const Policy& policy, const std::set<std::uint32_t>& ids) {
    std::string lines;
    for (const Association& each : policy.associations) {
        if (!each.is_default || each.deleted || !ids.contains(each.id)) continue;
        const bool has_others = std::any_of(
            policy.associations.begin(), policy.associations.end(), [&](const Association& other) {
                return !other.deleted && other.user == each.user && other.cluster == each.cluster &&
                       !ids.contains(other.id);
            });
        if (has_others) lines += "\n  " + print_association({each, {}});
    }
    if (lines.empty()) return {};
    return Error{ErrorCode::BadArgument,
                 " Error with request: You can not remove the default account of a user" + lines};
}

}  // namespace

bool is_below(const Policy& policy, const Association& association, std::uint32_t ancestor) {
    for (const Association* each = &association; each;
         each = find_association(policy, each->parent)) {
        if (each->id == ancestor) return true;
    }
    return false;
}

std::string account_above(const Policy& policy, const Association& association) {
    const Association* parent = find_association(policy, association.parent);
    return parent && association.user.empty() ? parent->account : "";
}

std::string print_association(const ChangedAssociation& changed) {
    const Association& each = changed.record;
    if (each.user.empty()) {
        const std::string above =
            changed.parent_account.empty() ? "" : " of " + changed.parent_account;
        return fmt::format("C = {:<10} A = {}{}", each.cluster, each.account, above);
    }
    return fmt::format("C = {:<10} A = {:<20} U = {:<9}{}", each.cluster, each.account, each.user,
                       each.partition.empty() ? "" : " P = " + each.partition);
}

Association* add_association(PolicyWork& work, const AssociationKeys& keys, std::uint32_t parent) {
    if (find_association(work.policy, keys)) return nullptr;
    Association* revived = find_deleted(work.policy, keys);
    Association fresh{.id = revived ? revived->id : work.policy.next_id++,
                      .parent = parent,
                      .cluster = keys.cluster,
                      .account = keys.account,
                      .user = keys.user,
                      .partition = keys.partition};
    fresh.created = fresh.modified = work.now;
    if (const PolicyUser* user = find_user(work.policy, keys.user)) fresh.uid = user->uid;
    work.step.limits.apply_to(fresh, qos_above(work.policy, fresh));
    if (!revived) revived = &work.policy.associations.emplace_back();
    *revived = std::move(fresh);
    work.outcome.associations.push_back({*revived, account_above(work.policy, *revived)});
    const std::string place =
        keys.user.empty() ? fmt::format("parent_acct='{}'", account_above(work.policy, *revived))
                          : fmt::format("user='{}', `partition`='{}'", keys.user, keys.partition);
    const std::string limits = info_of(work.step.limits);
    work.note(
        "Add Associations", fmt::format("id_assoc={}", revived->id),
        fmt::format("acct='{}', {}{}{}", keys.account, place, limits.empty() ? "" : ", ", limits),
        keys.cluster);
    return revived;
}

Result<void> limit_associations(PolicyWork& work, const std::vector<std::uint32_t>& ids) {
    if (ids.empty()) return {};
    TRY(check_limits(work));
    std::vector<std::uint32_t> affected = ids;
    for (std::uint32_t id : ids) {
        Association& each = with_id(work.policy, id);
        work.step.limits.apply_to(each, qos_above(work.policy, each));
        each.modified = work.now;
        work.outcome.associations.push_back({each, account_above(work.policy, each)});
        if (!each.user.empty()) continue;
        for (const Association& other : work.policy.associations) {
            if (other.id != id && !other.deleted && is_below(work.policy, other, id))
                affected.push_back(other.id);
        }
    }
    TRY(check_default_qos(work.policy, affected));
    work.note("Modify Associations", where_of(ids), info_of(work.step.limits),
              with_id(work.policy, ids.front()).cluster);
    return {};
}

Result<void> delete_associations(PolicyWork& work, const std::vector<std::uint32_t>& ids) {
    if (ids.empty()) return {};
    const std::set<std::uint32_t> chosen(ids.begin(), ids.end());
    TRY(check_jobs(work, chosen));
    TRY(check_defaults_stay(work.policy, chosen));
    for (Association& each : work.policy.associations) {
        if (!chosen.contains(each.id) || each.deleted) continue;
        work.outcome.associations.push_back({each, account_above(work.policy, each)});
        each.deleted = true;
        each.is_default = false;
        each.modified = work.now;
    }
    work.note("Remove Associations", where_of(ids), "", with_id(work.policy, ids.front()).cluster);
    return {};
}

Result<void> check_default_qos(const Policy& policy, const std::vector<std::uint32_t>& ids) {
    std::string lines;
    for (std::uint32_t id : ids) {
        const Association* each = find_association(policy, id);
        if (!each || each->default_qos.empty()) continue;
        const std::optional<std::vector<std::string>> allowed = inherited(policy, *each).qos;
        if (!allowed || has_name(*allowed, each->default_qos)) continue;
        lines += fmt::format("\n  DefQOS = {:<10} {}", each->default_qos,
                             print_association({*each, account_above(policy, *each)}));
    }
    if (lines.empty()) return {};
    return Error{ErrorCode::BadArgument,
                 " These associations don't have access to their default qos.\n"
                 " Please give them access before they the default can be set to this." +
                     lines};
}

void order_associations(Policy& policy) {
    std::multimap<std::uint32_t, std::size_t> children;
    for (std::size_t i = 0; i < policy.associations.size(); ++i)
        children.emplace(policy.associations[i].parent, i);
    std::vector<std::size_t> order;
    auto append = [&](std::uint32_t parent) {
        const auto [first, last] = children.equal_range(parent);
        for (auto each = first; each != last; ++each) order.push_back(each->second);
    };
    append(0);
    for (std::size_t next = 0; next < order.size(); ++next)
        append(policy.associations[order[next]].id);
    std::vector<Association> ordered;
    ordered.reserve(order.size());
    for (std::size_t i : order) ordered.push_back(std::move(policy.associations[i]));
    policy.associations = std::move(ordered);
}

void make_default(Policy& policy, Association& chosen) {
    for (Association& each : policy.associations) {
        if (each.user == chosen.user && each.cluster == chosen.cluster) each.is_default = false;
    }
    chosen.is_default = true;
}

}  // namespace sluice
