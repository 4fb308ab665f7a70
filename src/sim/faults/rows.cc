#include "sim/faults/rows.h"

#include "base/check.h"
#include "model/errors.h"

namespace sluice {

void Rows::commit(const ChangedRecords& changes, const Cluster& cluster) {
    NodeNames names;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i)
        names.push_back(cluster.node(NodeIndex{i}).config.name);
    const CommitOutcome committed =
        store_->commit({.changes = changes,
                        .blobs = {},
                        .node_names = std::make_shared<const NodeNames>(std::move(names))});
    CHECK(committed, committed.why);
    for (const auto& job : changes.jobs) jobs_.insert_or_assign(job->id.value, *job);
    for (JobId id : changes.forgotten) {
        if (auto job = jobs_.extract(id.value)) forgotten_.insert(std::move(job));
    }
}

StoredState Rows::load() const {
    Result<StoredState> stored = store_->load();
    CHECK(stored.has_value(), to_string(stored.error()));
    return *std::move(stored);
}

std::vector<StoredRun> Rows::ended_runs() const {
    Result<std::vector<StoredRun>> runs = store_->ended_runs(~std::size_t{0});
    CHECK(runs.has_value(), to_string(runs.error()));
    return *std::move(runs);
}

std::vector<StoredStep> Rows::ended_steps(const Job& job) const {
    Result<std::vector<StoredStep>> steps = store_->ended_steps(job.id, job.run.restarts);
    CHECK(steps.has_value(), to_string(steps.error()));
    return *std::move(steps);
}

}  // namespace sluice
