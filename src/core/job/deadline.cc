#include "core/job/deadline.h"

#include <algorithm>

#include "core/job/dependency.h"
#include "core/job/verbs.h"
#include "model/errors.h"

namespace sluice {

namespace {

// The least time that the job needs: --time-min, else --time. A limit that is only the partition's
// default may be cut to the time left.
Seconds needed_length(const JobTerms& demand) {
    for (const auto& limit : {demand.time_min, demand.time_limit}) {
        if (limit && !limit->unlimited()) return limit->length();
    }
    return Seconds{0};
}

Time latest_start(const JobTerms& demand) {
    return *demand.deadline - needed_length(demand);
}

}  // namespace

Result<void> check_deadline(const JobTerms& demand, Time now) {
    if (!demand.deadline) return {};
    Time earliest = std::max(now, demand.begin.value_or(now));
    if (earliest > latest_start(demand) || earliest >= *demand.deadline) {
        return Error{ErrorCode::InvalidTimeLimit, {}};
    }
    return {};
}

void watch_deadline(Cluster& cluster, const Job& job) {
    if (job.state != JobState::Pending || !job.request->deadline) return;
    cluster.add_timer({latest_start(*job.request) + Seconds{1}, TimerKind::Deadline, job.id.value});
}

void on_deadline_timer(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const Job& job = cluster.job(id);
    if (job.state != JobState::Pending || !job.request->deadline) return;
    if (now <= latest_start(*job.request)) return;  // the deadline was moved and has a new timer
    cluster.edit_job(id)->reason = Reason::DeadlinePassed;
    end_pending(cluster, now, id, JobState::Deadline, {}, effects);
    tell_of_end(cluster, now, id, effects);
}

TimeLimit limit_before_deadline(const Job& job, Time now) {
    if (!job.request->deadline) return job.time_limit;
    TimeLimit left{std::max(Seconds{1}, *job.request->deadline - now)};
    return std::min(job.time_limit, left);
}

}  // namespace sluice
