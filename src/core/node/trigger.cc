// core/node/trigger.cc
//
// strigger: what happens to nodes, jobs and daemons is compared with the triggers. An event sets
// the time at which the program of a trigger runs; events of the following second are told to the
// same run, so that one program hears of all nodes of a rack that fail together. A program runs
// once: the trigger is dropped, or waits for the next event, in the same commit that orders the
// run.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/job/verbs.h"
#include "core/node/verbs.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

constexpr Seconds kGather{1};  // for events that happen at the same time

enum Condition : std::uint32_t {
    kDown = 1 << 0,
    kDraining = 1 << 1,
    kDrained = 1 << 2,
    kFailing = 1 << 3,
    kAdminDrain = 1 << 4,
};

std::uint32_t conditions_of(const Node& node) {
    const NodeBase base = node_base(node);
    const std::uint32_t flags = node_flags(node);
    const bool is_used = base == NodeBase::Allocated || base == NodeBase::Mixed || node.completing;
    std::uint32_t found = 0;
    if (base == NodeBase::Down) found |= kDown;
    if (flags & kNodeDrain) found |= kAdminDrain | (is_used ? kDraining : kDrained);
    if (flags & kNodeFail) found |= kFailing;
    return found;
}

bool is_idle(const Node& node) {
    return node_base(node) == NodeBase::Idle && may_take_jobs(node);
}

// Which of the events happened between the two.
bool has_happened(TriggerEvent event, std::uint32_t before, std::uint32_t after) {
    const std::uint32_t begun = after & ~before, ended = before & ~after;
    switch (event) {
        case TriggerEvent::NodeDown:
            return begun & kDown;
        case TriggerEvent::NodeUp:
            return ended & kDown;
        case TriggerEvent::NodeDrained:
            return begun & kDrained;
        case TriggerEvent::NodeDraining:
            return begun & kDraining;
        case TriggerEvent::NodeFailing:
            return begun & kFailing;
        case TriggerEvent::NodeResumed:
            return ended & kAdminDrain;
        default:
            return false;
    }
}

// The nodes that a trigger is about.
class Watched {
public:
    Watched(Cluster& cluster, const TriggerRequest& wanted) {
        if (wanted.job) {
            const auto& known = cluster.triggers().nodes_of_jobs();
            const auto nodes = known.find(*wanted.job);
            if (nodes != known.end()) nodes_ = {nodes->second.begin(), nodes->second.end()};
            return;
        }
        all_ = wanted.nodes.empty();
        const Result<Hostlist> list = Hostlist::parse(wanted.nodes);
        if (all_ || !list) return;
        for (const std::string& name : list->names()) {
            if (const auto index = cluster.find_node(name)) nodes_.insert(*index);
        }
    }
    bool has(NodeIndex node) const { return all_ || nodes_.contains(node); }

private:
    bool all_ = false;
    std::set<NodeIndex> nodes_;
};

void await(Cluster& cluster, Time due) {
    cluster.add_timer({due, TimerKind::Trigger, 0});
}

void put(Cluster& cluster, Trigger trigger) {
    if (trigger.due) await(cluster, *trigger.due);
    cluster.triggers().put(std::move(trigger));
    cluster.triggers_changed();
}

void drop(Cluster& cluster, std::uint32_t id) {
    cluster.triggers().drop(id);
    cluster.triggers_changed();
}

// The program runs after `wait`.
void pull(Cluster& cluster, Time now, Trigger trigger, Seconds wait, const std::string& node) {
    if (!trigger.due) trigger.due = now + std::max(wait, kGather);
    std::vector<std::string>& names = trigger.happened_to;
    if (!node.empty() && std::find(names.begin(), names.end(), node) == names.end())
        names.push_back(node);
    put(cluster, std::move(trigger));
}

template <typename Wanted>
std::vector<Trigger> those(const Cluster& cluster, Wanted wanted) {
    std::vector<Trigger> found;
    for (const Trigger& each : cluster.triggers().all()) {
        if (wanted(each)) found.push_back(each);
    }
    return found;
}

void await_idle(Cluster& cluster, NodeIndex node, Time since) {
    for (const Trigger& each : cluster.triggers().all()) {
        const bool waits = each.wanted.event == TriggerEvent::NodeIdle;
        if (waits && Watched(cluster, each.wanted).has(node))
            await(cluster, since + each.wanted.offset);
    }
}

void compare_use(Cluster& cluster, Time now, NodeIndex index, TriggerBook::NodeView& view,
                 bool is_new) {
    const Node& node = cluster.node(index);
    if (!is_idle(node)) {
        view.idle_since.reset();
        view.idle_told.clear();
    } else if (!view.idle_since || node.last_busy > view.idle_since) {  // it was used meanwhile
        view.idle_told.clear();
        view.idle_since = is_new ? node.last_busy.value_or(now) : now;
        await_idle(cluster, index, *view.idle_since);
    }
}

void compare_node(Cluster& cluster, Time now, NodeIndex index) {
    const auto [place, is_new] = cluster.triggers().node_views().try_emplace(index);
    TriggerBook::NodeView& view = place->second;
    const std::uint32_t after = conditions_of(cluster.node(index));
    const std::uint32_t before = is_new ? after : view.conditions;
    view.conditions = after;
    compare_use(cluster, now, index, view, is_new);
    if (before == after) return;
    for (Trigger& trigger : those(cluster, [&](const Trigger& each) {
             return has_happened(each.wanted.event, before, after) &&
                    Watched(cluster, each.wanted).has(index);
         })) {
        const Seconds wait = trigger.wanted.offset;
        pull(cluster, now, std::move(trigger), wait, cluster.node(index).config.name);
    }
}

// Nodes that have been idle for the time that a trigger names.
void compare_idle(Cluster& cluster, Time now) {
    for (const Trigger& trigger : those(cluster, [](const Trigger& each) {
             return each.wanted.event == TriggerEvent::NodeIdle;
         })) {
        const Watched watched(cluster, trigger.wanted);
        for (auto& [index, view] : cluster.triggers().node_views()) {
            if (!view.idle_since || *view.idle_since + trigger.wanted.offset > now) continue;
            if (!watched.has(index) || !view.idle_told.insert(trigger.id).second) continue;
            pull(cluster, now, *cluster.triggers().find(trigger.id), kGather,
                 cluster.node(index).config.name);
        }
    }
}

// When the program of a trigger of the time limit runs; absent: not as the job is now.
std::optional<Time> due_by_limit(const Job& job, const TriggerRequest& wanted, Time now) {
    if (job.state != JobState::Running || is_completing(job) || job.time_limit.unlimited())
        return {};
    const Time due = limit_end(job) + wanted.offset;
    if (due <= now && wanted.permanent) return {};  // it has run
    return std::max(due, now);
}

void compare_job(Cluster& cluster, Time now, JobId id) {
    const auto job = cluster.find_job(id);
    const bool over = !job || is_over(*job);
    for (Trigger& trigger :
         those(cluster, [&](const Trigger& each) { return each.wanted.job == id; })) {
        const TriggerRequest& wanted = trigger.wanted;
        const bool is_pulled = trigger.due && wanted.event != TriggerEvent::JobTimeLimit;
        if (is_pulled) continue;  // it is dropped when its program has run
        if (wanted.event == TriggerEvent::JobEnded && over) {
            trigger.due = now + std::max(wanted.offset, Seconds{0});
            put(cluster, std::move(trigger));
        } else if (over) {
            drop(cluster, trigger.id);
        } else if (wanted.event == TriggerEvent::JobTimeLimit) {
            const auto due = due_by_limit(*job, wanted, now);
            if (due == trigger.due) continue;
            trigger.due = due;
            put(cluster, std::move(trigger));
        }
    }
    auto& nodes = cluster.triggers().nodes_of_jobs()[id];
    nodes.clear();
    if (!over && job->run.allocation) {
        for (const NodeShare& share : job->run.allocation->nodes) nodes.push_back(share.node);
    }
    if (nodes.empty()) cluster.triggers().nodes_of_jobs().erase(id);
}

std::string subject_of(const Trigger& trigger) {
    if (!trigger.happened_to.empty()) return Hostlist(trigger.happened_to).to_string();
    if (resource_of(trigger.wanted.event) == TriggerResource::Job)
        return fmt::to_string(trigger.wanted.job->value);
    return std::string(name_of(trigger.wanted.event));
}

void run_due(Cluster& cluster, Time now, Effects& effects) {
    for (Trigger& trigger :
         those(cluster, [&](const Trigger& each) { return each.due && *each.due <= now; })) {
        const auto job = trigger.wanted.job ? cluster.find_job(*trigger.wanted.job) : nullptr;
        const bool stays =
            trigger.wanted.permanent && (!trigger.wanted.job || (job && !is_over(*job)));
        effects.push_back(RunTrigger{trigger, subject_of(trigger)});
        if (!stays) {
            drop(cluster, trigger.id);
            continue;
        }
        trigger.due.reset();
        trigger.happened_to.clear();
        put(cluster, std::move(trigger));
    }
}

}  // namespace

void view_nodes(Cluster& cluster, Time now) {
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value)
        compare_node(cluster, now, index);
}

void watch_trigger(Cluster& cluster, std::uint32_t id) {
    const Trigger trigger = *cluster.triggers().find(id);
    if (trigger.due) await(cluster, *trigger.due);
    if (trigger.wanted.event == TriggerEvent::NodeIdle) {
        for (const auto& [index, view] : cluster.triggers().node_views()) {
            if (view.idle_since) await(cluster, *view.idle_since + trigger.wanted.offset);
        }
    }
    if (trigger.wanted.job) cluster.triggers().note_job(*trigger.wanted.job);
}

void recall_triggers(Cluster& cluster, Time now) {
    if (cluster.triggers().empty()) return;
    view_nodes(cluster, now);
    for (const Trigger& each : those(cluster, [](const Trigger&) { return true; }))
        watch_trigger(cluster, each.id);
}

void pull_triggers(Cluster& cluster, Time now, TriggerEvent event) {
    for (Trigger& trigger :
         those(cluster, [&](const Trigger& each) { return each.wanted.event == event; })) {
        const Seconds wait = trigger.wanted.offset;
        pull(cluster, now, std::move(trigger), wait, {});
    }
}

void compare_with_triggers(Cluster& cluster, Time now) {
    for (const NodeIndex node : cluster.triggers().take_noted_nodes())
        compare_node(cluster, now, node);
    for (const JobId job : cluster.triggers().take_noted_jobs()) compare_job(cluster, now, job);
}

void on_trigger_timer(Cluster& cluster, Time now, Effects& effects) {
    compare_with_triggers(cluster, now);
    compare_idle(cluster, now);
    run_due(cluster, now, effects);
}

}  // namespace sluice
