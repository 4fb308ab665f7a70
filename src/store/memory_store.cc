// store/memory_store.cc
//
// The same rows as on disk, in maps: loaded values have gone through the same encoding. A commit
// with a row that could not be read back is refused, so that simulations and tests find it. See
// store.h.
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>

#include "model/errors.h"
#include "store/blob_refs.h"
#include "store/records.h"
#include "store/store.h"

namespace sluice {

namespace {

using RunRows = std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>;  // job, restarts
using StepRows =  // job, restarts, step
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::string>;

struct Rows {
    std::map<std::uint32_t, std::string> jobs, qos;
    std::map<std::string, std::string> nodes, reservations;
    RunRows ended_runs;
    StepRows ended_steps;
};

Result<void> add_ended(const ChangedRecords& changes, const NodeNames& names, Rows& rows) {
    for (const EndedRun& run : changes.ended_runs) {
        const std::uint32_t restarts = run.job->run.restarts;
        std::string& row = rows.ended_runs[{run.job->id.value, restarts}];
        row = to_record(run, names);
        TRY(read_ended_run(run.job->id, restarts, row));
    }
    for (const EndedStep& ended : changes.ended_steps) {
        const RunId key{ended.job, ended.restarts, ended.step->id};
        std::string& row = rows.ended_steps[{key.job.value, key.restarts, key.step.value}];
        row = to_record(ended, names);
        TRY(read_ended_step(key, row));
    }
    return {};
}

// The changes as rows. Each is read back: a row that a restart would refuse must not be committed.
Result<Rows> readable_rows(const ChangedRecords& changes, const NodeNames& names) {
    Rows rows;
    RowLoader loader;
    for (const auto& job : changes.jobs) {
        std::string& row = rows.jobs[job->id.value];
        row = to_record(*job, names);
        TRY(loader.add_job(job->id, row));
    }
    for (const ChangedNode& node : changes.nodes) {
        std::string& row = rows.nodes[node.record.name];
        row = to_record(node.record);
        TRY(loader.add_node(node.record.name, row));
    }
    for (const Reservation& reservation : changes.reservations) {
        std::string& row = rows.reservations[reservation.name];
        row = to_record(reservation);
        TRY(loader.add_reservation(reservation.name, row));
    }
    TRY(add_ended(changes, names, rows));
    if (!changes.qos) return rows;
    for (const Qos& qos : *changes.qos) {
        std::string& row = rows.qos[qos.id];
        row = to_record(qos);
        TRY(loader.add_qos(qos.id, row));
    }
    return rows;
}

class MemoryStore : public Store {
public:
    Result<Epoch> take_epoch() override {
        const std::lock_guard guard(mutex_);
        return ++epoch_;
    }

    CommitOutcome commit(const Batch& batch) override {
        const std::lock_guard guard(mutex_);
        if (batch.epoch != epoch_) return fenced(batch.epoch, epoch_);
        static const NodeNames kNoNames;
        const NodeNames& names = batch.node_names ? *batch.node_names : kNoNames;
        const Result<Rows> rows = readable_rows(batch.changes, names);
        if (!rows) return {CommitOutcome::Kind::Retry, to_string(rows.error())};
        keep(batch, *rows);
        return {};
    }

    Result<StoredState> load() override {
        const std::lock_guard guard(mutex_);
        RowLoader loader;
        for (const auto& [id, row] : jobs_) TRY(loader.add_job(JobId{id}, row));
        for (const auto& [name, row] : nodes_) TRY(loader.add_node(name, row));
        for (const auto& [name, row] : reservations_) TRY(loader.add_reservation(name, row));
        for (const auto& [id, row] : qos_) TRY(loader.add_qos(id, row));
        loader.set_next_job_id(next_job_id_);
        return loader.take();
    }

    Result<std::vector<StoredRun>> ended_runs(std::size_t most) override {
        const std::lock_guard guard(mutex_);
        std::vector<StoredRun> runs;
        for (const auto& [key, row] : ended_runs_) {
            if (runs.size() == most) break;
            runs.push_back(TRY(read_ended_run(JobId{key.first}, key.second, row)));
        }
        return runs;
    }

    Result<std::vector<StoredStep>> ended_steps(JobId job, std::uint32_t restarts) override {
        const std::lock_guard guard(mutex_);
        std::vector<StoredStep> steps;
        const auto end = ended_steps_.upper_bound({job.value, restarts, kLast});
        for (auto row = ended_steps_.lower_bound({job.value, restarts, 0}); row != end; ++row) {
            const RunId key{job, restarts, StepId{std::get<2>(row->first)}};
            steps.push_back(TRY(read_ended_step(key, row->second)));
        }
        return steps;
    }

    Result<std::string> blob(std::string_view hash) override {
        const std::lock_guard guard(mutex_);
        const auto found = blobs_.find(hash);
        if (found != blobs_.end()) return found->second;
        return Error{ErrorCode::NotFound, fmt::format("no blob {} is stored", hash)};
    }

    Result<bool> has_blob(std::string_view hash) override {
        const std::lock_guard guard(mutex_);
        return blobs_.contains(hash);
    }

private:
    static constexpr std::uint32_t kLast = 0xffffffff;

    void keep(const Batch& batch, const Rows& rows) {
        const ChangedRecords& changes = batch.changes;
        for (const Blob& blob : batch.blobs) blobs_.try_emplace(blob.hash, blob.bytes);
        for (const auto& [id, row] : rows.jobs) jobs_[id] = row;
        for (const JobId job : changes.forgotten) jobs_.erase(job.value);
        for (const auto& [name, row] : rows.nodes) nodes_[name] = row;
        for (const auto& [name, row] : rows.reservations) reservations_[name] = row;
        for (const std::string& name : changes.reservations_gone) reservations_.erase(name);
        for (const auto& [key, row] : rows.ended_runs) ended_runs_[key] = row;
        for (const auto& [key, row] : rows.ended_steps) ended_steps_[key] = row;
        for (const RunId& run : changes.accounted) drop_ended(run.job.value, run.restarts);
        if (changes.qos) qos_ = rows.qos;
        if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
        for (const std::string& hash : refs_.left_over(changes)) blobs_.erase(hash);
        refs_.apply(changes);
    }

    void drop_ended(std::uint32_t job, std::uint32_t restarts) {
        ended_runs_.erase(ended_runs_.lower_bound({job, 0}),
                          ended_runs_.upper_bound({job, restarts}));
        ended_steps_.erase(ended_steps_.lower_bound({job, 0, 0}),
                           ended_steps_.upper_bound({job, restarts, kLast}));
    }

    std::mutex mutex_;
    Epoch epoch_ = 0;
    std::map<std::uint32_t, std::string> jobs_;
    std::map<std::string, std::string> nodes_;
    std::map<std::string, std::string> reservations_;
    std::map<std::uint32_t, std::string> qos_;
    RunRows ended_runs_;
    StepRows ended_steps_;
    std::map<std::string, std::string, std::less<>> blobs_;
    std::uint32_t next_job_id_ = 0;
    BlobRefs refs_;
};

}  // namespace

std::unique_ptr<Store> memory_store() {
    return std::make_unique<MemoryStore>();
}

}  // namespace sluice
