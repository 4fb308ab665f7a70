#include "core/schedule/gang.h"

#include <algorithm>

#include "core/job/suspend.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"

namespace sluice {

namespace {

std::uint32_t tier_of(const Cluster& cluster, const Job& job) {
    const Partition* partition = cluster.find_partition(job.partition);
    return partition ? partition->config.priority_tier : 0;
}

// Jobs that run on CPUs of the allocation, other than `id`.
std::vector<JobId> running_on(const Cluster& cluster, const Allocation& allocation, JobId id) {
    std::vector<JobId> found;
    for (const NodeShare& share : allocation.nodes) {
        std::vector<std::uint32_t> wanted = share.cpus;
        for (JobId other : cluster.node(share.node).jobs) {
            const Job& job = cluster.job(other);
            if (other == id || job.run.cpus_lent) continue;
            for (const NodeShare& theirs : job.run.allocation->nodes) {
                bool meets = theirs.node == share.node &&
                             std::find_first_of(theirs.cpus.begin(), theirs.cpus.end(),
                                                wanted.begin(), wanted.end()) != theirs.cpus.end();
                if (meets && std::find(found.begin(), found.end(), other) == found.end())
                    found.push_back(other);
            }
        }
    }
    return found;
}

// Jobs that are suspended for their CPUs, in the order in which they resume.
std::vector<JobId> in_turn(Cluster& cluster) {
    std::vector<JobId> order = cluster.waiting().suspended(cluster.jobs());
    std::stable_sort(order.begin(), order.end(), [&](JobId a, JobId b) {
        const Job &left = cluster.job(a), &right = cluster.job(b);
        std::uint32_t left_tier = tier_of(cluster, left), right_tier = tier_of(cluster, right);
        if (left_tier != right_tier) return left_tier > right_tier;
        return *left.run.suspend_time < *right.run.suspend_time;
    });
    return order;
}

void watch_slices(Cluster& cluster, Time now) {
    const PreemptSettings& preempt = cluster.settings().preempt;
    Scheduler& scheduler = cluster.scheduler();
    if (!preempt.gang || scheduler.slice_end || !cluster.waiting().any_suspended()) return;
    scheduler.slice_end = now + preempt.time_slice;
    cluster.add_timer({*scheduler.slice_end, TimerKind::TimeSlice, 0});
}

// Whether it shares CPUs, has no higher tier than `waiting` and has run for a time slice.
bool has_had_its_turn(const Cluster& cluster, const Job& job, const Job& waiting, Time now) {
    if (job.state != JobState::Running || is_completing(job)) return false;
    if (job.run.allocation->sharers <= 1 || tier_of(cluster, job) > tier_of(cluster, waiting))
        return false;
    Time since = std::max(*job.run.start_time, job.run.suspend_time.value_or(*job.run.start_time));
    return now >= since + cluster.settings().preempt.time_slice;
}

}  // namespace

void suspend_for_cpus(Cluster& cluster, Time now, JobId id, Effects& effects) {
    if (cluster.job(id).run.awaits_cpus || suspend_job(cluster, now, id, effects)) return;
    cluster.edit_job(id)->run.awaits_cpus = true;
    keep_suspended_for_cpus(cluster, cluster.job(id), now);
}

void keep_suspended_for_cpus(Cluster& cluster, const Job& job, Time now) {
    cluster.waiting().add_suspended(job.id);
    watch_slices(cluster, now);
}

void suspend_for_allocation(Cluster& cluster, Time now, const Allocation& allocation,
                            Effects& effects) {
    if (!cluster.settings().preempt.gang || allocation.sharers <= 1) return;
    for (JobId id : running_on(cluster, allocation, JobId{0})) {
        const Job& job = cluster.job(id);
        if (job.state == JobState::Running && !is_completing(job))
            suspend_for_cpus(cluster, now, id, effects);
    }
}

void resume_suspended_for_cpus(Cluster& cluster, Time now, Effects& effects) {
    if (!cluster.waiting().any_suspended()) return;
    for (JobId id : in_turn(cluster)) {
        if (may_resume(cluster, cluster.job(id))) resume_job(cluster, now, id, effects);
    }
}

void on_time_slice(Cluster& cluster, Time now, Effects& effects) {
    cluster.scheduler().slice_end.reset();
    for (JobId id : in_turn(cluster)) {
        std::shared_ptr<const Job> waiting = cluster.find_job(id);
        if (waiting->run.allocation->sharers <= 1) continue;
        std::vector<JobId> others = running_on(cluster, *waiting->run.allocation, id);
        bool its_turn = std::all_of(others.begin(), others.end(), [&](JobId other) {
            return has_had_its_turn(cluster, cluster.job(other), *waiting, now);
        });
        if (!its_turn) continue;
        for (JobId other : others) suspend_for_cpus(cluster, now, other, effects);
        if (may_resume(cluster, *waiting)) resume_job(cluster, now, id, effects);
    }
    cluster.want_pass();
    watch_slices(cluster, now);
}

}  // namespace sluice
