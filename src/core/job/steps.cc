#include "core/job/steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

namespace {

bool is_running(const Job& job, StepId id) {
    return std::any_of(job.run.steps.begin(), job.run.steps.end(), [&](const auto& step) {
        return step->id == id && step->state == StepState::Running;
    });
}

}  // namespace

void Steps::await(StepWaiter waiter) {
    waiters_[waiter.demand.job.value].push_back(std::move(waiter));
}

std::vector<JobId> Steps::drop_waiters(RequestId request, Time until) {
    std::vector<JobId> numbered;
    for (auto& [job, waiting] : waiters_) {
        std::erase_if(waiting, [&, id = JobId{job}](const StepWaiter& waiter) {
            if (waiter.request != request) return false;
            if (waiter.demand.number) {
                keep_number(id, *waiter.demand.number, until);
                numbered.push_back(id);
            }
            return true;
        });
    }
    std::erase_if(waiters_, [](const auto& entry) { return entry.second.empty(); });
    return numbered;
}

void Steps::keep_number(JobId job, StepId step, Time until) {
    forget_number(job, step);
    numbers_[job.value].push_back({step, until});
}

bool Steps::cancel_number(JobId job, StepId step) {
    const auto numbers = numbers_.find(job.value);
    if (numbers == numbers_.end()) return false;
    for (StepNumber& number : numbers->second) {
        if (number.step == step) return number.cancelled = true;
    }
    return false;
}

bool Steps::any_numbered(JobId job) const {
    const auto numbers = numbers_.find(job.value);
    return numbers != numbers_.end() &&
           std::any_of(numbers->second.begin(), numbers->second.end(),
                       [](const StepNumber& number) { return !number.cancelled; });
}

bool Steps::is_cancelled(JobId job, StepId step) const {
    const auto numbers = numbers_.find(job.value);
    return numbers != numbers_.end() &&
           std::any_of(
               numbers->second.begin(), numbers->second.end(),
               [&](const StepNumber& number) { return number.step == step && number.cancelled; });
}

void Steps::forget_number(JobId job, StepId step) {
    erase_of(numbers_, job, [&](const StepNumber& number) { return number.step == step; });
}

void Steps::forget_numbers(JobId job, Time now) {
    const auto waiting = waiters_.find(job.value);
    erase_of(numbers_, job, [&](const StepNumber& number) {
        const bool is_awaited =
            waiting != waiters_.end() &&
            std::any_of(waiting->second.begin(), waiting->second.end(),
                        [&](const StepWaiter& each) { return each.demand.number == number.step; });
        return number.until <= now && !is_awaited;
    });
}

std::span<const StepGrant> Steps::grants(JobId job) const {
    auto found = grants_.find(job.value);
    if (found == grants_.end()) return {};
    return found->second;
}

std::vector<std::pair<JobId, StepId>> Steps::granted_to(RequestId request) const {
    std::vector<std::pair<JobId, StepId>> found;
    for (const auto& [job, grants] : grants_) {
        for (const StepGrant& grant : grants) {
            if (grant.request == request) found.emplace_back(JobId{job}, grant.step);
        }
    }
    return found;
}

StepGrant* Steps::find(JobId job, StepId step) {
    auto grants = grants_.find(job.value);
    if (grants == grants_.end()) return nullptr;
    for (StepGrant& grant : grants->second) {
        if (grant.step == step) return &grant;
    }
    return nullptr;
}

const StepGrant& Steps::grant(JobId job, const Step& step, RequestId request, Time until) {
    StepGrant* grant = find(job, step.id);
    if (!grant) {
        grant = &grants_[job.value].emplace_back(
            StepGrant{.step = step.id, .awaited = step.nodes_left});
    }
    grant->request = request;
    grant->until = until;
    return *grant;
}

void Steps::is_launched(JobId job, StepId step, NodeIndex node) {
    if (StepGrant* grant = find(job, step)) std::erase(grant->awaited, node);
}

void Steps::await_no_launch(JobId job, StepId step) {
    if (StepGrant* grant = find(job, step)) grant->awaited.clear();
}

void Steps::forget_ended(const Job& job) {
    erase_of(grants_, job.id, [&](const StepGrant& grant) { return !is_running(job, grant.step); });
}

void Steps::shift(Seconds by) {
    for (auto& [job, grants] : grants_) {
        for (StepGrant& grant : grants) grant.until += by;
    }
    for (auto& [job, numbers] : numbers_) {
        for (StepNumber& number : numbers) number.until += by;
    }
}

std::optional<std::string> Steps::broken(const CowTable<Job>& jobs) const {
    for (const auto& [id, waiting] : waiters_) {
        const Job* job = jobs.peek(id);
        if (waiting.empty() || !job || is_finished(job->state))
            return fmt::format("a step of job {} is awaited, which has ended", id);
    }
    for (const auto& [id, grants] : grants_) {
        const Job* job = jobs.peek(id);
        for (const StepGrant& grant : grants) {
            if (!job || !is_running(*job, grant.step))
                return fmt::format("step {}.{} is granted and does not run", id, grant.step.value);
        }
    }
    return {};
}

}  // namespace sluice
