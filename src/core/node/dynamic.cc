// core/node/dynamic.cc
//
// Dynamic nodes are in no slurm.conf: slurmd -Z brings them when it registers, scontrol create
// makes them before that. Their definition is part of their record. A node that was deleted keeps
// its index, and a later one of its name gets it again.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/limits/reservations.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

namespace {

std::size_t count_nodes(const Cluster& cluster) {
    std::size_t count = 0;
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value)
        count += cluster.node(index).removed ? 0 : 1;
    return count;
}

Result<void> check_room(const Cluster& cluster, std::size_t more) {
    const std::uint32_t most = cluster.settings().max_node_count;
    if (most == 0)
        return Error{ErrorCode::NotSupported, "dynamic nodes need MaxNodeCount in slurm.conf"};
    const std::size_t count = count_nodes(cluster);
    if (count + more <= most) return {};
    return Error{
        ErrorCode::NotSupported,
        fmt::format("{} nodes and {} more would exceed MaxNodeCount={}", count, more, most)};
}

const Node* find_present(const Cluster& cluster, const std::string& name) {
    const auto index = cluster.find_node(name);
    return !index || cluster.node(*index).removed ? nullptr : &cluster.node(*index);
}

Result<void> check_new(const Cluster& cluster, const std::vector<NodeConfig>& nodes) {
    std::set<std::string> names;
    for (const NodeConfig& node : nodes) {
        if (find_present(cluster, node.name) || !names.insert(node.name).second)
            return Error{ErrorCode::InvalidNodeName, fmt::format("{} exists already", node.name)};
        for (const NodeSetConfig& set : cluster.settings().node_sets) {
            if (set.name == node.name)
                return Error{ErrorCode::InvalidNodeName,
                             fmt::format("{} is the name of a NodeSet", node.name)};
        }
    }
    return {};
}

// Reservations that name nodes of partitions or ALL follow.
void nodes_have_changed(Cluster& cluster, Time now) {
    cluster.refresh_layout();
    count_anew(cluster);
    look_after_reservations(cluster, now);
    unpark_all(cluster, now);
    cluster.want_pass();
}

Result<void> check_deletable(const Cluster& cluster, NodeIndex index) {
    const Node& node = cluster.node(index);
    const std::string& name = node.config.name;
    if (node.removed) return Error{ErrorCode::InvalidNodeName, name};
    if (node.config.origin == NodeOrigin::File)
        return Error{ErrorCode::NotSupported,
                     fmt::format("{} is in slurm.conf; only dynamic nodes can be deleted", name)};
    if (!node.jobs.empty() || !node.orphans.empty())
        return Error{ErrorCode::NodesBusy, fmt::format("{} has jobs", name)};
    for (const Reservation& each : cluster.reservations()) {
        if (each.has_node(index))
            return Error{ErrorCode::NodesBusy,
                         fmt::format("{} is in reservation {}", name, each.name)};
    }
    return {};
}

}  // namespace

void on_create_nodes(Cluster& cluster, Time now, const CreateNodes& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    auto allowed = permit(role_in(cluster, event.caller), Action::UpdateNode);
    if (!allowed) return answer(allowed.error());
    if (auto is_new = check_new(cluster, event.nodes); !is_new) return answer(is_new.error());
    auto fits = check_room(cluster, event.nodes.size());
    if (!fits) return answer(fits.error());
    for (const NodeConfig& node : event.nodes) cluster.add_dynamic_node(node, now);
    nodes_have_changed(cluster, now);
    answer(Done{});
}

void on_delete_nodes(Cluster& cluster, Time now, const DeleteNodes& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    auto allowed = permit(role_in(cluster, event.caller), Action::UpdateNode);
    if (!allowed) return answer(allowed.error());
    Result<std::vector<NodeIndex>> nodes = nodes_named(cluster, event.nodes);
    if (!nodes) return answer(nodes.error());
    for (NodeIndex index : *nodes) {
        if (auto can = check_deletable(cluster, index); !can) return answer(can.error());
    }
    for (NodeIndex index : *nodes) {
        cluster.remove_dynamic_node(index);
        node_was_removed(cluster, now, index, effects);
    }
    nodes_have_changed(cluster, now);
    answer(Done{});
}

// A node of that name may have been made with scontrol create, or have registered before.
Result<void> take_dynamic_node(Cluster& cluster, Time now, const NodeRegistered& event) {
    if (const Node* known = find_present(cluster, event.node)) {
        if (known->config.origin == NodeOrigin::File)
            return Error{ErrorCode::InvalidNodeName,
                         fmt::format("{} is in slurm.conf", event.node)};
        const bool is_other =
            known->connected && known->facts && known->facts->hostname != event.facts.hostname;
        if (is_other)
            return Error{ErrorCode::InvalidNodeName,
                         fmt::format("{} is another host, {}", event.node, known->facts->hostname)};
        return {};
    }
    TRY(check_new(cluster, {*event.dynamic}));
    TRY(check_room(cluster, 1));
    cluster.add_dynamic_node(*event.dynamic, now);
    nodes_have_changed(cluster, now);
    return {};
}

}  // namespace sluice
