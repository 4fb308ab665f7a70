// core/job/find.cc: the jobs that a reference names.
#include <algorithm>

#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/verbs.h"
#include "core/schedule/waiting.h"

namespace sluice {

std::vector<JobId> find_jobs(const Cluster& cluster, const JobRef& ref) {
    std::vector<JobId> found;
    auto record = cluster.find_job(ref.job);
    const std::span<const JobId> tasks = cluster.arrays().tasks(ref.job);
    if (!ref.tasks) {
        if (record) found.push_back(record->id);
        for (JobId id : tasks) {
            if (id != ref.job) found.push_back(id);
        }
        return found;
    }
    if (record && is_array_record(*record) && has_any_task(*record, *ref.tasks))
        found.push_back(record->id);
    for (JobId id : tasks) {
        if (has_any_task(cluster.job(id), *ref.tasks)) found.push_back(id);
    }
    return found;
}

// Gives tasks of an array a record of their own.
static JobId add_part(Cluster& cluster, Job part) {
    const JobId from = part.id;
    part.id = cluster.take_job_id();
    part.idempotency_key.clear();
    part.run.sluid = next_sluid(cluster, part);
    const Job& added = cluster.add_job(std::move(part));
    const JobId id = added.id;
    job_is_here(cluster, added);
    watch_dependency(cluster, added);
    watch_deadline(cluster, added);
    count_job(cluster, cluster.job(from));
    return id;
}

JobId split_task(Cluster& cluster, JobId array, std::uint32_t task) {
    CHECK(is_array_record(cluster.job(array)) && cluster.job(array).array_tasks.contains(task));
    cluster.edit_job(array)->array_tasks.erase(task);
    const Job& record = cluster.job(array);
    if (record.array_tasks.empty()) {
        // Compat: the last task keeps the array's own id.
        dequeue(cluster, record);
        cluster.edit_job(array)->array_task = task;
        if (cluster.job(array).array_job == array) cluster.arrays().add_task(array, array);
        return array;
    }
    Job job = record;
    job.array_task = task;
    job.array_tasks = {};
    return add_part(cluster, std::move(job));
}

void cut_off(Cluster& cluster, JobId array, const TaskSet& tasks) {
    const TaskSet& all = cluster.job(array).array_tasks;
    if (!all.intersects(tasks)) return;
    TaskSet cut, kept;
    all.for_each([&](std::uint32_t task) { (tasks.contains(task) ? cut : kept).insert(task); });
    if (cut.empty() || kept.empty()) return;
    if (cut.size() == 1) {
        split_task(cluster, array, cut.first());
        return;
    }
    cluster.edit_job(array)->array_tasks = std::move(kept);
    Job part = cluster.job(array);
    part.array_tasks = std::move(cut);
    add_part(cluster, std::move(part));
}

// The tasks of one record. If it waits for its begin time, so do they.
static void split_from(Cluster& cluster, JobId id, const TaskSet& wanted) {
    auto record = cluster.find_job(id);
    std::vector<std::uint32_t> tasks;
    record->array_tasks.for_each([&](std::uint32_t task) {
        if (wanted.contains(task)) tasks.push_back(task);
    });
    if (tasks.size() == record->array_tasks.size()) return;
    const bool is_due = cluster.waiting().is_due(id);
    for (std::uint32_t task : tasks) {
        const Job& job = cluster.job(split_task(cluster, id, task));
        if (job.run.end_time)
            cluster.add_timer({*job.run.end_time + cluster.settings().min_job_age,
                               TimerKind::Forget, job.id.value});
        else if (is_due)
            enqueue(cluster, job, job.eligible_time);
        else
            cluster.add_timer({job.eligible_time, TimerKind::Begin, job.id.value});
    }
}

std::vector<JobId> split_off(Cluster& cluster, const JobRef& ref,
                             const std::function<bool(const Job& record)>& may_split) {
    std::vector<JobId> ids = find_jobs(cluster, ref);
    if (!ref.tasks) return ids;
    for (JobId id : ids) {
        auto record = cluster.find_job(id);
        if (is_array_record(*record) && may_split(*record)) split_from(cluster, id, *ref.tasks);
    }
    return find_jobs(cluster, ref);
}

}  // namespace sluice
