// policy/clusters.cc
//
// Clusters, each with the root of its tree of associations. See work.h.
#include <fmt/format.h>

#include <algorithm>

#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

void add_root(PolicyWork& work, const std::string& cluster) {
    const std::string root(kRootAccount);
    Association* top = add_association(work, {cluster, root}, 0);
    if (!top) return;
    if (!top->qos) top->qos = {std::string(kDefaultQos)};
    const std::uint32_t id = top->id;
    Association user{.id = work.policy.next_id, .parent = id, .cluster = cluster, .account = root};
    for (const Association& each : work.policy.associations) {
        const bool is_it = each.cluster == cluster && each.account == root &&
                           each.user == kRootUser && each.partition.empty();
        if (is_it) user.id = each.id;
    }
    if (user.id == work.policy.next_id) ++work.policy.next_id;
    std::erase_if(work.policy.associations,
                  [&](const Association& each) { return each.id == user.id; });
    user.user = kRootUser;
    user.uid = UserId{0};
    user.is_default = true;
    user.created = user.modified = work.now;
    work.policy.associations.push_back(std::move(user));
}

std::vector<std::string> matching_clusters(const PolicyWork& work) {
    std::vector<std::string> names;
    for (const ClusterRecord& each : work.policy.clusters) {
        if (!each.deleted && selects(work.step.names, each.name)) names.push_back(each.name);
    }
    return names;
}

}  // namespace

Result<void> add_clusters(PolicyWork& work) {
    const PolicyStep& step = work.step;
    if (step.names.empty()) return Error{ErrorCode::BadArgument, " Need name of cluster to add."};
    TRY(permit(work, PolicyRight::Clusters));
    TRY(check_limits(work));
    for (const std::string& name : step.names) {
        TRY(check_name("a cluster", name));
        if (find_cluster(work.policy, name)) {
            return Error{ErrorCode::BadArgument,
                         fmt::format(" This cluster {} already exists.  Not adding.", name)};
        }
        ClusterRecord fresh{.name = name, .created = work.now, .modified = work.now};
        fresh.classification = step.record.classification.value_or("");
        auto old = std::find_if(work.policy.clusters.begin(), work.policy.clusters.end(),
                                [&](const ClusterRecord& each) { return each.name == name; });
        fresh.id = old == work.policy.clusters.end() ? work.policy.next_id++ : old->id;
        if (old == work.policy.clusters.end())
            work.policy.clusters.push_back(fresh);
        else
            *old = fresh;
        add_root(work, name);
        work.outcome.names.push_back(name);
        work.note("Add Clusters", name, fmt::format("classification='{}'", fresh.classification),
                  name);
    }
    return {};
}

Result<void> modify_clusters(PolicyWork& work) {
    const std::vector<std::string> names = matching_clusters(work);
    if (names.empty()) return {};
    TRY(permit(work, PolicyRight::Clusters));
    std::vector<std::uint32_t> roots;
    for (const std::string& name : names) {
        ClusterRecord& cluster = *find_cluster(work.policy, name);
        if (work.step.record.classification) {
            cluster.classification = *work.step.record.classification;
            cluster.modified = work.now;
            work.note("Modify Clusters", fmt::format("name='{}'", name),
                      fmt::format("classification='{}'", cluster.classification), name);
        }
        work.outcome.names.push_back(name);
        roots.push_back(
            find_association(work.policy, AssociationKeys{name, std::string(kRootAccount)})->id);
    }
    if (work.step.limits.is_empty()) return {};
    return limit_associations(work, roots);
}

Result<void> delete_clusters(PolicyWork& work) {
    const std::vector<std::string> names = matching_clusters(work);
    if (names.empty()) return {};
    TRY(permit(work, PolicyRight::Clusters));
    const auto left = std::count_if(
        work.policy.clusters.begin(), work.policy.clusters.end(),
        [&](const ClusterRecord& each) { return !each.deleted && !has_name(names, each.name); });
    if (left == 0)
        return Error{ErrorCode::BadArgument, " You are not allowed to remove the last cluster."};
    std::vector<std::uint32_t> ids;
    for (const Association& each : work.policy.associations) {
        if (!each.deleted && has_name(names, each.cluster)) ids.push_back(each.id);
    }
    TRY(delete_associations(work, ids));
    for (Wckey& wckey : work.policy.wckeys) {
        if (!has_name(names, wckey.cluster)) continue;
        wckey.deleted = true;
        wckey.is_default = false;
    }
    for (SharedLicense& license : work.policy.licenses) {
        std::erase_if(license.shares, [&](const SharedLicense::Share& share) {
            return has_name(names, share.cluster);
        });
    }
    for (const std::string& name : names) {
        find_cluster(work.policy, name)->deleted = true;
        work.outcome.names.push_back(name);
        work.note("Remove Clusters", fmt::format("name='{}'", name), "", name);
    }
    return {};
}

}  // namespace sluice
