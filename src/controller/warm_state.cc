#include "controller/warm_state.h"

#include <algorithm>

namespace sluice {

namespace {

template <typename Records>
auto values_of(Records&& records) {
    std::vector<typename std::decay_t<Records>::mapped_type> values;
    values.reserve(records.size());
    for (auto& [key, value] : records) values.push_back(std::move(value));
    return values;
}

}  // namespace

// A row that can be read again was damaged before.
void WarmState::apply(StateChanges changes) {
    if (changes.is_whole) *this = {};
    version_ = changes.version;
    for (StoredJob& stored : changes.changed.jobs) {
        const JobId id = stored.job.id;
        damaged_.erase({"job", std::to_string(id.value)});
        jobs_.insert_or_assign(id, std::move(stored));
    }
    for (const JobId id : changes.forgotten) {
        damaged_.erase({"job", std::to_string(id.value)});
        jobs_.erase(id);
    }
    for (StoredNode& node : changes.changed.nodes) {
        std::string name = node.name;
        damaged_.erase({"node", name});
        nodes_.insert_or_assign(std::move(name), std::move(node));
    }
    for (Reservation& reservation : changes.changed.reservations) {
        std::string name = reservation.name;
        damaged_.erase({"reservation", name});
        reservations_.insert_or_assign(std::move(name), std::move(reservation));
    }
    for (const std::string& name : changes.reservations_gone) reservations_.erase(name);
    for (StoredUsage& used : changes.changed.usage) {
        std::string key = usage_key(used);
        damaged_.erase({"usage", key});
        usage_.insert_or_assign(std::move(key), std::move(used));
    }
    for (const std::string& key : changes.usage_gone) usage_.erase(key);
    for (Trigger& trigger : changes.changed.triggers) {
        const std::uint32_t id = trigger.id;
        damaged_.erase({"trigger", std::to_string(id)});
        triggers_.insert_or_assign(id, std::move(trigger));
    }
    for (const std::uint32_t id : changes.triggers_gone) triggers_.erase(id);
    if (changes.changed.policy) policy_ = std::move(changes.changed.policy);
    next_job_id_ = std::max(next_job_id_, changes.changed.next_job_id);
    for (DamagedRow& row : changes.changed.damaged)
        damaged_.insert_or_assign({row.kind, row.key}, std::move(row));
}

StoredState WarmState::take() {
    StoredState state;
    state.jobs = values_of(std::move(jobs_));
    state.nodes = values_of(std::move(nodes_));
    state.reservations = values_of(std::move(reservations_));
    state.usage = values_of(std::move(usage_));
    state.triggers = values_of(std::move(triggers_));
    state.damaged = values_of(std::move(damaged_));
    state.next_job_id = next_job_id_;
    state.policy = std::move(policy_);
    return state;
}

}  // namespace sluice
