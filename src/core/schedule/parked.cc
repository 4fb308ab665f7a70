#include "core/schedule/parked.h"

#include <utility>

namespace sluice {

void Parked::add(const Job& job, Reason reason) {
    remove(job.id);
    Entry entry;
    if (reason == Reason::JobArrayTaskLimit) {
        entry = {WaitsFor::Task, *job.array_job};
        for_tasks_[entry.array.value].insert(job.id);
    } else if (reason == Reason::Licenses) {
        entry.what = WaitsFor::License;
        for_licenses_.insert(job.id);
    }
    jobs_.emplace(job.id, entry);
}

bool Parked::remove(JobId job) {
    auto found = jobs_.find(job);
    if (found == jobs_.end()) return false;
    if (found->second.what == WaitsFor::License) for_licenses_.erase(job);
    if (found->second.what == WaitsFor::Task) {
        auto tasks = for_tasks_.find(found->second.array.value);
        tasks->second.erase(job);
        if (tasks->second.empty()) for_tasks_.erase(tasks);
    }
    jobs_.erase(found);
    return true;
}

std::vector<JobId> Parked::take_all() {
    std::vector<JobId> taken;
    taken.reserve(jobs_.size());
    for (const auto& entry : jobs_) taken.push_back(entry.first);
    jobs_.clear();
    for_tasks_.clear();
    for_licenses_.clear();
    return taken;
}

std::vector<JobId> Parked::take(std::set<JobId> jobs) {
    for (JobId job : jobs) jobs_.erase(job);
    return {jobs.begin(), jobs.end()};
}

std::vector<JobId> Parked::take_tasks(JobId array) {
    auto found = for_tasks_.find(array.value);
    if (found == for_tasks_.end()) return {};
    std::set<JobId> tasks = std::move(found->second);
    for_tasks_.erase(found);
    return take(std::move(tasks));
}

std::vector<JobId> Parked::take_for_licenses() {
    return take(std::exchange(for_licenses_, {}));
}

}  // namespace sluice
