// core/job/singleton.cc
//
// --dependency=singleton: one job of a user and name at a time, in the order of their ids. A group
// is kept only while one of its singletons has not started, so that other jobs cost nothing.
#include <algorithm>

#include "core/job/dependency.h"
#include "core/limits/limit_book.h"

namespace sluice {

namespace {

NameGroup::Key key_of(const Job& job) {
    return {job.array_job.value_or(job.id), job.id};
}

std::pair<UserId, std::string> group_key(const Job& job) {
    return {job.user, std::string(job.details->name())};
}

NameGroup* find_group(Cluster& cluster, const Job& job) {
    if (cluster.name_groups.empty()) return nullptr;
    auto found = cluster.name_groups.find(group_key(job));
    return found == cluster.name_groups.end() ? nullptr : &found->second;
}

void add_to(NameGroup& group, const Job& job) {
    if (is_over(job)) return;
    group.live.insert(key_of(job));
    if (job.state != JobState::Pending) {
        group.started.insert(key_of(job));
        group.let_go.erase(job.id);
    } else {
        group.started.erase(key_of(job));
    }
}

void drop_if_unused(Cluster& cluster, const Job& job, const NameGroup& group) {
    if (group.waiting.empty() && group.let_go.empty()) cluster.name_groups.erase(group_key(job));
}

// Singletons that may have waited for a job that has ended: only the first of those left.
std::vector<JobId> next_in(const NameGroup& group) {
    std::vector<JobId> next;
    for (const NameGroup::Key& key : group.live) {
        if (key.first != group.live.begin()->first) break;
        if (group.waiting.contains(key.second)) next.push_back(key.second);
    }
    return next;
}

bool is_singleton(const Job& job) {
    if (job.details->dependency().empty()) return false;
    Result<Dependency> asked = parse_dependency(job.details->dependency());
    return asked && !asked->any &&
           std::any_of(asked->left.begin(), asked->left.end(), [](const Condition& condition) {
               return condition.kind == DependencyKind::Singleton;
           });
}

NameGroup& make_group(Cluster& cluster, const Job& job) {
    NameGroup& group = cluster.name_groups[group_key(job)];
    cluster.jobs().for_each(
        [&](const ChunkSummary<Job>& summary) {
            return std::find(summary.users.begin(), summary.users.end(), job.user) !=
                   summary.users.end();
        },
        [&](const Job& other) {
            if (other.user == job.user && other.details->name() == job.details->name())
                add_to(group, other);
        });
    return group;
}

// Whether it is the first of the group and no other array or job of it runs.
bool is_first(const NameGroup& group, const Job& job) {
    JobId self = key_of(job).first;
    if (!group.live.empty() && group.live.begin()->first < self) return false;
    return std::all_of(group.started.begin(), group.started.end(),
                       [&](const NameGroup::Key& key) { return key.first == self; });
}

}  // namespace

bool may_run_alone(Cluster& cluster, const Job& job) {
    NameGroup* known = find_group(cluster, job);
    NameGroup& group = known ? *known : make_group(cluster, job);
    bool first = is_first(group, job);
    (first ? group.waiting : group.let_go).erase(job.id);
    (first ? group.let_go : group.waiting).insert(job.id);
    return first;
}

bool is_alone_still(Cluster& cluster, const Job& job) {
    return !is_singleton(job) || may_run_alone(cluster, job);
}

std::vector<JobId> earlier_of_name(const Cluster& cluster, const Job& job) {
    std::vector<JobId> earlier;
    JobId self = key_of(job).first;
    auto group = cluster.name_groups.find({job.user, std::string(job.details->name())});
    if (group != cluster.name_groups.end()) {
        for (const NameGroup::Key& key : group->second.live) {
            if (key.first < self) earlier.push_back(key.second);
        }
        return earlier;
    }
    cluster.jobs().for_each([&](const Job& other) {
        bool same = other.user == job.user && other.details->name() == job.details->name();
        if (same && key_of(other).first < self && !is_over(other)) earlier.push_back(other.id);
    });
    return earlier;
}

void job_is_here(Cluster& cluster, const Job& job) {
    count_job(cluster, job);
    if (NameGroup* group = find_group(cluster, job)) add_to(*group, job);
}

std::vector<JobId> job_is_gone(Cluster& cluster, const Job& job) {
    count_job(cluster, job);
    NameGroup* group = find_group(cluster, job);
    if (!group) return {};
    group->live.erase(key_of(job));
    group->started.erase(key_of(job));
    group->waiting.erase(job.id);
    group->let_go.erase(job.id);
    std::vector<JobId> next = next_in(*group);
    drop_if_unused(cluster, job, *group);
    return next;
}

void job_is_back(Cluster& cluster, Time now, const Job& job) {
    count_job(cluster, job);
    NameGroup* group = find_group(cluster, job);
    if (!group) return;
    add_to(*group, job);
    for (JobId next : next_in(*group)) cluster.add_timer({now, TimerKind::Dependency, next.value});
}

}  // namespace sluice
