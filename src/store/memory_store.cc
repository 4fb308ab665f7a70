// store/memory_store.cc
//
// The same rows as on disk, in maps: loaded values have gone through the same encoding. A commit
// with a row that could not be read back is refused, so that simulations and tests find it. See
// store.h.
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
    std::map<std::uint32_t, std::string> jobs;
    std::map<std::string, std::string> nodes, reservations, usage;
    std::vector<std::pair<std::size_t, std::string>> facts;  // kind, bytes
    std::string policy;
};

Result<void> add_facts(const ChangedRecords& changes, Rows& rows) {
    for (const Fact& fact : changes.facts) {
        rows.facts.emplace_back(fact.index(), to_record(fact));
        TRY(read_fact(fact.index(), rows.facts.back().second));
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
    for (const StoredUsage& used : changes.usage) {
        std::string& row = rows.usage[usage_key(used)];
        if (is_gone(used)) continue;
        row = to_record(used);
        TRY(loader.add_usage(usage_key(used), row));
    }
    TRY(add_facts(changes, rows));
    if (!changes.policy) return rows;
    rows.policy = to_record(*changes.policy);
    TRY(loader.set_policy(rows.policy));
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
        if (!policy_.empty()) TRY(loader.set_policy(policy_));
        for (const auto& [key, row] : usage_) TRY(loader.add_usage(key, row));
        loader.set_next_job_id(next_job_id_);
        return loader.take();
    }

    Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) override {
        const std::lock_guard guard(mutex_);
        std::vector<NumberedFact> found;
        for (auto row = facts_.upper_bound(after); row != facts_.end(); ++row) {
            if (found.size() == most) break;
            Fact fact = TRY(read_fact(row->second.first, row->second.second));
            found.push_back({row->first, std::move(fact)});
        }
        return found;
    }

    Result<std::uint64_t> fact_count() override {
        const std::lock_guard guard(mutex_);
        return facts_.size();
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
    void keep(const Batch& batch, const Rows& rows) {
        const ChangedRecords& changes = batch.changes;
        for (const Blob& blob : batch.blobs) blobs_.try_emplace(blob.hash, blob.bytes);
        for (const auto& [id, row] : rows.jobs) jobs_[id] = row;
        for (const JobId job : changes.forgotten) jobs_.erase(job.value);
        for (const auto& [name, row] : rows.nodes) nodes_[name] = row;
        for (const auto& [name, row] : rows.reservations) reservations_[name] = row;
        for (const std::string& name : changes.reservations_gone) reservations_.erase(name);
        keep_usage(rows);
        for (const auto& fact : rows.facts) facts_.emplace(++last_fact_, fact);
        facts_.erase(facts_.begin(), facts_.upper_bound(changes.delivered));
        if (changes.policy) policy_ = rows.policy;
        if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
        for (const std::string& hash : refs_.left_over(changes)) blobs_.erase(hash);
        refs_.apply(changes);
    }

    void keep_usage(const Rows& rows) {
        for (const auto& [key, row] : rows.usage) {
            if (row.empty())
                usage_.erase(key);  // nothing is left of it
            else
                usage_[key] = row;
        }
    }

    std::mutex mutex_;
    Epoch epoch_ = 0;
    std::map<std::uint32_t, std::string> jobs_;
    std::map<std::string, std::string> nodes_;
    std::map<std::string, std::string> reservations_;
    std::string policy_;  // empty: none was committed
    std::map<std::string, std::string> usage_;
    std::map<std::uint64_t, std::pair<std::size_t, std::string>> facts_;  // by number
    std::uint64_t last_fact_ = 0;
    std::map<std::string, std::string, std::less<>> blobs_;
    std::uint32_t next_job_id_ = 0;
    BlobRefs refs_;
};

}  // namespace

std::unique_ptr<Store> memory_store() {
    return std::make_unique<MemoryStore>();
}

}  // namespace sluice
