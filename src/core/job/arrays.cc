#include "core/job/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice {

std::span<const JobId> Arrays::tasks(JobId array) const {
    auto found = tasks_.find(array.value);
    if (found == tasks_.end()) return {};
    return found->second;
}

void Arrays::remove_task(JobId array, JobId task) {
    auto found = tasks_.find(array.value);
    if (found == tasks_.end()) return;
    std::erase(found->second, task);
    if (found->second.empty()) tasks_.erase(found);
}

std::uint32_t Arrays::running(JobId array) const {
    auto found = running_.find(array.value);
    return found == running_.end() ? 0 : found->second;
}

void Arrays::task_left(JobId array) {
    auto found = running_.find(array.value);
    if (found != running_.end() && --found->second == 0) running_.erase(found);
}

bool Arrays::note_begin(JobId array) {
    return !std::exchange(news_[array.value].has_begun, true);
}

TaskEndings Arrays::note_end(JobId array, const Job& task) {
    TaskEndings& endings = news_[array.value].endings;
    endings.add(task);
    return endings;
}

std::optional<std::string> Arrays::broken(const CowTable<Job>& jobs) const {
    std::optional<std::string> broken;
    std::size_t known = 0, counted = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> holding;
    jobs.for_each([&](const Job& job) {
        if (!job.array_job) return;
        if (job.run.allocation && (is_live(job) || is_completing(job)))
            ++holding[job.array_job->value];
        if (!is_task_record(job)) return;
        ++known;
        const std::span<const JobId> of_array = tasks(*job.array_job);
        if (std::find(of_array.begin(), of_array.end(), job.id) == of_array.end())
            broken = fmt::format("job {} is not among the tasks of its array", job.id.value);
    });
    for (const auto& [array, ids] : tasks_) counted += ids.size();
    if (broken) return broken;
    if (known != counted) return "an array has a task that does not exist";
    if (holding != running_) return "running tasks of arrays do not add up";
    return {};
}

}  // namespace sluice
