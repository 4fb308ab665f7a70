#include "sim/faults/rows.h"

namespace sluice {

namespace {

// Of a step's nodes the store keeps which are left by their places: see core/restore.cc.
Job as_stored(const Job& job) {
    Job stored = job;
    for (auto& step : stored.steps) {
        auto copy = std::make_shared<Step>(*step);
        copy->nodes_left.clear();
        for (NodeIndex left : step->nodes_left) {
            for (std::uint32_t place = 0; place < step->nodes.size(); ++place) {
                if (step->nodes[place].node == left) copy->nodes_left.push_back(NodeIndex{place});
            }
        }
        step = std::move(copy);
    }
    return stored;
}

}  // namespace

void Rows::commit(const ChangedRecords& changes, const Cluster& cluster) {
    auto name = [&](NodeIndex node) { return cluster.node(node).config.name; };
    auto names = [&](const std::vector<NodeShare>& shares) {
        std::vector<std::string> found;
        for (const NodeShare& share : shares) found.push_back(name(share.node));
        return found;
    };
    for (const auto& job : changes.jobs) {
        std::uint32_t id = job->id.value;
        jobs_.insert_or_assign(id, as_stored(*job));
        allocated_[id] =
            job->allocation ? names(job->allocation->nodes) : std::vector<std::string>{};
        completing_[id].clear();
        for (NodeIndex node : job->completing_nodes) completing_[id].push_back(name(node));
        step_nodes_[id].clear();
        for (const auto& step : job->steps) step_nodes_[id].push_back(names(step->nodes));
    }
    for (JobId id : changes.forgotten) {
        if (auto job = jobs_.extract(id.value)) forgotten_.insert(std::move(job));
        allocated_.erase(id.value);
        completing_.erase(id.value);
        step_nodes_.erase(id.value);
    }
    for (const auto& node : changes.nodes) {
        nodes_[node->config.name] = {
            node->config.name,      node->admin_flags, node->down,    node->reason,
            node->reason_time,      node->reason_user, node->comment, node->weight_by_hand,
            node->features_by_hand, node->reboot};
    }
    if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
    for (const Reservation& reservation : changes.reservations)
        reservations_[reservation.name] = reservation;
    for (const std::string& gone : changes.reservations_gone) reservations_.erase(gone);
    if (changes.qos) qos_ = *changes.qos;
}

StoredState Rows::load() const {
    StoredState stored;
    for (const auto& [id, job] : jobs_) stored.jobs.push_back(job);
    for (const auto& [name, node] : nodes_) stored.nodes.push_back(node);
    for (const auto& [name, reservation] : reservations_) {
        stored.reservations.push_back(reservation);
        stored.reservations.back().nodes.clear();  // they are found by their names
    }
    stored.allocation_nodes.insert(allocated_.begin(), allocated_.end());
    stored.completing_nodes.insert(completing_.begin(), completing_.end());
    stored.step_nodes.insert(step_nodes_.begin(), step_nodes_.end());
    stored.next_job_id = next_job_id_;
    stored.qos = qos_;
    return stored;
}

}  // namespace sluice
