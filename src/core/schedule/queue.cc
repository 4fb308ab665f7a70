#include "core/schedule/queue.h"

#include "base/text.h"

namespace sluice {

namespace {
void leave(Cluster& cluster, const Job& job, const std::string& partition) {
    auto queue = cluster.queue.find(partition);
    if (queue == cluster.queue.end()) return;
    queue->second.erase({job.priority, job.id});
    if (queue->second.empty()) cluster.queue.erase(queue);
}
}  // namespace

std::vector<std::string> partitions_of(const Job& job) {
    std::vector<std::string> names;
    for (std::string_view name : split(job.partition, ',')) {
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

void enqueue(Cluster& cluster, const Job& job, Time now) {
    if (job.state != JobState::Pending || job.priority == 0) return;
    if (job.eligible_time > now) {
        cluster.add_timer({job.eligible_time, TimerKind::Begin, job.id.value});
        return;
    }
    for (const std::string& partition : partitions_of(job)) {
        cluster.queue[partition].insert({job.priority, job.id});
    }
    cluster.schedule_wanted = true;
}

void dequeue(Cluster& cluster, const Job& job) {
    for (const std::string& partition : partitions_of(job)) leave(cluster, job, partition);
    cluster.parked.erase(job.id);
}

void park(Cluster& cluster, JobId id, const std::string& partition, Reason reason, std::string detail) {
    leave(cluster, cluster.job(id), partition);
    cluster.parked.insert(id);
    const Job& before = cluster.job(id);
    if (before.reason == reason && before.reason_detail == detail) return;
    Job& job = cluster.edit_job(id);
    job.reason = reason;
    job.reason_detail = std::move(detail);
}

void unpark_all(Cluster& cluster, Time now) {
    std::set<JobId> parked = std::move(cluster.parked);
    cluster.parked.clear();
    for (JobId id : parked) {
        if (auto job = cluster.find_job(id)) enqueue(cluster, *job, now);
    }
}

// Sorts by time, unique per run: seconds, then the job id and the restart count.
std::uint64_t next_sluid(Cluster&, const Job& job) {
    auto seconds = static_cast<std::uint64_t>(to_unix(job.submit_time));
    return seconds << 32 | (static_cast<std::uint64_t>(job.id.value) << 4 & 0xffffffff) |
           (job.restarts & 0xf);
}

}  // namespace sluice
