// core/job/top.cc: scontrol top. The named jobs come first, in the order given, among the jobs of
// the same user, partition, account and QOS. This is done by nice values: the first one gets the
// best priority of the group, and other jobs that would be before the last one go just below it.
#include <algorithm>
#include <set>

#include "core/job/verbs.h"
#include "core/permission.h"
#include "core/schedule/priority.h"
#include "model/errors.h"

namespace sluice {

namespace {

Result<JobId> job_to_move(const Cluster& cluster, const Caller& caller, const JobRef& ref) {
    auto job = cluster.find_job(ref.job);
    if (!job || ref.tasks) return Error{ErrorCode::InvalidJobId, {}};
    const bool by_users = cluster.settings().priority.user_top;
    TRY(permit(role_in(cluster, caller, *job), by_users ? Action::TopOwnJob : Action::TopJob));
    if (job->state != JobState::Pending)
        return Error{ErrorCode::JobFinished, "only a pending job can be moved"};
    if (job->priority == 0) return Error{ErrorCode::JobHeld, {}};
    if (job->partition.find(',') != std::string::npos) {
        return Error{ErrorCode::DisabledForJob, "the job waits in several partitions"};
    }
    return job->id;
}

bool same_group(const Job& a, const Job& b) {
    return a.user == b.user && a.partition == b.partition &&
           a.request->account == b.request->account && a.request->qos == b.request->qos;
}

// Changes the priority by means of the nice value.
void set_priority_by_nice(Cluster& cluster, JobId id, std::int64_t priority) {
    if (cluster.priority(id) == priority) return;
    constexpr std::int64_t kMost = 2147483645;
    JobTerms terms = *cluster.job(id).request;
    std::int64_t nice = std::int64_t{terms.nice} + cluster.priority(id) - priority;
    terms.nice = static_cast<std::int32_t>(std::clamp(nice, -kMost, kMost));
    cluster.edit_job(id)->request = cluster.shared(terms);
    place_in_queue(cluster, id, static_cast<std::uint32_t>(priority));
}

// The group's best priority, raised if it leaves too few values for all named jobs.
std::int64_t best_of(const std::vector<JobId>& group, const Cluster& cluster, std::size_t named) {
    std::int64_t best = static_cast<std::int64_t>(named) + 1;
    for (JobId id : group) best = std::max<std::int64_t>(best, cluster.priority(id));
    return best;
}

void reorder(Cluster& cluster, const std::vector<JobId>& asked) {
    auto first = cluster.find_job(asked.front());
    std::vector<JobId> group, named;
    cluster.jobs().for_each([&](const Job& job) {
        if (job.state != JobState::Pending || job.priority == 0 || !same_group(job, *first)) return;
        group.push_back(job.id);
    });
    std::set<JobId> known;
    for (JobId id : asked) {
        if (same_group(cluster.job(id), *first) && known.insert(id).second) named.push_back(id);
    }
    std::int64_t best = best_of(group, cluster, named.size());
    std::int64_t below = best - static_cast<std::int64_t>(named.size());
    for (JobId id : group) {
        if (known.contains(id)) continue;
        set_priority_by_nice(cluster, id, std::min<std::int64_t>(cluster.priority(id), below));
    }
    for (std::size_t i = 0; i < named.size(); ++i) {
        set_priority_by_nice(cluster, named[i], best - static_cast<std::int64_t>(i));
    }
}

}  // namespace

void on_top(Cluster& cluster, const ControlJobs& event, Effects& effects) {
    std::vector<JobResult> results;
    std::vector<JobId> asked;
    for (const JobRef& ref : event.jobs) {
        Result<JobId> id = job_to_move(cluster, event.caller, ref);
        if (id) asked.push_back(*id);
        results.push_back({to_string(ref), id ? std::nullopt : std::optional(id.error())});
    }
    // All or none.
    if (!asked.empty() && asked.size() == event.jobs.size()) reorder(cluster, asked);
    effects.push_back(Reply{event.request, std::move(results)});
}

}  // namespace sluice
