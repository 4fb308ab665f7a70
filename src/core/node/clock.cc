// core/node/clock.cc
//
// Launch credentials are valid for a short time. A node whose clock differs from the controller's
// refuses them, so it is sent no jobs: it shows as drained, with the reason, until the clocks
// agree. The difference is measured when the node registers; from then on both sides report when
// their clock is set. (A heartbeat may have waited to be read, so it does not show the node's
// clock.)
#include <fmt/format.h>

#include "core/node/verbs.h"
#include "core/schedule/queue.h"

namespace sluice {
namespace {

constexpr Seconds kDifferenceMost{30};
constexpr std::string_view kClockReason = "Clock differs from the controller's";

}  // namespace

bool clock_differs(const Node& node) {
    return node.clock_ahead > kDifferenceMost || node.clock_ahead < -kDifferenceMost;
}

bool has_clock_reason(const Node& node) {
    return node.reason.starts_with(kClockReason);
}

void look_at_clock(Cluster& cluster, Time now, NodeIndex index) {
    const Edit<Node> node = cluster.edit_node(index);
    const bool is_ours = has_clock_reason(*node);
    if (clock_differs(*node) && (is_ours || node->reason.empty())) {
        const bool ahead = node->clock_ahead > Seconds{0};
        std::string reason = fmt::format("{}: {} s {}", kClockReason,
                                         (ahead ? node->clock_ahead : -node->clock_ahead).count(),
                                         ahead ? "ahead" : "behind");
        if (reason == node->reason) return;
        set_reason(*node, std::move(reason), cluster.settings().slurm_user, now);
        cluster.mark_stored(index);
    } else if (!clock_differs(*node) && is_ours) {
        node->reason.clear();
        node->reason_time.reset();
        cluster.mark_stored(index);
        unpark_all(cluster, now);
        cluster.want_pass();
    }
}

}  // namespace sluice
