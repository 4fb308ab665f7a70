#include "core/schedule/dependents.h"

namespace sluice {

AwaitedKey awaited_key(const Condition& condition) {
    return {condition.job.value, condition.task.value_or(kWholeJob)};
}

bool Dependents::contains(const AwaitedKey& awaited, JobId job) const {
    auto found = jobs_.find(awaited);
    return found != jobs_.end() && found->second.contains(job);
}

std::set<JobId> Dependents::take(const AwaitedKey& awaited) {
    auto found = jobs_.find(awaited);
    if (found == jobs_.end()) return {};
    std::set<JobId> taken = std::move(found->second);
    jobs_.erase(found);
    return taken;
}

std::vector<AwaitedKey> Dependents::awaited_tasks(JobId array, const TaskSet& tasks) const {
    std::vector<AwaitedKey> keys;
    for (auto each = jobs_.lower_bound({array.value, 0});
         each != jobs_.end() && each->first.first == array.value; ++each) {
        const std::uint32_t task = each->first.second;
        if (task != kWholeJob && tasks.contains(task)) keys.push_back(each->first);
    }
    return keys;
}

}  // namespace sluice
