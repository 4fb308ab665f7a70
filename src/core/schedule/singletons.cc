#include "core/schedule/singletons.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cluster.h"

namespace sluice {

Singletons::GroupKey Singletons::group_of(const Job& job) {
    return {job.user, std::string(job.details->name())};
}

void Singletons::Group::put(const Job& job) {
    if (is_over(job)) return;
    live.insert(key_of(job));
    if (job.state != JobState::Pending) {
        started.insert(key_of(job));
        let_go.erase(job.id);
    } else {
        started.erase(key_of(job));
    }
}

bool Singletons::Group::is_first(const Job& job) const {
    const JobId self = key_of(job).first;
    if (!live.empty() && live.begin()->first < self) return false;
    return std::all_of(started.begin(), started.end(),
                       [&](const Key& key) { return key.first == self; });
}

const std::set<Singletons::Key>* Singletons::live_beside(const Job& job) const {
    if (groups_.empty()) return nullptr;
    auto found = groups_.find(group_of(job));
    return found == groups_.end() ? nullptr : &found->second.live;
}

Singletons::Group& Singletons::make(const Job& job, const CowTable<Job>& jobs) {
    Group& group = groups_[group_of(job)];
    jobs.for_each(
        [&](const ChunkSummary<Job>& summary) {
            return std::find(summary.users.begin(), summary.users.end(), job.user) !=
                   summary.users.end();
        },
        [&](const Job& other) {
            if (other.user == job.user && other.details->name() == job.details->name())
                group.put(other);
        });
    return group;
}

bool Singletons::may_run(const Job& job, const CowTable<Job>& jobs) {
    auto known = groups_.find(group_of(job));
    Group& group = known == groups_.end() ? make(job, jobs) : known->second;
    const bool is_first = group.is_first(job);
    (is_first ? group.waiting : group.let_go).erase(job.id);
    (is_first ? group.let_go : group.waiting).insert(job.id);
    return is_first;
}

void Singletons::put(const Job& job) {
    if (groups_.empty()) return;
    auto group = groups_.find(group_of(job));
    if (group != groups_.end()) group->second.put(job);
}

void Singletons::drop(const Job& job) {
    if (groups_.empty()) return;
    auto found = groups_.find(group_of(job));
    if (found == groups_.end()) return;
    Group& group = found->second;
    group.live.erase(key_of(job));
    group.started.erase(key_of(job));
    group.waiting.erase(job.id);
    group.let_go.erase(job.id);
    if (group.waiting.empty() && group.let_go.empty()) groups_.erase(found);
}

// Only the first job of the group, or the tasks of the first array.
std::vector<JobId> Singletons::next(const Job& job) const {
    if (groups_.empty()) return {};
    auto group = groups_.find(group_of(job));
    if (group == groups_.end()) return {};
    std::vector<JobId> next;
    for (const Key& key : group->second.live) {
        if (key.first != group->second.live.begin()->first) break;
        if (group->second.waiting.contains(key.second)) next.push_back(key.second);
    }
    return next;
}

std::optional<std::string> Singletons::Group::broken(const CowTable<Job>& jobs) const {
    for (const Key& key : live) {
        const Job* job = jobs.peek(key.second.value);
        if (!job || is_over(*job))
            return fmt::format("job {} has ended and is in a group of singletons",
                               key.second.value);
        if (started.contains(key) != (job->state != JobState::Pending))
            return fmt::format("a group of singletons has job {} in another state",
                               key.second.value);
    }
    for (const std::set<JobId>* pending : {&waiting, &let_go}) {
        for (JobId id : *pending) {
            const Job* job = jobs.peek(id.value);
            if (!job || job->state != JobState::Pending)
                return fmt::format("job {} does not wait as a singleton", id.value);
        }
    }
    return {};
}

std::optional<std::string> Singletons::broken(const CowTable<Job>& jobs) const {
    if (groups_.empty()) return {};
    for (const auto& [key, group] : groups_) {
        if (auto broken = group.broken(jobs)) return broken;
    }
    std::optional<std::string> broken;
    jobs.for_each([&](const Job& job) {
        const std::set<Key>* live = is_over(job) ? nullptr : live_beside(job);
        if (live && !live->contains(key_of(job)))
            broken = fmt::format("job {} is not in the group of its name", job.id.value);
    });
    return broken;
}

}  // namespace sluice
