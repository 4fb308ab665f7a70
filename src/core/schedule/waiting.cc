#include "core/schedule/waiting.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

namespace {

using Broken = std::optional<std::string>;

bool is_suspended_for_cpus(const Job& job) {
    return job.state == JobState::Suspended && job.run.awaits_cpus;
}

// A pending job that depends on others is told of them.
Broken dependency_broken(const Dependents& dependents, const Job& job) {
    for (const Condition& condition : job.dependency.left) {
        if (condition.kind == DependencyKind::Singleton || condition.failed) continue;
        if (!dependents.contains(awaited_key(condition), job.id))
            return fmt::format("job {} depends on job {} and is not told of it", job.id.value,
                               condition.job.value);
    }
    return {};
}

}  // namespace

WaitsIn WaitingJobs::place_of(const Job& job) const {
    if (is_suspended_for_cpus(job)) return WaitsIn::Suspension;
    if (job.state != JobState::Pending) return WaitsIn::Nothing;
    if (queue_.contains(job.id)) return WaitsIn::Queue;
    if (parked_.contains(job.id)) return WaitsIn::Parked;
    if (job.priority == 0) return WaitsIn::Hold;
    return job.dependency.empty() ? WaitsIn::BeginTime : WaitsIn::Dependency;
}

bool WaitingJobs::any() const {
    return !queue_.empty() || !parked_.empty() || !dependents_.empty() || !singletons_.empty() ||
           !suspended_.empty();
}

std::vector<JobId> WaitingJobs::suspended(const CowTable<Job>& jobs) {
    std::erase_if(suspended_, [&](JobId id) {
        const Job* job = jobs.peek(id.value);
        return !job || !is_suspended_for_cpus(*job);
    });
    return {suspended_.begin(), suspended_.end()};
}

WaitingJobs WaitingJobs::copy_for_questions() const {
    WaitingJobs copy;
    copy.queue_ = queue_.with_members_only();
    copy.singletons_ = singletons_;
    return copy;
}

std::optional<std::string> WaitingJobs::broken(const Cluster& cluster) const {
    const std::set<std::uint32_t> awaited_begins = cluster.subjects_of(TimerKind::Begin);
    std::size_t due = 0;
    Broken broken;
    cluster.jobs().for_each([&](const Job& job) {
        const auto say = [&](std::string_view what) {
            broken = fmt::format("job {} {}", job.id.value, what);
        };
        if (is_suspended_for_cpus(job) && !suspended_.contains(job.id))
            say("is suspended, and will not resume");
        const bool is_queued = queue_.contains(job.id), is_parked = parked_.contains(job.id);
        if (is_queued || is_parked) ++due;
        if (is_queued && is_parked) say("waits in two places");
        if (job.state != JobState::Pending) {
            if (is_queued || is_parked) say("is not pending, and waits");
            return;
        }
        const bool may_start = job.priority > 0 && job.dependency.empty();
        if (!may_start && is_due(job.id)) say("is held or depends on others, and waits");
        if (may_start && !is_due(job.id) && !awaited_begins.contains(job.id.value))
            say("is pending, and waits nowhere");
        if (Broken found = dependency_broken(dependents_, job)) broken = found;
    });
    if (broken) return broken;
    if (due != queue_.size() + parked_.size()) return "a job waits that does not exist";
    return singletons_.broken(cluster.jobs());
}

}  // namespace sluice
