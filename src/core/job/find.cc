// core/job/find.cc: which jobs somebody means, and what they may do to them.
#include <algorithm>

#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/verbs.h"
#include "core/schedule/scheduler.h"

namespace sluice {

bool is_privileged(const Cluster& cluster, const Caller& caller) {
    return caller.user.value == 0 || caller.user == cluster.settings().slurm_user;
}

bool may_change(const Cluster& cluster, const Caller& caller, const Job& job) {
    return job.user == caller.user || is_privileged(cluster, caller);
}

std::vector<JobId> find_jobs(const Cluster& cluster, const JobRef& ref) {
    std::vector<JobId> found;
    auto record = cluster.find_job(ref.job);
    auto members = cluster.array_members.find(ref.job.value);
    if (!ref.tasks) {
        if (record) found.push_back(record->id);
        if (members == cluster.array_members.end()) return found;
        for (JobId id : members->second) {
            if (id != ref.job) found.push_back(id);
        }
        return found;
    }
    if (record && is_array_record(*record)) {
        bool any = false;
        ref.tasks->for_each([&](std::uint32_t task) { any = any || record->array_tasks.contains(task); });
        if (any) found.push_back(record->id);
    }
    if (members == cluster.array_members.end()) return found;
    for (JobId id : members->second) {
        if (ref.tasks->contains(*cluster.job(id).array_task)) found.push_back(id);
    }
    return found;
}

JobId split_task(Cluster& cluster, JobId array, std::uint32_t task) {
    Job& record = cluster.edit_job(array);
    CHECK(is_array_record(record) && record.array_tasks.contains(task));
    record.array_tasks.erase(task);
    if (record.array_tasks.empty()) {
        // Compat: the last task keeps the array's own id.
        dequeue(cluster, record);
        record.array_task = task;
        cluster.array_members[array.value].push_back(array);
        return array;
    }
    Job job = record;
    job.id = cluster.take_job_id();
    job.array_task = task;
    job.array_tasks = {};
    job.idempotency_key.clear();
    job.sluid = next_sluid(cluster, job);
    const Job& split = cluster.add_job(std::move(job));
    JobId id = split.id;
    job_is_here(cluster, split);
    watch_dependency(cluster, split);
    watch_deadline(cluster, split);
    return id;
}

std::vector<JobId> split_off(Cluster& cluster, const JobRef& ref) {
    auto record = cluster.find_job(ref.job);
    if (ref.tasks && record && is_array_record(*record)) {
        std::vector<std::uint32_t> tasks;
        ref.tasks->for_each([&](std::uint32_t task) {
            if (record->array_tasks.contains(task)) tasks.push_back(task);
        });
        if (tasks.size() < record->array_tasks.size()) {
            // Where the record waits for its begin time, so do they.
            bool is_due = cluster.scheduler().queue.contains(record->id) || cluster.parked.contains(record->id);
            for (std::uint32_t task : tasks) {
                JobId id = split_task(cluster, ref.job, task);
                Time eligible = cluster.job(id).eligible_time;
                if (is_due) enqueue(cluster, cluster.job(id), eligible);
                else cluster.add_timer({eligible, TimerKind::Begin, id.value});
            }
        }
    }
    return find_jobs(cluster, ref);
}

}  // namespace sluice
