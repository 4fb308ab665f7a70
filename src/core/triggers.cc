// core/triggers.cc: see triggers.h.
#include "core/triggers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

auto place_of(auto& list, std::uint32_t id) {
    return std::lower_bound(
        list.begin(), list.end(), id,
        [](const Trigger& each, std::uint32_t wanted) { return each.id < wanted; });
}

}  // namespace

const Trigger* TriggerBook::find(std::uint32_t id) const {
    const auto place = place_of(*list_, id);
    return place != list_->end() && place->id == id ? &*place : nullptr;
}

void TriggerBook::put(Trigger trigger) {
    auto changed = std::make_shared<List>(*list_);
    const auto place = place_of(*changed, trigger.id);
    changed_.insert(trigger.id);
    next_id_ = std::max(next_id_, trigger.id + 1);
    if (place != changed->end() && place->id == trigger.id) {
        *place = std::move(trigger);
    } else {
        changed->insert(place, std::move(trigger));
    }
    list_ = std::move(changed);
}

void TriggerBook::drop(std::uint32_t id) {
    auto changed = std::make_shared<List>(*list_);
    if (std::erase_if(*changed, [&](const Trigger& each) { return each.id == id; }) == 0) return;
    changed_.insert(id);
    list_ = std::move(changed);
    if (!empty()) return;
    noted_nodes_.clear();
    noted_jobs_.clear();
    node_views_.clear();
    nodes_of_jobs_.clear();
}

void TriggerBook::restore(std::vector<Trigger> triggers) {
    std::sort(triggers.begin(), triggers.end(),
              [](const Trigger& one, const Trigger& other) { return one.id < other.id; });
    if (!triggers.empty()) next_id_ = triggers.back().id + 1;
    list_ = std::make_shared<const List>(std::move(triggers));
}

void TriggerBook::shift(Seconds by) {
    for (auto& [node, view] : node_views_) {
        if (view.idle_since) *view.idle_since += by;
    }
    const std::shared_ptr<const List> before = list_;
    for (Trigger trigger : *before) {
        if (!trigger.due) continue;
        *trigger.due += by;
        put(std::move(trigger));
    }
}

std::optional<std::string> TriggerBook::broken() const {
    std::uint32_t last = 0;
    for (const Trigger& each : all()) {
        if (each.id <= last || each.id >= next_id_)
            return fmt::format("trigger {} follows {}, the next one is {}", each.id, last,
                               next_id_);
        last = each.id;
        if (resource_of(each.wanted.event) == TriggerResource::Job && !each.wanted.job)
            return fmt::format("trigger {} is of no job", each.id);
        if (each.wanted.job && !each.wanted.nodes.empty())
            return fmt::format("trigger {} is of a job and of nodes", each.id);
    }
    return {};
}

void TriggerBook::note_node(NodeIndex node) {
    if (!empty()) noted_nodes_.insert(node);
}

void TriggerBook::note_job(JobId job) {
    if (!empty()) noted_jobs_.insert(job);
}

}  // namespace sluice
