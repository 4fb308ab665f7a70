// core/node/update.cc: scontrol update NodeName=.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/reservations.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/place/pools.h"
#include "core/place/use.h"
#include "core/schedule/queue.h"
#include "model/devices.h"
#include "model/errors.h"

namespace sluice {

void resume_node(Node& node) {
    node.admin_flags &= ~(kNodeDrain | kNodeFail);
    node.down = false;
    node.reason.clear();
    node.reason_time.reset();
    node.reboot.reset();
    node.resume_after.reset();
    node.power.drained = false;
    node.power.wanted_down = false;
}

namespace {

// Not every state can follow every other.
Result<void> check_move(const Node& node, std::optional<NodeCommand> state) {
    bool rebooting = node.reboot && node.reboot->issued;
    if (state == NodeCommand::CancelReboot && (!node.reboot || rebooting)) {
        return Error{ErrorCode::InvalidNodeState, {}};
    }
    if (state == NodeCommand::Idle && rebooting) return Error{ErrorCode::InvalidNodeState, {}};
    const bool takes_jobs =
        state == NodeCommand::Resume || state == NodeCommand::Idle || state == NodeCommand::Undrain;
    if (takes_jobs && node.connected && node.facts && !node.facts->problem.empty()) {
        return Error{ErrorCode::InvalidNodeState,
                     fmt::format("{}: {}", node.config.name, node.facts->problem)};
    }
    return {};
}

void apply_change(Node& node, Time now, const Caller& caller, const NodeChange& change) {
    if (change.state == NodeCommand::Resume || change.state == NodeCommand::Idle) resume_node(node);
    if (change.state == NodeCommand::Undrain) undrain(node);
    if (change.state == NodeCommand::Drain) node.admin_flags |= kNodeDrain;
    if (change.state == NodeCommand::Fail) node.admin_flags |= kNodeFail;
    if (change.state == NodeCommand::Down) node.down = true;
    if (change.reason && !change.gres_drain) {  // else it is that of the devices
        node.reason = *change.reason;
        node.reason_time = now;
        node.reason_user = caller.user;
    }
    if (change.comment) node.comment = *change.comment;
    if (change.weight) node.weight_by_hand = change.weight;
    if (change.features) node.features_by_hand = change.features;
    if (change.gres) node.gres_by_hand = change.gres;
    if (change.address) node.address_by_hand = *change.address;
    if (change.hostname) node.hostname_by_hand = *change.hostname;
    keep_changes_by_hand(node);
}

const NodeConfig* written_config(const Cluster& cluster, const Node& node) {
    const std::vector<NodeConfig>& nodes = cluster.settings().nodes;
    auto is_it = [&](const NodeConfig& each) { return each.name == node.config.name; };
    if (node.index.value < nodes.size() && is_it(nodes[node.index.value]))
        return &nodes[node.index.value];
    auto found = std::find_if(nodes.begin(), nodes.end(), is_it);
    return found == nodes.end() ? nullptr : &*found;
}

// Compat: things that are only counted may have any count; devices are all there or none. What a
// job holds cannot be taken away.
Result<void> check_gres_change(const Cluster& cluster, const Node& node,
                               const std::optional<std::string>& text) {
    if (!text) return {};
    std::vector<GresCount> wanted;
    if (!text->empty()) wanted = TRY(parse_gres(*text));
    const std::vector<std::string>& types = cluster.settings().gres_types;
    const NodeConfig* written = written_config(cluster, node);
    auto count_in = [](const std::vector<GresCount>& list, const std::string& name,
                       const std::string& type) {
        std::uint64_t count = 0;
        for (const GresCount& each : list)
            count += each.name == name && each.type == type ? each.count : 0;
        return count;
    };
    for (const GresCount& gres : wanted) {
        if (std::find(types.begin(), types.end(), gres.name) == types.end())
            return Error{ErrorCode::InvalidGres, fmt::format("{} is not in GresTypes", gres.name)};
        const bool is_counted = std::none_of(node.gres.begin(), node.gres.end(),
                                             [&](const GresPool& pool) {
                                                 return pool.name == gres.name &&
                                                        (pool.has_devices || !pool.parts.empty());
                                             }) &&
                                gres.name != "gpu" && !is_part_of_gpu(gres.name);
        const std::uint64_t promised = written ? count_in(written->gres, gres.name, gres.type) : 0;
        if (!is_counted && gres.count != 0 && gres.count != promised)
            return Error{
                ErrorCode::InvalidGres,
                fmt::format("Gres={}: devices are all there ({}) or none", *text, promised)};
    }
    for (const GresPool& pool : node.gres) {
        const std::string& type = pool.parts.empty() ? pool.type : std::string{};
        if (pool.used_count > count_in(wanted, pool.name, type))
            return Error{ErrorCode::NodesBusy, fmt::format("Gres={}: jobs on node {} use {}", *text,
                                                           node.config.name, pool.name)};
    }
    return {};
}

void change_node(Cluster& cluster, Time now, const Caller& caller, NodeIndex index,
                 const NodeChange& change, Effects& effects) {
    if (change.state == NodeCommand::CancelReboot) cancel_reboot(cluster, index);
    apply_change(*cluster.edit_node(index), now, caller, change);
    if (change.gres && configure_gres(*cluster.edit_node(index), cluster.settings()))
        cluster.layout_has_changed();
    if (!cluster.node(index).reboot) cluster.want_no_reboot(index);
    if (change.state == NodeCommand::Resume)
        watch_node(cluster, index);  // it had no timer during the reboot
    if (change.resume_after) set_resume_after(cluster, now, index, *change.resume_after);
    if (change.state >= NodeCommand::PowerDown)
        command_power(cluster, now, index, *change.state, effects);
    if (change.gres_drain || change.gres_resume) change_gpus(cluster, now, index, change);
    cluster.mark_stored(index);
    if (change.state == NodeCommand::Down) fail_jobs_on(cluster, now, index, effects);
    look_after_reservations(cluster, now);
}

}  // namespace

Result<std::vector<NodeIndex>> nodes_named(const Cluster& cluster,
                                           const std::vector<std::string>& names) {
    std::vector<NodeIndex> meant;
    if (names.size() == 1 && equals_ignoring_case(names.front(), "ALL")) {
        for (std::uint32_t i = 0; i < cluster.node_count(); ++i) meant.push_back(NodeIndex{i});
        return meant;
    }
    for (const std::string& name : names) {
        auto index = cluster.find_node(name);
        if (!index) return Error{ErrorCode::InvalidNodeName, name};
        meant.push_back(*index);
    }
    return meant;
}

void on_update_node(Cluster& cluster, Time now, const UpdateNode& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    auto allowed = permit(role_in(cluster, event.caller), Action::UpdateNode);
    if (!allowed) return answer(allowed.error());
    Result<std::vector<NodeIndex>> meant = nodes_named(cluster, event.nodes);
    if (!meant) return answer(meant.error());
    if (event.change.state) {
        auto possible = check_power_command(cluster, *event.change.state);
        if (!possible) return answer(possible.error());
    }
    for (NodeIndex index : *meant) {
        if (auto legal = check_move(cluster.node(index), event.change.state); !legal)
            return answer(legal.error());
        if (auto can = check_gres_change(cluster, cluster.node(index), event.change.gres); !can)
            return answer(can.error());
        if (auto can = check_gpu_change(cluster.node(index), event.change); !can)
            return answer(can.error());
    }
    for (NodeIndex index : *meant)
        change_node(cluster, now, event.caller, index, event.change, effects);
    if (event.change.weight || event.change.features) cluster.nodes_were_reweighted();
    unpark_all(cluster, now);
    cluster.want_pass();
    answer(Done{});
}

}  // namespace sluice
