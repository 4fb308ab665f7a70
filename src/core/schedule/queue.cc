#include "core/schedule/queue.h"

#include <algorithm>

#include "base/text.h"
#include "core/limits/allowance.h"
#include "core/limits/reservations.h"
#include "core/place/data.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"
#include "model/job_hash.h"

namespace sluice {

namespace {

// Also records the class in the job; returns whether a pass is worthwhile.
bool add_to_queue(Cluster& cluster, JobId id, const std::string& reservations) {
    Queue& queue = cluster.waiting().queue();
    bool is_of_interest = queue.add(cluster.job(id), cluster.priority(id), reservations,
                                    limit_groups_of(cluster, cluster.job(id)));
    ClassIndex index = queue.find_class(id)->index;
    if (cluster.job(id).wait_class != index) cluster.edit_shown(id)->wait_class = index;
    return is_of_interest;
}

std::string stage_in_of(const Job& job) {
    return job.details ? std::string(job.details->text(&JobDetails::stage_in)) : std::string();
}

std::size_t hash_of(const Job& job, UserId user, const LimitGroups& groups) {
    Hash hash;
    hash.add_all(job.partition, job.time_limit, user.value, hash_of(job.request->shape),
                 job.request->qos, job.request->reservation, stage_in_of(job));
    for (std::uint32_t group : groups) hash.add_all(group);
    return hash.value();
}

}  // namespace

UserId Queue::user_that_matters(const Job& job) const {
    return grouping_.by_user || job.request->shape.exclusive == Exclusive::User ? job.user
                                                                                : kNobody;
}

bool Queue::is_of(const JobClass& job_class, const Job& job) const {
    const JobTerms& sample = *job_class.sample;
    const JobTerms& request = *job.request;
    if (job_class.partition != job.partition || job_class.time_limit != job.time_limit)
        return false;
    if (job_class.user != user_that_matters(job)) return false;
    if (job_class.stage_in != stage_in_of(job)) return false;
    if (job_class.sample == job.request) return true;
    return sample.shape == request.shape && sample.licenses == request.licenses &&
           sample.time_min == request.time_min && sample.reservation == request.reservation &&
           sample.qos == request.qos && may_delay_others(sample) == may_delay_others(request) &&
           (!grouping_.by_account || sample.account == request.account);
}

void regroup_queue(Cluster& cluster) {
    Queue& queue = cluster.waiting().queue();
    const QueueGrouping before = queue.grouping();
    const QueueGrouping wanted{
        before.by_user || cluster.depends_on_users() || limits_users(cluster),
        before.by_account || limits_accounts(cluster),
        limits_associations(cluster) ? cluster.associations_version() : 0};
    if (wanted == before) return;
    std::vector<std::pair<JobId, std::string>> waiting;
    queue.for_each_class([&](JobClass& job_class) {
        for (const QueueKey& key : job_class.waiting)
            waiting.emplace_back(key.job, job_class.reservations);
    });
    for (const auto& [id, reservations] : waiting) queue.remove({cluster.priority(id), id});
    queue.set_grouping(wanted);
    for (const auto& [id, reservations] : waiting) add_to_queue(cluster, id, reservations);
    cluster.scheduler().is_planned = false;
}

ClassIndex Queue::index_of(const Job& job, const std::string& reservations,
                           const LimitGroups& groups) {
    std::size_t key = hash_of(job, user_that_matters(job), groups);
    auto [from, to] = by_key_.equal_range(key);
    for (auto entry = from; entry != to; ++entry) {
        const JobClass& known = *classes_[entry->second];
        if (known.reservations == reservations && known.limit_groups == groups && is_of(known, job))
            return entry->second;
    }
    // Empty classes are kept for a while: similar jobs often follow.
    constexpr std::size_t kEmptyMost = 1024;
    if (empty_ > kEmptyMost) {
        std::erase_if(by_key_, [&](const auto& entry) {
            bool unused = classes_[entry.second]->waiting.empty();
            if (unused) {
                classes_[entry.second].reset();
                free_.push_back(entry.second);
            }
            return unused;
        });
        empty_ = 0;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<ClassIndex>(classes_.size()));
        classes_.emplace_back();
    }
    ClassIndex index = free_.back();
    free_.pop_back();
    auto& added = classes_[index] = std::make_unique<JobClass>();
    added->index = index;
    added->sample = job.request;
    added->partition = job.partition;
    added->time_limit = job.time_limit;
    added->user = user_that_matters(job);
    added->stage_in = stage_in_of(job);
    added->reservations = reservations;
    added->limit_groups = groups;
    by_key_.emplace(key, index);
    ++empty_;
    return index;
}

bool Queue::add(const Job& job, std::uint32_t priority, const std::string& reservations,
                const LimitGroups& groups) {
    ClassIndex index = index_of(job, reservations, groups);
    JobClass& job_class = *classes_[index];
    if (job_class.waiting.empty()) --empty_;
    auto [place, is_new] = job_class.waiting.insert({priority, job.id});
    by_job_[job.id.value] = index;
    members_.insert(job.id);
    if (job.reason != Reason::None) come_back_.insert(job.id);
    bool is_first = place == job_class.waiting.begin();
    job_class.is_fresh = job_class.is_fresh || is_first;
    bool may_be_booked = job_class.waiting.size() <= kBookingsPerClass;
    if (!is_first && may_be_booked && (!job_class.joined || *place < *job_class.joined))
        job_class.joined = *place;
    return is_first || may_be_booked;
}

void Queue::remove(const QueueKey& key) {
    auto found = by_job_.find(key.job.value);
    if (found == by_job_.end()) return;
    JobClass& job_class = *classes_[found->second];
    CHECK(job_class.waiting.erase(key) == 1);
    if (job_class.waiting.empty()) {
        ++empty_;
        job_class.obstacle = {};
    }
    by_job_.erase(found);
    members_.erase(key.job);
    come_back_.erase(key.job);
}

void Queue::move(const QueueKey& from, std::uint32_t priority) {
    auto found = by_job_.find(from.job.value);
    if (found == by_job_.end()) return;
    JobClass& job_class = *classes_[found->second];
    job_class.waiting.erase(from);
    job_class.waiting.insert({priority, from.job});
    job_class.is_fresh = true;
}

void Queue::sort(JobClass& job_class) {
    std::vector<QueueKey> keys(job_class.waiting.begin(), job_class.waiting.end());
    std::sort(keys.begin(), keys.end());
    job_class.waiting = std::set<QueueKey>(keys.begin(), keys.end());
}

const JobClass* Queue::find_class(JobId job) const {
    auto found = by_job_.find(job.value);
    return found == by_job_.end() ? nullptr : classes_[found->second].get();
}

std::vector<JobClass::InPartition>& needs_of(Cluster& cluster, JobClass& job_class) {
    if (job_class.needs_version != cluster.scheduler().layout_version) {
        job_class.needs_version = cluster.scheduler().layout_version;
        job_class.needs.clear();
        Job job{
            .request = job_class.sample, .user = job_class.user, .partition = job_class.partition};
        for (const std::string& name : partitions_of(job)) {
            const Partition* partition = cluster.find_partition(name);
            if (!partition) continue;
            JobClass::InPartition entry{
                .partition = static_cast<std::size_t>(partition - cluster.partitions().data())};
            if (Result<Need> need = need_of(cluster, job, *partition))
                entry.need = *std::move(need);
            else
                entry.error = need.error();
            job_class.needs.push_back(std::move(entry));
        }
    }
    for (JobClass::InPartition& entry : job_class.needs) {
        entry.need.partition = &cluster.partitions()[entry.partition];
        entry.need.datasets = datasets_on_nodes(cluster, job_class.stage_in);
    }
    return job_class.needs;
}

void enqueue(Cluster& cluster, const Job& job, Time now) {
    if (job.state != JobState::Pending || job.priority == 0 || !job.dependency.empty()) return;
    if (job.eligible_time > now) {
        cluster.add_timer({job.eligible_time, TimerKind::Begin, job.id.value});
        return;
    }
    // A job behind many others of its class, none of which can start, needs no pass.
    JobId id = job.id;
    cluster.waiting().parked().remove(id);  // an outdated timer may queue it
    bool is_of_interest = add_to_queue(cluster, id, usable_reservations(cluster, job));
    if (is_of_interest || cluster.job(id).reason != Reason::None)
        cluster.want_pass_for_new_jobs();
    else
        cluster.add_timer({now + kPlanSoon, TimerKind::Plan, 0});
}

void dequeue(Cluster& cluster, const Job& job) {
    cluster.waiting().queue().remove({cluster.priority(job.id), job.id});
    cluster.waiting().parked().remove(job.id);
}

void park(Cluster& cluster, JobId id, Reason reason, std::string detail) {
    cluster.waiting().queue().remove({cluster.priority(id), id});
    const Job& before = cluster.job(id);
    cluster.waiting().parked().add(before, reason);
    if (before.reason == reason && before.reason_detail == detail) return;
    const Edit<Job> job = cluster.edit_job(id);
    job->reason = reason;
    job->reason_detail = std::move(detail);
}

void unpark_all(Cluster& cluster, Time now) {
    for (JobId id : cluster.waiting().parked().take_all()) enqueue(cluster, cluster.job(id), now);
}

void unpark_for_licenses(Cluster& cluster, Time now) {
    for (JobId id : cluster.waiting().parked().take_for_licenses())
        enqueue(cluster, cluster.job(id), now);
}

// Sorts by time, unique per run: seconds, then the job id and the restart count.
std::uint64_t next_sluid(Cluster&, const Job& job) {
    auto seconds = static_cast<std::uint64_t>(to_unix(job.submit_time));
    return seconds << 32 | (static_cast<std::uint64_t>(job.id.value) << 4 & 0xffffffff) |
           (job.run.restarts & 0xf);
}

}  // namespace sluice
