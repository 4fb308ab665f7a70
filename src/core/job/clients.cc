#include "core/job/clients.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

bool Clients::any_awaits_end_of(JobId job) const {
    auto waiting = waiters_.find(job.value);
    return waiting != waiters_.end() &&
           std::any_of(waiting->second.begin(), waiting->second.end(),
                       [](const Waiter& waiter) { return waiter.until == WaitFor::Ended; });
}

void Clients::add(JobId job, Waiter waiter) {
    if (waiter.until == WaitFor::Ended) gone_.erase(job.value);
    waiters_[job.value].push_back(waiter);
}

std::vector<std::pair<JobId, UserId>> Clients::drop(RequestId request) {
    std::vector<std::pair<JobId, UserId>> dropped;
    for (auto& [job, waiting] : waiters_) {
        std::erase_if(waiting, [&, id = JobId{job}](const Waiter& waiter) {
            if (waiter.request != request) return false;
            dropped.emplace_back(id, waiter.user);
            return true;
        });
    }
    std::erase_if(waiters_, [](const auto& entry) { return entry.second.empty(); });
    return dropped;
}

bool Clients::take_lost(JobId job, Time now) {
    auto found = gone_.find(job.value);
    if (found == gone_.end() || found->second > now) return false;
    gone_.erase(found);
    return true;
}

void Clients::shift(Seconds by) {
    for (auto& [job, end] : gone_) end += by;
}

std::optional<std::string> Clients::broken(const CowTable<Job>& jobs) const {
    for (const auto& [id, waiting] : waiters_) {
        const Job* job = jobs.peek(id);
        if (waiting.empty() || !job || is_over(*job))
            return fmt::format("a client waits for job {}, which is over", id);
    }
    for (const auto& [id, end] : gone_) {
        if (!jobs.peek(id)) return fmt::format("the client of job {} is gone, and the job too", id);
    }
    return {};
}

}  // namespace sluice
