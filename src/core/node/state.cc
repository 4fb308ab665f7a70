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
            .reboot = node.reboot,
            .power = node.power,
            .resume_after = node.resume_after,
            .address = node.address_by_hand,
            .hostname = node.hostname_by_hand,
            .dynamic = is_dynamic(node) ? std::optional(node.config) : std::nullopt,
            .devices = is_dynamic(node) ? node.devices : std::vector<GresDevices>{},
            .drained_gpus = node.drained_gpus};
}

const std::string& address_of(const Node& node) {
    if (!node.address_by_hand.empty()) return node.address_by_hand;
    return node.registered_address.empty() ? node.config.address : node.registered_address;
}

const std::string& hostname_of(const Node& node) {
    return node.hostname_by_hand.empty() ? node.config.hostname : node.hostname_by_hand;
}

bool is_cloud(const Node& node) {
    return node.config.state.find("CLOUD") != std::string::npos;
}

bool is_dynamic(const Node& node) {
    return node.config.origin != NodeOrigin::File && !node.removed;
}

std::uint64_t preference_of(const Node& node) {
    return std::uint64_t{node.config.weight} * 2 + (node.power.state == PowerState::Up ? 0 : 1);
}

NodeBase node_base(const Node& node) {
    if (node.config.state.find("FUTURE") != std::string::npos && !node.facts)
        return NodeBase::Future;
    if (node.down || (node.reboot && node.reboot->issued)) return NodeBase::Down;
    const bool is_on = node.power.state == PowerState::Up;
    if (is_on && !node.facts && node.jobs.empty()) return NodeBase::Unknown;
    if (node.cpus_used == 0 && node.jobs.empty()) return NodeBase::Idle;
    bool full = node.cpus_used >= usable_cpus(node) || node.exclusive;
    return full ? NodeBase::Allocated : NodeBase::Mixed;
}

std::uint32_t node_flags(const Node& node) {
    std::uint32_t flags = node.admin_flags;
    const Power& power = node.power;
    const bool is_off = power.state == PowerState::Down || power.state == PowerState::PoweringDown;
    if (!node.connected && !is_off) flags |= kNodeNoRespond;
    if (power.state == PowerState::Down) flags |= kNodePoweredDown;
    if (power.state == PowerState::PoweringDown) flags |= kNodePoweringDown;
    if (power.state == PowerState::PoweringUp) flags |= kNodePoweringUp;
    if (power.wanted_down) flags |= kNodePowerDown;
    if (power.wanted_up) flags |= kNodePowerUp;
    if (power.drained) flags |= kNodePowerDrain;
    if (is_cloud(node)) flags |= kNodeCloud;
    if (node.config.origin == NodeOrigin::Dynamic) flags |= kNodeDynamic;
    if (node.config.origin == NodeOrigin::Future) flags |= kNodeDynamicFuture;
    if (clock_differs(node)) flags |= kNodeDrain;
    if (node.completing > 0) flags |= kNodeCompleting;
    if (node.reboot) flags |= node.reboot->issued ? kNodeRebootIssued : kNodeReboot;
    return flags;
}

bool may_take_jobs(const Node& node) {
    if (node.reboot && node.reboot->issued) return false;
    if (node.power.state == PowerState::PoweringDown) return false;
    if (node.power.state != PowerState::Up) {  // it is switched on for the job
        return !node.down && !node.removed && !node.power.wanted_down &&
               (node.admin_flags & (kNodeDrain | kNodeFail)) == 0;
    }
    if (node.power.wanted_down && node.jobs.empty()) return false;
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
