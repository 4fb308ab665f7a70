// core/schedule/parked.h
//
// Pending jobs that wait for something other than free resources. They are queued again when a
// node, a partition or the configuration changes; a job that waits for the end of a task of its
// array, or for a licence, also when that has come.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "model/job.h"

namespace sluice {

class Parked {
public:
    bool empty() const { return jobs_.empty(); }
    std::size_t size() const { return jobs_.size(); }
    bool contains(JobId job) const { return jobs_.contains(job); }
    template <typename Visit>
    void for_each(Visit visit) const {  // in the order of their ids
        for (const auto& entry : jobs_) visit(entry.first);
    }
    const std::set<JobId>& for_licenses() const { return for_licenses_; }

    void add(const Job& job, Reason reason);
    bool remove(JobId job);  // returns whether it was there
    // These leave it, in the order of their ids.
    std::vector<JobId> take_all();
    std::vector<JobId> take_tasks(JobId array);
    std::vector<JobId> take_for_licenses();

private:
    enum class WaitsFor : std::uint8_t { Change, Task, License };
    struct Entry {
        WaitsFor what = WaitsFor::Change;
        JobId array;  // if it waits for a task
    };
    std::vector<JobId> take(std::set<JobId> jobs);

    std::map<JobId, Entry> jobs_;
    std::unordered_map<std::uint32_t, std::set<JobId>> for_tasks_;  // by array, none empty
    std::set<JobId> for_licenses_;
};

}  // namespace sluice
