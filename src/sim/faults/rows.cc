#include "sim/faults/rows.h"

#include "base/check.h"
#include "model/errors.h"

namespace sluice {

bool Rows::commit(const ChangedRecords& changes, std::shared_ptr<const NodeNames> names,
                  Epoch epoch) {
    const CommitOutcome committed = store_->commit(
        {.epoch = epoch, .changes = changes, .blobs = {}, .node_names = std::move(names)});
    if (committed.kind == CommitOutcome::Kind::Fenced) return false;
    CHECK(committed, committed.why);
    for (const Fact& fact : changes.facts) {
        if (const auto* run = std::get_if<AccountedJob>(&fact))
            accounted_runs_.insert_or_assign({run->job.value, run->restarts}, *run);
        if (const auto* step = std::get_if<AccountedStep>(&fact)) {
            accounted_steps_.insert_or_assign({step->job.value, step->restarts, step->step.value},
                                              *step);
        }
    }
    for (const auto& job : changes.jobs) jobs_.insert_or_assign(job->id.value, *job);
    for (JobId id : changes.forgotten) {
        if (auto job = jobs_.extract(id.value)) forgotten_.insert(std::move(job));
    }
    return true;
}

StoredState Rows::load() const {
    Result<StoredState> stored = store_->load();
    CHECK(stored.has_value(), to_string(stored.error()));
    return *std::move(stored);
}

const AccountedJob* Rows::run(JobId job, std::uint32_t restarts) const {
    const auto found = accounted_runs_.find({job.value, restarts});
    return found == accounted_runs_.end() ? nullptr : &found->second;
}

const AccountedStep* Rows::step(const RunId& step) const {
    const auto found = accounted_steps_.find({step.job.value, step.restarts, step.step.value});
    return found == accounted_steps_.end() ? nullptr : &found->second;
}

}  // namespace sluice
