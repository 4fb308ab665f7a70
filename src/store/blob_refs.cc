// store/blob_refs.cc
//
// See blob_refs.h.
#include "store/blob_refs.h"

#include <map>
#include <unordered_set>

#include "base/check.h"

namespace sluice {

void BlobRefs::add(const Job& job) {
    set(job);
}

std::vector<std::string> BlobRefs::left_over(const ChangedRecords& changes) const {
    std::map<std::string, std::int64_t> change;
    const auto count = [&](const std::string& hash, int by) {
        if (!hash.empty()) change[hash] += by;
    };
    const auto uncount = [&](JobId job) {
        const auto named = jobs_.find(job.value);
        if (named == jobs_.end()) return;
        if (named->second.script) count(*named->second.script, -1);
        if (named->second.environment) count(*named->second.environment, -1);
    };
    const std::unordered_set<JobId> forgotten(changes.forgotten.begin(), changes.forgotten.end());
    for (const auto& job : changes.jobs) {
        if (forgotten.contains(job->id)) continue;
        uncount(job->id);
        count(job->details->script_hash(), 1);
        count(job->details->environment_hash(), 1);
    }
    for (const JobId job : forgotten) uncount(job);

    std::vector<std::string> gone;
    for (const auto& [hash, by] : change) {
        const auto now = counts_.find(hash);
        if (by < 0 && now != counts_.end() && now->second + by == 0) gone.push_back(hash);
    }
    return gone;
}

void BlobRefs::apply(const ChangedRecords& changes) {
    for (const auto& job : changes.jobs) set(*job);
    for (const JobId job : changes.forgotten) forget(job);
}

const std::string* BlobRefs::take(const std::string& hash) {
    if (hash.empty()) return nullptr;
    const auto entry = counts_.try_emplace(hash, 0).first;
    ++entry->second;
    return &entry->first;
}

void BlobRefs::drop(const std::string* hash) {
    if (!hash) return;
    const auto entry = counts_.find(*hash);
    CHECK(entry != counts_.end());
    if (--entry->second == 0) counts_.erase(entry);
}

void BlobRefs::set(const Job& job) {
    Named& named = jobs_[job.id.value];
    const Named before = named;
    named = {take(job.details->script_hash()), take(job.details->environment_hash())};
    drop(before.script);
    drop(before.environment);
}

void BlobRefs::forget(JobId job) {
    const auto named = jobs_.find(job.value);
    if (named == jobs_.end()) return;
    drop(named->second.script);
    drop(named->second.environment);
    jobs_.erase(named);
}

}  // namespace sluice
