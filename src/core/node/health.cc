// core/node/health.cc
//
// HealthCheckProgram: the nodes that run it, and when. With CYCLE a part of the nodes runs it at a
// time, so that each has run it once per interval.
#include <algorithm>

#include "core/node/verbs.h"

namespace sluice {

namespace {

constexpr Seconds kTurnLeast{1};

// Of one interval.
std::uint32_t turns(const Cluster& cluster) {
    const Settings& settings = cluster.settings();
    if (!settings.health_check_nodes.cycle) return 1;
    const auto most = static_cast<std::uint32_t>(settings.health_check_interval / kTurnLeast);
    return std::clamp(static_cast<std::uint32_t>(cluster.node_count()), 1u, std::max(1u, most));
}

bool is_checked(const HealthCheckNodes& wanted, const Node& node) {
    if (!node.connected || node.removed) return false;
    switch (node_base(node)) {
        case NodeBase::Allocated:
            return wanted.allocated;
        case NodeBase::Mixed:
            return wanted.mixed;
        case NodeBase::Idle:
            return wanted.idle &&
                   (!wanted.only_undrained_idle || (node_flags(node) & kNodeDrain) == 0);
        default:
            return wanted.others;
    }
}

void await_turn(Cluster& cluster, Time now, std::uint32_t turn) {
    const Seconds interval = cluster.settings().health_check_interval;
    if (interval == Seconds{0}) return;
    const Seconds length = std::max(kTurnLeast, interval / turns(cluster));
    cluster.add_timer({now + length, TimerKind::HealthCheck, turn});
}

}  // namespace

void watch_health(Cluster& cluster, Time now) {
    if (cluster.subjects_of(TimerKind::HealthCheck).empty()) await_turn(cluster, now, 0);
}

void on_health_timer(Cluster& cluster, Time now, std::uint32_t turn, Effects& effects) {
    const std::uint32_t all = turns(cluster);
    if (cluster.settings().health_check_interval == Seconds{0}) return;
    for (std::uint32_t i = turn % all; i < cluster.node_count(); i += all) {
        if (is_checked(cluster.settings().health_check_nodes, cluster.node(NodeIndex{i})))
            effects.push_back(CheckHealth{NodeIndex{i}});
    }
    await_turn(cluster, now, (turn + 1) % all);
}

}  // namespace sluice
