// core/node/state.cc: the state of a node, derived from its history.
#include "core/cluster.h"
#include "core/node/verbs.h"
#include "core/place/use.h"

namespace sluice {

StoredNode stored_form(const Node& node) {
    return {.name = node.config.name,
            .admin_flags = node.admin_flags,
            .down = node.down,
            .reason = node.reason,
            .reason_time = node.reason_time,
            .reason_user = node.reason_user,
            .comment = node.comment,
            .weight = node.weight_by_hand,
            .features = node.features_by_hand,
            .gres = node.gres_by_hand,
            .reboot = node.reboot};
}

NodeBase node_base(const Node& node) {
    if (node.config.state.find("FUTURE") != std::string::npos && !node.facts)
        return NodeBase::Future;
    if (node.down || (node.reboot && node.reboot->issued)) return NodeBase::Down;
    if (!node.facts && node.jobs.empty()) return NodeBase::Unknown;
    if (node.cpus_used == 0 && node.jobs.empty()) return NodeBase::Idle;
    bool full = node.cpus_used >= usable_cpus(node) || node.exclusive;
    return full ? NodeBase::Allocated : NodeBase::Mixed;
}

std::uint32_t node_flags(const Node& node) {
    std::uint32_t flags = node.admin_flags;
    if (!node.connected) flags |= kNodeNoRespond;
    if (clock_differs(node)) flags |= kNodeDrain;
    if (node.completing > 0) flags |= kNodeCompleting;
    if (node.reboot) flags |= node.reboot->issued ? kNodeRebootIssued : kNodeReboot;
    return flags;
}

bool may_take_jobs(const Node& node) {
    if (node.reboot && node.reboot->issued) return false;
    return node.facts && !clock_differs(node) && node.connected && !node.down && !node.removed &&
           node.orphans.empty() && (node.admin_flags & (kNodeDrain | kNodeFail)) == 0;
}

void set_reason(Node& node, std::string reason, UserId user, Time now) {
    node.reason = std::move(reason);
    node.reason_time = now;
    node.reason_user = user;
}

// Compat: a node that is down keeps its reason.
void undrain(Node& node) {
    node.admin_flags &= ~kNodeDrain;
    if (node.down || (node.admin_flags & kNodeFail)) return;
    node.reason.clear();
    node.reason_time.reset();
}

}  // namespace sluice
