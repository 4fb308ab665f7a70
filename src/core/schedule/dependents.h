// core/schedule/dependents.h
//
// Which jobs depend on which, so that the start or the end of a job only costs what depends on it.
// An entry stays when its job no longer depends on the other one: it is skipped when it is found.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/job.h"

namespace sluice {

// Which awaited job: its id or its array's, and the task; kWholeJob: the job or all of the array.
using AwaitedKey = std::pair<std::uint32_t, std::uint32_t>;
constexpr std::uint32_t kWholeJob = 0xffffffff;

AwaitedKey awaited_key(const Condition& condition);

class Dependents {
public:
    bool empty() const { return jobs_.empty(); }
    bool contains(const AwaitedKey& awaited, JobId job) const;
    void add(const AwaitedKey& awaited, JobId job) { jobs_[awaited].insert(job); }
    std::set<JobId> take(const AwaitedKey& awaited);  // removes them
    // The single tasks of the array, among these, that jobs depend on.
    std::vector<AwaitedKey> awaited_tasks(JobId array, const TaskSet& tasks) const;

private:
    std::map<AwaitedKey, std::set<JobId>> jobs_;
};

}  // namespace sluice
