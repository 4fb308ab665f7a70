#include "sim/faults/rows.h"

namespace sluice {

void Rows::commit(const ChangedRecords& changes, const Cluster& cluster) {
    auto name = [&](NodeIndex node) { return cluster.node(node).config.name; };
    for (const auto& job : changes.jobs) {
        jobs_.insert_or_assign(job->id.value, *job);
        auto& allocated = allocated_[job->id.value];
        auto& completing = completing_[job->id.value];
        allocated.clear();
        completing.clear();
        if (job->allocation) {
            for (const NodeShare& share : job->allocation->nodes)
                allocated.push_back(name(share.node));
        }
        for (NodeIndex node : job->completing_nodes) completing.push_back(name(node));
    }
    for (JobId id : changes.forgotten) {
        if (auto job = jobs_.extract(id.value)) forgotten_.insert(std::move(job));
        allocated_.erase(id.value);
        completing_.erase(id.value);
    }
    for (const auto& node : changes.nodes) {
        nodes_[node->config.name] = {node->config.name, node->admin_flags, node->down,
                                     node->reason,      node->reason_time, node->reason_user,
                                     node->comment};
    }
    if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
}

StoredState Rows::load() const {
    StoredState stored;
    for (const auto& [id, job] : jobs_) stored.jobs.push_back(job);
    for (const auto& [name, node] : nodes_) stored.nodes.push_back(node);
    stored.allocation_nodes.insert(allocated_.begin(), allocated_.end());
    stored.completing_nodes.insert(completing_.begin(), completing_.end());
    stored.next_job_id = next_job_id_;
    return stored;
}

}  // namespace sluice
