// store/memory_store.cc
//
// The same rows as on disk, in maps: what comes back went through the same encoding. A commit with
// a row that could not be read back is refused, so that simulations and tests find it. See store.h.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "model/errors.h"
#include "store/blob_refs.h"
#include "store/records.h"
#include "store/store.h"

namespace sluice {

namespace {

struct Rows {
    std::map<std::uint32_t, std::string> jobs, qos;
    std::map<std::string, std::string> nodes, reservations;
};

// The changes as rows. Each is read back: a row that a restart would refuse must not be committed.
Result<Rows> readable_rows(const ChangedRecords& changes, const std::vector<std::string>& names) {
    Rows rows;
    RowLoader loader;
    for (const auto& job : changes.jobs) {
        std::string& row = rows.jobs[job->id.value];
        row = to_record(*job, names);
        TRY(loader.add_job(job->id, row));
    }
    for (const auto& node : changes.nodes) {
        std::string& row = rows.nodes[node->config.name];
        row = to_record(*node);
        TRY(loader.add_node(node->config.name, row));
    }
    for (const Reservation& reservation : changes.reservations) {
        std::string& row = rows.reservations[reservation.name];
        row = to_record(reservation);
        TRY(loader.add_reservation(reservation.name, row));
    }
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
    Result<void> commit(const Batch& batch) override {
        const std::lock_guard guard(mutex_);
        const ChangedRecords& changes = batch.changes;
        static const std::vector<std::string> kNoNames;
        const std::vector<std::string>& names = batch.node_names ? *batch.node_names : kNoNames;
        const Rows rows = TRY(readable_rows(changes, names));
        for (const Blob& blob : batch.blobs) blobs_.try_emplace(blob.hash, blob.bytes);
        for (const auto& [id, row] : rows.jobs) jobs_[id] = row;
        for (const JobId job : changes.forgotten) jobs_.erase(job.value);
        for (const auto& [name, row] : rows.nodes) nodes_[name] = row;
        for (const auto& [name, row] : rows.reservations) reservations_[name] = row;
        for (const std::string& name : changes.reservations_gone) reservations_.erase(name);
        if (changes.qos) qos_ = rows.qos;
        if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
        for (const std::string& hash : refs_.left_over(changes)) blobs_.erase(hash);
        refs_.apply(changes);
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
    std::mutex mutex_;
    std::map<std::uint32_t, std::string> jobs_;
    std::map<std::string, std::string> nodes_;
    std::map<std::string, std::string> reservations_;
    std::map<std::uint32_t, std::string> qos_;
    std::map<std::string, std::string, std::less<>> blobs_;
    std::uint32_t next_job_id_ = 0;
    BlobRefs refs_;
};

}  // namespace

std::unique_ptr<Store> memory_store() {
    return std::make_unique<MemoryStore>();
}

}  // namespace sluice
