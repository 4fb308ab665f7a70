#include "core/schedule/plan.h"

#include "base/check.h"

namespace sluice {

void Plan::restart(Time epoch, std::size_t nodes) {
    epoch_ = epoch;
    nodes_.resize(nodes);
    for (Slots& slots : nodes_)
        slots.clear();               // their room is kept: the next plan is much like this one
    freed_first_ = freed_end() + 1;  // a reader with an older number must start again
    freed_.clear();
}

void Plan::note_freed(NodeIndex node) {
    if (freed_.size() > 2 * nodes_.size() + 64) {
        freed_first_ = freed_end();
        freed_.clear();
    }
    freed_.push_back(node);
}

PlanTime Plan::tick(Time time) const {
    std::int64_t seconds = (time - epoch_).count();
    return static_cast<PlanTime>(std::clamp<std::int64_t>(seconds, 0, kForever));
}

void Plan::set_free(NodeIndex node, const Amounts& free) {
    nodes_[node.value].assign(1, {0, free});
    note_freed(node);
}

// Makes a slot start at `at`; its index.
std::size_t Plan::split(Slots& slots, PlanTime at) {
    std::size_t i = slot_at(slots, at);
    if (slots[i].start == at) return i;
    slots.insert(slots.begin() + static_cast<std::ptrdiff_t>(i) + 1, {at, slots[i].free});
    return i + 1;
}

void Plan::take(NodeIndex node, const Amounts& amounts, PlanTime from, PlanTime until) {
    Slots& slots = nodes_[node.value];
    if (from >= until || slots.empty()) return;
    std::size_t first = split(slots, from);
    std::size_t last = until == kForever ? slots.size() : split(slots, until);
    for (std::size_t i = first; i < last; ++i) slots[i].free -= amounts;
}

void Plan::give(NodeIndex node, const Amounts& amounts, PlanTime from, PlanTime until) {
    Slots& slots = nodes_[node.value];
    if (from >= until || slots.empty()) return;
    std::size_t first = split(slots, from);
    std::size_t last = until == kForever ? slots.size() : split(slots, until);
    for (std::size_t i = first; i < last; ++i) slots[i].free += amounts;
    note_freed(node);
    // Neighbours that have become equal are one slot again.
    std::size_t end = std::min(last + 1, slots.size());
    for (std::size_t i = end; i-- > std::max<std::size_t>(first, 1);) {
        if (slots[i].free == slots[i - 1].free)
            slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

bool Plan::is_open_ended(NodeIndex node, const Amounts& need, PlanTime from) const {
    const Slots& slots = nodes_[node.value];
    for (std::size_t i = slot_at(slots, from); i < slots.size(); ++i) {
        if (!slots[i].free.holds(need)) return false;
    }
    return true;
}

Plan::Window Plan::window(NodeIndex node, PlanTime from, PlanTime length) const {
    const Slots& slots = nodes_[node.value];
    Window window;
    if (slots.empty()) return window;
    PlanTime end = end_of(from, length);
    std::size_t i = slot_at(slots, from);
    window.free = slots[i].free;
    if (i + 1 < slots.size()) window.same_until = slots[i + 1].start;
    for (++i; i < slots.size() && slots[i].start < end; ++i) window.free.lower_to(slots[i].free);
    // A start a little later also sees the slot that comes next.
    if (i < slots.size())
        window.same_until = std::min(window.same_until, slots[i].start - length + 1);
    return window;
}

}  // namespace sluice
