// sim/faults/fault_network.cc
//
// A connection keeps the order of what is said on it and loses nothing until it breaks; then
// everything on its way is lost, and each end notices in its own time, if at all.
#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

constexpr Seconds kHeartbeat{20};
constexpr double kDuplicate = 0.05;

}  // namespace

Seconds FaultWorld::delay(Dice& dice) const {
    if (dice.chance(0.7)) return Seconds{0};
    return Seconds{calm_ ? 1 : dice.between(1, 5)};
}

void FaultWorld::connect(std::size_t node) {
    if (node_ends_[node]) return;
    Machine& machine = *machines_[node];
    if (!cluster_ || !machine.is_up() || now_ < reachable_from_[node]) {
        later(Seconds{network_of(node).between(1, 5)}, [this, node] { connect(node); });
        return;
    }
    auto wire = std::make_shared<Wire>(Wire{.node = node});
    node_ends_[node] = wire;
    NodeRegistered registration{first_settings_->nodes[node].name, machine.facts(),
                                machine.announce()};
    for (const RunId& run : registration.running) wire->told.insert(key_of(run));
    up(wire, [this, node, wire, registration] {
        controller_ends_[node] = wire;  // an older connection that has not broken yet is replaced
        said_[node] = now_;
        push({registration, {}});
    });
}

void FaultWorld::up(WirePtr wire, std::function<void()> arrive) {
    wire->last_up =
        std::max({wire->last_up, now_ + delay(network_of(wire->node)), wire->held_until});
    later(wire->last_up - now_, [this, wire, arrive = std::move(arrive)] {
        if (!wire->broken && cluster_) arrive();
    });
}

// To a node that is not connected nothing is sent: registration settles what it missed.
void FaultWorld::down(std::size_t node, std::function<void()> arrive) {
    WirePtr wire = controller_ends_[node];
    if (!wire || !wire->welcome) return;
    wire->last_down = std::max({wire->last_down, now_ + delay(network_of(node)), wire->held_until});
    later(wire->last_down - now_, [this, node, wire, arrive = std::move(arrive)] {
        if (!wire->broken && node_ends_[node] == wire && machines_[node]->is_up()) arrive();
    });
}

void FaultWorld::send(NodeIndex node, const Report& report) {
    WirePtr wire = node_ends_[node.value];
    if (!wire) return;
    if (const auto* launch = std::get_if<LaunchReported>(&report.event))
        wire->told.insert(key_of(launch->run));
    int copies = !calm_ && network_of(node.value).chance(kDuplicate) ? 2 : 1;
    if (copies > 1) happened("report repeated");
    for (int i = 0; i < copies; ++i) {
        up(wire, [this, node, wire, report] {
            said_[node.value] = now_;
            push({report.event, wire, report.sequence()});
        });
    }
}

void FaultWorld::heartbeat(std::size_t node) {
    if (machines_[node]->registered()) {
        send(NodeIndex{static_cast<std::uint32_t>(node)},
             {NodeHeartbeat{NodeIndex{static_cast<std::uint32_t>(node)}, 0, 0}});
    }
    later(kHeartbeat, [this, node] { heartbeat(node); });
}

// The node has to register again.
void FaultWorld::hang_up(std::size_t node) {
    node_ends_[node]->broken = true;
    node_ends_[node].reset();
    machines_[node]->on_disconnected();
    connect(node);
}

void FaultWorld::cut(std::size_t node, bool controller_notices) {
    for (const WirePtr& wire : {node_ends_[node], controller_ends_[node]}) {
        if (wire && !wire->broken) lose_wire(node, wire, controller_notices);
    }
}

void FaultWorld::lose_wire(std::size_t node, WirePtr wire, bool controller_notices) {
    wire->broken = true;
    later(Seconds{network_of(node).between(0, 4)}, [this, node, wire] {
        if (node_ends_[node] != wire) return;
        node_ends_[node].reset();
        machines_[node]->on_disconnected();
        connect(node);
    });
    if (!controller_notices) return;
    later(Seconds{network_of(node).between(0, 10)}, [this, node, wire] {
        if (controller_ends_[node] != wire) return;
        controller_ends_[node].reset();
        if (wire->welcome)
            push({NodeDisconnected{NodeIndex{static_cast<std::uint32_t>(node)}}, {}});
    });
}

}  // namespace sluice
