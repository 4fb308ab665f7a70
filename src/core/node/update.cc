// core/node/update.cc: scontrol update NodeName=.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/reservations.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/place/use.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/validate.h"

namespace sluice {

namespace {

struct NodeChange {
    std::string state, reason, comment;
    std::optional<std::uint32_t> weight;
    std::optional<std::vector<std::string>> features;
    bool has_reason = false, has_comment = false;
};

Error bad_value(const std::string& key, const std::string& value, std::string_view right) {
    return {ErrorCode::BadArgument, fmt::format("{}={}: {}", key, value, right)};
}

constexpr std::string_view kNodeStates[] = {"CANCEL_REBOOT", "DOWN",   "DRAIN",  "FAIL",
                                            "IDLE",          "RESUME", "UNDRAIN"};

Result<NodeChange> node_change(const Changes& changes) {
    NodeChange change;
    for (const auto& [key, value] : changes) {
        if (equals_ignoring_case(key, "State")) {
            for (std::string_view known : kNodeStates) {
                if (equals_ignoring_case(known, value)) change.state = known;
            }
            if (starts_with_ignoring_case(value, "POWER")) {
                return Error{ErrorCode::NotSupported,
                             fmt::format("State={}: nodes are not switched on and off", value)};
            }
            if (change.state.empty()) {
                return bad_value(
                    "State", value,
                    "CANCEL_REBOOT, DOWN, DRAIN, FAIL, IDLE, RESUME or UNDRAIN is needed");
            }
        } else if (equals_ignoring_case(key, "Reason")) {
            change.reason = value;
            change.has_reason = true;
        } else if (equals_ignoring_case(key, "Comment")) {
            change.comment = value;
            change.has_comment = true;
        } else if (equals_ignoring_case(key, "Weight")) {
            auto weight = to_number(value);
            if (!weight || *weight > 0xffffffff)
                return bad_value("Weight", value, "a number up to 4294967295 is needed");
            change.weight = static_cast<std::uint32_t>(*weight);
        } else if (starts_with_ignoring_case(key, "AvailableFeatures") ||
                   equals_ignoring_case(key, "Features")) {
            change.features.emplace();
            for (std::string_view feature : split(value, ',')) {
                if (!feature.empty()) change.features->emplace_back(feature);
            }
        } else {
            return Error{ErrorCode::UnknownField, fmt::format("{}={}", key, value)};
        }
    }
    TRY(validate_text("Reason", change.reason, sizes::kWord));
    TRY(validate_text("Comment", change.comment, sizes::kWord));
    if (change.features) {
        TRY(validate_texts("Features", *change.features, sizes::kWord, sizes::kNameCount));
    }
    bool needs_reason = change.state == "DOWN" || change.state == "DRAIN" || change.state == "FAIL";
    if (needs_reason && change.reason.empty()) {
        return Error{ErrorCode::BadArgument, fmt::format("State={} needs a Reason=", change.state)};
    }
    return change;
}

void resume(Node& node) {
    node.admin_flags &= ~(kNodeDrain | kNodeFail);
    node.down = false;
    node.reason.clear();
    node.reason_time.reset();
    node.reboot.reset();
}

// Not every state can follow every other.
Result<void> check_move(const Node& node, const std::string& state) {
    bool rebooting = node.reboot && node.reboot->issued;
    if (state == "CANCEL_REBOOT" && (!node.reboot || rebooting)) {
        return Error{ErrorCode::InvalidNodeState, {}};
    }
    if (state == "IDLE" && rebooting) return Error{ErrorCode::InvalidNodeState, {}};
    const bool takes_jobs = state == "RESUME" || state == "IDLE" || state == "UNDRAIN";
    if (takes_jobs && node.connected && node.facts && !node.facts->problem.empty()) {
        return Error{ErrorCode::InvalidNodeState,
                     fmt::format("{}: {}", node.config.name, node.facts->problem)};
    }
    return {};
}

void apply_change(Node& node, Time now, const Caller& caller, const NodeChange& change) {
    if (change.state == "RESUME" || change.state == "IDLE") resume(node);
    if (change.state == "UNDRAIN") undrain(node);
    if (change.state == "DRAIN") node.admin_flags |= kNodeDrain;
    if (change.state == "FAIL") node.admin_flags |= kNodeFail;
    if (change.state == "DOWN") node.down = true;
    if (change.has_reason) {
        node.reason = change.reason;
        node.reason_time = now;
        node.reason_user = caller.user;
    }
    if (change.has_comment) node.comment = change.comment;
    if (change.weight) node.weight_by_hand = change.weight;
    if (change.features) node.features_by_hand = change.features;
    keep_changes_by_hand(node);
}

void change_node(Cluster& cluster, Time now, const Caller& caller, NodeIndex index,
                 const NodeChange& change, Effects& effects) {
    if (change.state == "CANCEL_REBOOT") cancel_reboot(cluster, index);
    apply_change(*cluster.edit_node(index), now, caller, change);
    if (!cluster.node(index).reboot) cluster.want_no_reboot(index);
    if (change.state == "RESUME") watch_node(cluster, index);  // it had no timer during the reboot
    cluster.mark_stored(index);
    if (change.state == "DOWN") fail_jobs_on(cluster, now, index, effects);
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
    Result<NodeChange> change = node_change(event.changes);
    if (!change) return answer(change.error());
    Result<std::vector<NodeIndex>> meant = nodes_named(cluster, event.nodes);
    if (!meant) return answer(meant.error());
    for (NodeIndex index : *meant) {
        if (auto legal = check_move(cluster.node(index), change->state); !legal)
            return answer(legal.error());
    }
    for (NodeIndex index : *meant) change_node(cluster, now, event.caller, index, *change, effects);
    if (change->weight || change->features) cluster.nodes_were_reweighted();
    unpark_all(cluster, now);
    cluster.want_pass();
    answer(Done{});
}

}  // namespace sluice
