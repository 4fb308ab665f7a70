// core/job/singleton.cc
//
// --dependency=singleton, and what else has to be known when a job appears, returns or ends.
#include <algorithm>

#include "core/job/dependency.h"
#include "core/limits/limit_book.h"
#include "core/schedule/waiting.h"

namespace sluice {

static bool is_singleton(const Job& job) {
    if (job.details->dependency().empty()) return false;
    Result<Dependency> asked = parse_dependency(job.details->dependency());
    return asked && !asked->any &&
           std::any_of(asked->left.begin(), asked->left.end(), [](const Condition& condition) {
               return condition.kind == DependencyKind::Singleton;
           });
}

bool may_run_alone(Cluster& cluster, const Job& job) {
    return cluster.waiting().singletons().may_run(job, cluster.jobs());
}

bool is_alone_still(Cluster& cluster, const Job& job) {
    return !is_singleton(job) || may_run_alone(cluster, job);
}

std::vector<JobId> earlier_of_name(const Cluster& cluster, const Job& job) {
    std::vector<JobId> earlier;
    const JobId self = Singletons::key_of(job).first;
    if (const auto* live = cluster.waiting().singletons().live_beside(job)) {
        for (const Singletons::Key& key : *live) {
            if (key.first < self) earlier.push_back(key.second);
        }
        return earlier;
    }
    cluster.jobs().for_each([&](const Job& other) {
        bool same = other.user == job.user && other.details->name() == job.details->name();
        if (same && Singletons::key_of(other).first < self && !is_over(other))
            earlier.push_back(other.id);
    });
    return earlier;
}

void job_is_here(Cluster& cluster, const Job& job) {
    count_job(cluster, job);
    cluster.waiting().singletons().put(job);
}

std::vector<JobId> job_is_gone(Cluster& cluster, const Job& job) {
    count_job(cluster, job);
    Singletons& singletons = cluster.waiting().singletons();
    singletons.drop(job);
    return singletons.next(job);
}

void job_is_back(Cluster& cluster, Time now, const Job& job) {
    count_job(cluster, job);
    Singletons& singletons = cluster.waiting().singletons();
    singletons.put(job);
    for (JobId next : singletons.next(job))
        cluster.add_timer({now, TimerKind::Dependency, next.value});
}

}  // namespace sluice
