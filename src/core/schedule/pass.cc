// core/schedule/pass.cc
//
// Who goes next. Partitions by tier, jobs by priority; the first job of a partition that finds no
// place holds the place of all behind it. Costs what starts, not what waits.
#include <algorithm>

#include "core/job/verbs.h"
#include "core/limits/licenses.h"
#include "core/place/place.h"
#include "core/schedule/queue.h"

namespace sluice {

namespace {

enum class Outcome { Started, Blocked, Parked };

std::optional<Reason> partition_forbids(const Job& job, const Partition& partition) {
    const PartitionConfig& config = partition.config;
    if (config.state == "DOWN" || config.state == "INACTIVE") {
        return config.state == "DOWN" ? Reason::PartitionDown : Reason::PartitionInactive;
    }
    if (job.time_limit > config.max_time) return Reason::PartitionTimeLimit;
    const Shape& shape = job.request->shape;
    bool too_many = config.max_nodes && shape.nodes_min > *config.max_nodes;
    bool too_few = shape.nodes_max && *shape.nodes_max < config.min_nodes;
    if (too_many || too_few) return Reason::PartitionNodeLimit;
    return {};
}

bool array_limit_reached(const Cluster& cluster, const Job& job) {
    if (!job.array_job || job.array_limit == 0) return false;
    auto running = cluster.array_running.find(job.array_job->value);
    return running != cluster.array_running.end() && running->second >= job.array_limit;
}

// The partition's node counts apply to jobs that set none themselves.
void apply_partition_limits(Need& need, const Partition& partition) {
    need.nodes_min = std::max(need.nodes_min, partition.config.min_nodes);
    if (partition.config.max_nodes) {
        need.nodes_max = std::min(need.nodes_max.value_or(*partition.config.max_nodes),
                                  *partition.config.max_nodes);
    }
}

Outcome try_start(Cluster& cluster, Time now, JobId id, const Partition& partition, Effects& effects) {
    std::shared_ptr<const Job> job = cluster.find_job(id);
    if (auto reason = partition_forbids(*job, partition)) {
        park(cluster, id, partition.config.name, *reason, {});
        return Outcome::Parked;
    }
    if (array_limit_reached(cluster, *job)) {
        park(cluster, id, partition.config.name, Reason::JobArrayTaskLimit, {});
        cluster.array_waiting[job->array_job->value].insert(id);
        return Outcome::Parked;
    }
    if (auto reason = licenses_missing(cluster, *job)) {
        park(cluster, id, partition.config.name, *reason, {});
        cluster.license_waiting.insert(id);
        return Outcome::Parked;
    }
    Result<Need> need = need_of(cluster, *job, partition);
    if (!need) {
        park(cluster, id, partition.config.name, Reason::BadConstraints, need.error().detail);
        return Outcome::Parked;
    }
    apply_partition_limits(*need, partition);
    Placement placement = place(cluster, *need);
    if (placement.allocation) {
        start_job(cluster, now, id, *std::move(placement.allocation), partition.config.name, effects);
        return Outcome::Started;
    }
    if (placement.obstacle != Obstacle::Busy) {
        park(cluster, id, partition.config.name, Reason::ReqNodeNotAvail, placement.detail);
        return Outcome::Parked;
    }
    return Outcome::Blocked;
}

void set_blocked(Cluster& cluster, std::size_t index, std::optional<JobId> job) {
    if (cluster.partitions()[index].first_blocked == job) return;
    cluster.edit_partitions()[index].first_blocked = job;
}

// A job that waits for its turn or a place has no reason of its own: see query/.
void clear_reason(Cluster& cluster, JobId id) {
    const Job& job = cluster.job(id);
    if (job.reason == Reason::None) return;
    Job& changed = cluster.edit_job(id);
    changed.reason = Reason::None;
    changed.reason_detail.clear();
}

void schedule_partition(Cluster& cluster, Time now, std::size_t index, Effects& effects) {
    const std::string name = cluster.partitions()[index].config.name;
    for (;;) {
        auto queue = cluster.queue.find(name);
        if (queue == cluster.queue.end()) return set_blocked(cluster, index, {});
        JobId id = queue->second.begin()->job;
        auto partitions = cluster.partitions_ptr();  // holds them while jobs start
        if (try_start(cluster, now, id, (*partitions)[index], effects) != Outcome::Blocked) continue;
        clear_reason(cluster, id);
        return set_blocked(cluster, index, id);
    }
}

}  // namespace

void schedule(Cluster& cluster, Time now, Effects& effects) {
    if (!cluster.schedule_wanted) return;
    cluster.schedule_wanted = false;
    std::vector<std::size_t> order(cluster.partitions().size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return cluster.partitions()[a].config.priority_tier > cluster.partitions()[b].config.priority_tier;
    });
    for (std::size_t index : order) schedule_partition(cluster, now, index, effects);
}

}  // namespace sluice
