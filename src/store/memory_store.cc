// store/memory_store.cc
//
// The same rows as on disk, in maps: loaded values have gone through the same encoding. A commit
// with a row that could not be read back is refused, so that simulations and tests find it. See
// store.h.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "model/errors.h"
#include "store/batch_rows.h"
#include "store/blob_refs.h"
#include "store/records.h"
#include "store/store.h"

namespace sluice {

namespace {

// Each row is read back: a row that a restart would refuse must not be committed.
Result<void> check_readable(const BatchRows& rows) {
    RowLoader loader;
    for (const auto& [id, row] : rows.jobs) TRY(loader.add_job(JobId{id}, row));
    for (const auto& [name, row] : rows.nodes) TRY(loader.add_node(name, row));
    for (const auto& [name, row] : rows.reservations) TRY(loader.add_reservation(name, row));
    for (const auto& [key, row] : rows.usage) {
        if (!row.empty()) TRY(loader.add_usage(key, row));
    }
    for (const auto& [id, row] : rows.triggers) TRY(loader.add_trigger(id, row));
    for (const auto& [kind, row] : rows.facts) TRY(read_fact(kind, row));
    if (rows.policy.empty()) return {};
    return loader.set_policy(rows.policy);
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
        const BatchRows rows = rows_of(batch);
        if (const Result<void> readable = check_readable(rows); !readable)
            return {CommitOutcome::Kind::Retry, to_string(readable.error())};
        keep(batch, rows);
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
        for (const auto& [id, row] : triggers_) TRY(loader.add_trigger(id, row));
        loader.set_next_job_id(next_job_id_);
        return loader.take();
    }

    Result<StateChanges> changes_since(StateVersion since) override {
        const std::lock_guard guard(mutex_);
        StateChanges changes{.version = version_, .is_whole = since == 0};
        RowLoader loader;
        for (const auto& [key, at] : changed_) {
            if (at > since) TRY(add_change(key.first, key.second, changes, loader));
        }
        if (!policy_.empty() && policy_version_ > since) TRY(loader.set_policy(policy_));
        loader.set_next_job_id(next_job_id_);
        changes.changed = loader.take();
        return changes;
    }

    Result<StateVersion> version() override {
        const std::lock_guard guard(mutex_);
        return version_;
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
    enum class Kind : std::uint8_t { Job, Node, Reservation, Usage, Trigger };

    void keep(const Batch& batch, const BatchRows& rows) {
        const ChangedRecords& changes = batch.changes;
        note_changes(changes, rows);
        for (const Blob& blob : batch.blobs) blobs_.try_emplace(blob.hash, blob.bytes);
        for (const auto& [id, row] : rows.jobs) jobs_[id] = row;
        for (const JobId job : changes.forgotten) jobs_.erase(job.value);
        for (const auto& [name, row] : rows.nodes) nodes_[name] = row;
        for (const auto& [name, row] : rows.reservations) reservations_[name] = row;
        for (const std::string& name : changes.reservations_gone) reservations_.erase(name);
        for (const auto& [id, row] : rows.triggers) triggers_[id] = row;
        for (const std::uint32_t id : changes.triggers_gone) triggers_.erase(id);
        keep_usage(rows);
        for (const auto& fact : rows.facts) facts_.emplace(++last_fact_, fact);
        facts_.erase(facts_.begin(), facts_.upper_bound(changes.delivered));
        if (changes.policy) policy_ = rows.policy;
        if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
        for (const std::string& hash : refs_.left_over(changes)) blobs_.erase(hash);
        refs_.apply(changes);
    }

    void note_changes(const ChangedRecords& changes, const BatchRows& rows) {
        ++version_;
        const auto note = [&](Kind kind, std::string key) {
            changed_[{kind, std::move(key)}] = version_;
        };
        for (const auto& [id, row] : rows.jobs) note(Kind::Job, number_key(id));
        for (const JobId job : changes.forgotten) note(Kind::Job, number_key(job.value));
        for (const auto& [name, row] : rows.nodes) note(Kind::Node, name);
        for (const auto& [name, row] : rows.reservations) note(Kind::Reservation, name);
        for (const std::string& name : changes.reservations_gone) note(Kind::Reservation, name);
        for (const auto& [key, row] : rows.usage) note(Kind::Usage, key);
        for (const auto& [id, row] : rows.triggers) note(Kind::Trigger, number_key(id));
        for (const std::uint32_t id : changes.triggers_gone) note(Kind::Trigger, number_key(id));
        if (changes.policy) policy_version_ = version_;
    }

    // Sorts as the number does.
    static std::string number_key(std::uint32_t id) { return fmt::format("{:010}", id); }

    Result<void> add_change(Kind kind, const std::string& key, StateChanges& changes,
                            RowLoader& loader) const {
        const auto row_of = [&](const std::map<std::string, std::string>& rows) {
            const auto found = rows.find(key);
            return found == rows.end() ? nullptr : &found->second;
        };
        switch (kind) {
            case Kind::Job: {
                const JobId id{static_cast<std::uint32_t>(std::stoul(key))};
                const auto found = jobs_.find(id.value);
                if (found != jobs_.end()) return loader.add_job(id, found->second);
                changes.forgotten.push_back(id);
                return {};
            }
            case Kind::Node:
                return loader.add_node(key, *row_of(nodes_));
            case Kind::Reservation:
                if (const auto* row = row_of(reservations_)) {
                    return loader.add_reservation(key, *row);
                }
                changes.reservations_gone.push_back(key);
                return {};
            case Kind::Usage:
                if (const auto* row = row_of(usage_)) return loader.add_usage(key, *row);
                changes.usage_gone.push_back(key);
                return {};
            case Kind::Trigger: {
                const auto id = static_cast<std::uint32_t>(std::stoul(key));
                const auto found = triggers_.find(id);
                if (found != triggers_.end()) return loader.add_trigger(id, found->second);
                changes.triggers_gone.push_back(id);
                return {};
            }
        }
        return {};
    }

    void keep_usage(const BatchRows& rows) {
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
    std::map<std::uint32_t, std::string> triggers_;
    std::map<std::uint64_t, std::pair<std::size_t, std::string>> facts_;  // by number
    std::uint64_t last_fact_ = 0;
    std::map<std::string, std::string, std::less<>> blobs_;
    std::uint32_t next_job_id_ = 0;
    BlobRefs refs_;
    StateVersion version_ = 0;
    StateVersion policy_version_ = 0;
    std::map<std::pair<Kind, std::string>, StateVersion> changed_;  // last, also what is gone
};

}  // namespace

std::unique_ptr<Store> memory_store() {
    return std::make_unique<MemoryStore>();
}

}  // namespace sluice
