// core/node/update_partition.cc: scontrol create, update and delete PartitionName=. The changes
// last until slurm.conf is read again.
#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/partition_fields.h"

namespace sluice {

namespace {

using P = PartitionConfig;

Result<P> changed_config(const Cluster& cluster, const P& before, const UpdatePartition& event) {
    P changed = before;
    event.change.apply_to(changed);
    const bool is_new_alternate =
        !changed.alternate.empty() && changed.alternate != before.alternate;
    if (is_new_alternate && !cluster.find_partition(changed.alternate)) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Alternate={}: a partition is needed", changed.alternate)};
    }
    if (!changed.qos.empty() && !find_qos(cluster, changed.qos)) {
        return Error{ErrorCode::InvalidQos, fmt::format("QOS={}", changed.qos)};
    }
    if (changed.nodes == before.nodes) return changed;
    std::vector<NodeIndex> nodes = TRY(nodes_named(cluster, changed.nodes));
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    changed.nodes.clear();
    for (NodeIndex node : nodes) changed.nodes.push_back(cluster.node(node).config.name);
    return changed;
}

// Jobs of these users stay, and wait until AllowGroups includes their owner again.
void bar_users(Cluster& cluster, Partition& partition, const UpdatePartition& event) {
    if (event.change.members.has(&P::allow_groups)) partition.barred_users.clear();
    for (const Caller& owner : event.job_owners) {
        if (group_allowed(cluster, partition.config, owner))
            partition.barred_users.erase(owner.user);
        else
            partition.barred_users.insert(owner.user);
    }
}

void put_config(Cluster& cluster, P config, const UpdatePartition& event) {
    std::vector<Partition>& partitions = cluster.edit_partitions();
    auto named = [&](const Partition& each) { return each.config.name == config.name; };
    auto place = std::find_if(partitions.begin(), partitions.end(), named);
    if (place == partitions.end())
        place = partitions.insert(place, Partition{.config = {}, .nodes = {}});
    for (Partition& each : partitions)
        each.config.is_default = each.config.is_default && !config.is_default;
    place->config = std::move(config);
    bar_users(cluster, *place, event);
    const bool by_user =
        place->config.exclusive == PartitionExclusive::User || !place->barred_users.empty();
    if (by_user) cluster.now_depends_on_users();
}

// Compat: PartitionName=DEFAULT of slurm.conf does not apply to created partitions.
Result<void> create(Cluster& cluster, const UpdatePartition& event) {
    const std::string& name = event.partition;
    if (name.empty() || name == "DEFAULT" || name.find_first_of(",= \t\n") != std::string::npos) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("PartitionName={}: one name other than DEFAULT is needed", name)};
    }
    if (cluster.find_partition(name))
        return Error{ErrorCode::InvalidPartition, fmt::format("{} exists", name)};
    P fresh;
    fresh.name = name;
    fresh.min_nodes = 1;
    put_config(cluster, TRY(changed_config(cluster, fresh, event)), event);
    return {};
}

Result<void> update(Cluster& cluster, const UpdatePartition& event) {
    const Partition* partition = cluster.find_partition(event.partition);
    if (!partition) return Error{ErrorCode::InvalidPartition, event.partition};
    put_config(cluster, TRY(changed_config(cluster, partition->config, event)), event);
    return {};
}

bool is_in_use(const Cluster& cluster, const std::string& name) {
    bool found = false;
    cluster.jobs().for_each([&](const Job& job) {
        if (found || is_over(job)) return;
        const std::vector<std::string> names = partitions_of(job);
        found = std::find(names.begin(), names.end(), name) != names.end();
    });
    return found || std::any_of(cluster.reservations().begin(), cluster.reservations().end(),
                                [&](const Reservation& each) { return each.partition == name; });
}

Result<void> remove(Cluster& cluster, const std::string& name) {
    if (!cluster.find_partition(name)) return Error{ErrorCode::InvalidPartition, {}};
    if (is_in_use(cluster, name)) return Error{ErrorCode::PartitionInUse, {}};
    std::erase_if(cluster.edit_partitions(),
                  [&](const Partition& each) { return each.config.name == name; });
    return {};
}

Result<void> change(Cluster& cluster, const UpdatePartition& event) {
    switch (event.verb) {
        case UpdatePartition::Verb::Create:
            return create(cluster, event);
        case UpdatePartition::Verb::Delete:
            return remove(cluster, event.partition);
        case UpdatePartition::Verb::Update:
            break;
    }
    return update(cluster, event);
}

// Reservations with PART_NODES follow the nodes of their partition.
void follow_partition(Cluster& cluster, const std::string& name) {
    for (Reservation each : std::vector(cluster.reservations())) {
        if (each.partition != name || !each.has(kResvPartNodes)) continue;
        resolve_nodes(cluster, each);
        cluster.put_reservation(std::move(each));
    }
}

}  // namespace

void on_update_partition(Cluster& cluster, Time now, const UpdatePartition& event,
                         Effects& effects) {
    auto answer = [&](Answer what) {
        if (event.request.value != 0) effects.push_back(Reply{event.request, std::move(what)});
    };
    auto allowed = permit(role_in(cluster, event.caller), Action::UpdatePartition);
    if (!allowed) return answer(allowed.error());
    Result<void> changed = change(cluster, event);
    if (!changed) return answer(changed.error());
    cluster.nodes_were_reweighted();  // also computes needs again
    cluster.refresh_layout();         // reservations and limits follow the nodes
    follow_partition(cluster, event.partition);
    count_anew(cluster);
    reprioritize_all(cluster, now, true);
    unpark_all(cluster, now);
    cluster.want_pass();
    answer(Done{});
}

}  // namespace sluice
