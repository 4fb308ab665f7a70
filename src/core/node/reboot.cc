// core/node/reboot.cc
//
// scontrol reboot: a request waits until nothing runs on its node, then slurmd is told to run
// RebootProgram, then the node must register with a new boot within ResumeTimeout. The request is
// part of the node's record, so it continues after a restart of the controller.
#include <fmt/format.h>

#include "core/job/verbs.h"
#include "core/node/verbs.h"
#include "core/permission.h"
#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

namespace {

// Compat: text of the system is appended to the reason that a user gave.
void append_reason(Node& node, std::string_view what, Time now) {
    set_reason(node,
               node.reason.empty() ? std::string(what) : fmt::format("{} : {}", node.reason, what),
               node.reason_user, now);
}

void clear_reason(Node& node) {
    node.reason.clear();
    node.reason_time.reset();
}

void request_reboot(Cluster& cluster, Time now, NodeIndex index, const RebootNodes& event) {
    const Edit<Node> node = cluster.edit_node(index);
    if (node->reboot && node->reboot->issued) return;  // it is rebooting already
    Reboot reboot = node->reboot.value_or(Reboot{});
    if (event.next != AfterReboot::AsBefore)
        reboot.next = event.next;
    else if (event.asap)
        reboot.next = AfterReboot::Resume;
    if (event.asap && (node->admin_flags & kNodeDrain) == 0) {
        reboot.drained = true;
        node->admin_flags |= kNodeDrain;
    }
    if (!event.reason.empty() || node->reason.empty()) {
        reboot.reasoned = true;
        std::string_view usual = event.asap ? "Reboot ASAP" : "reboot requested";
        set_reason(*node, event.reason.empty() ? std::string(usual) : event.reason,
                   event.caller.user, now);
    }
    node->reboot = std::move(reboot);
    cluster.want_reboot(index);
    cluster.mark_stored(index);
}

bool is_idle(const Node& node) {
    return node.facts && node.connected && !node.removed && node.jobs.empty() &&
           node.orphans.empty();
}

// The clocks of the machines may differ; the boot id of the kernel does not depend on them.
bool has_rebooted(const Reboot& reboot, const NodeFacts& facts) {
    bool other_boot =
        !reboot.boot_id.empty() && !facts.boot_id.empty() && facts.boot_id != reboot.boot_id;
    return other_boot || facts.boot_time >= *reboot.issued;
}

Time reboot_end(const Cluster& cluster, const Reboot& reboot) {
    return *reboot.issued + reboot.stepped + cluster.settings().resume_timeout;
}

void finish_reboot(Cluster& cluster, Time now, NodeIndex index) {
    const Edit<Node> node = cluster.edit_node(index);
    AfterReboot next = node->reboot->next;
    node->reboot.reset();
    node->down = next == AfterReboot::Down;
    if (next != AfterReboot::AsBefore) node->admin_flags &= ~kNodeDrain;
    bool in_use_again = !node->down && (node->admin_flags & (kNodeDrain | kNodeFail)) == 0;
    if (node->down) append_reason(*node, "reboot complete", now);
    if (in_use_again) clear_reason(*node);
    cluster.mark_stored(index);
}

}  // namespace

void on_reboot_nodes(Cluster& cluster, Time now, const RebootNodes& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    auto allowed = permit(role_in(cluster, event.caller), Action::RebootNodes);
    if (!allowed) return answer(allowed.error());
    if (cluster.settings().reboot_program.empty()) {
        return answer(Error{ErrorCode::ConfigInvalid, "RebootProgram isn't defined"});
    }
    Result<std::vector<NodeIndex>> nodes = nodes_named(cluster, event.nodes);
    if (!nodes) return answer(nodes.error());
    for (NodeIndex index : *nodes) {
        if (!cluster.node(index).removed) request_reboot(cluster, now, index, event);
    }
    cluster.want_pass();
    answer(Done{});
}

void order_reboots(Cluster& cluster, Time now, Effects& effects) {
    const std::set<NodeIndex> waiting = cluster.wanted_reboots();  // some leave it
    for (NodeIndex index : waiting) {
        if (!is_idle(cluster.node(index))) continue;
        const Edit<Node> node = cluster.edit_node(index);
        node->reboot->issued = now;
        node->reboot->boot_id = node->facts->boot_id;
        append_reason(*node, "reboot issued", now);
        cluster.mark_stored(index);
        watch_reboot(cluster, index);
        cluster.want_pass();
        effects.push_back(RebootNode{index, now});
    }
}

void watch_reboot(Cluster& cluster, NodeIndex index) {
    const Node& node = cluster.node(index);
    cluster.want_no_reboot(index);
    if (!node.reboot) return;
    if (!node.reboot->issued) {
        cluster.want_reboot(index);
    } else {
        cluster.add_timer({reboot_end(cluster, *node.reboot), TimerKind::Reboot, index.value});
    }
}

void reboot_timed_out(Cluster& cluster, Time now, NodeIndex index) {
    const Node& late = cluster.node(index);
    if (!late.reboot || !late.reboot->issued) return;  // it came back, or was resumed
    if (now < reboot_end(cluster, *late.reboot)) return watch_reboot(cluster, index);
    const Edit<Node> node = cluster.edit_node(index);
    node->reboot.reset();
    node->down = true;
    node->admin_flags &= ~kNodeDrain;  // Compat: down is enough
    append_reason(*node, "reboot timed out", now);
    cluster.mark_stored(index);
}

bool finish_reboot(Cluster& cluster, Time now, NodeIndex index, const NodeFacts& facts,
                   Effects& effects) {
    const Node& node = cluster.node(index);
    if (!node.reboot || !node.reboot->issued) return false;
    if (!has_rebooted(*node.reboot, facts)) {
        effects.push_back(RebootNode{index, *node.reboot->issued});
        return false;
    }
    finish_reboot(cluster, now, index);
    return true;
}

void cancel_reboot(Cluster& cluster, NodeIndex index) {
    const Edit<Node> node = cluster.edit_node(index);
    if (node->reboot->drained) node->admin_flags &= ~kNodeDrain;
    if (node->reboot->reasoned) clear_reason(*node);
    node->reboot.reset();
    cluster.want_no_reboot(index);
    cluster.mark_stored(index);
}

}  // namespace sluice
