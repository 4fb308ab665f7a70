// core/job/step_limit.cc
//
// The time limit of a step: when it ends, and scontrol update StepId=.
#include <algorithm>

#include "core/job/update_fields.h"
#include "core/job/verbs.h"
#include "core/permission.h"
#include "model/errors.h"

namespace sluice {

namespace {

// Without the time for which the job was suspended.
Time limit_end_of(const Job& job, const Step& step) {
    return step.start_time + step.time_limit.length() +
           std::max(job.run.suspended - step.suspended_before, Seconds{0});
}

bool has_limit(const Step& step) {
    return step.state == StepState::Running && !step.time_limit.unlimited() && !step.cancelled;
}

Result<TimeLimit> changed_limit(const TimeLimit& before, const JobChange& change) {
    const TimeLimit& given = *change.time_limit;
    if (change.time_limit_sign == 0) return given;
    if (given.unlimited() || before.unlimited()) return Error{ErrorCode::InvalidTimeLimit, {}};
    const Seconds length = before.length() + change.time_limit_sign * given.length();
    if (length <= Seconds{0}) return Error{ErrorCode::InvalidTimeLimit, {}};
    return TimeLimit{length};
}

Result<void> update_limit(Cluster& cluster, const UpdateJob& event, JobId id) {
    TRY(permit(role_in(cluster, event.caller, cluster.job(id)), Action::UpdateJob));
    {
        const Edit<Job> job = cluster.edit_job(id);
        auto found =
            std::find_if(job->run.steps.begin(), job->run.steps.end(), [&](const auto& step) {
                return step->id == *event.job.step && step->state == StepState::Running;
            });
        if (found == job->run.steps.end()) return Error{ErrorCode::InvalidJobId, {}};
        auto changed = std::make_shared<Step>(**found);
        changed->time_limit = TRY(changed_limit(changed->time_limit, event.change));
        *found = std::move(changed);
    }
    set_step_clocks(cluster, cluster.job(id));
    return {};
}

}  // namespace

void set_step_clocks(Cluster& cluster, const Job& job) {
    for (const auto& step : job.run.steps) {
        if (!has_limit(*step)) continue;
        cluster.add_timer({limit_end_of(job, *step), TimerKind::StepLimit, job.id.value});
    }
}

// Steps of a suspended job get their timers again when it continues.
void on_step_limit_timer(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const std::shared_ptr<const Job> job = cluster.find_job(id);
    if (job->state != JobState::Running || is_completing(*job)) return;
    for (const auto& step : job->run.steps) {
        if (has_limit(*step) && limit_end_of(*job, *step) <= now)
            end_step(cluster, id, step->id, StepEnding::TimeLimit, effects);
    }
}

void on_update_step(Cluster& cluster, const UpdateJob& event, Effects& effects) {
    const std::vector<JobId> ids = find_jobs(cluster, event.job);
    Result<void> outcome = Error{ErrorCode::InvalidJobId, {}};
    const bool is_limit_only =
        event.change.time_limit &&
        event.change == JobChange{.time_limit = event.change.time_limit,
                                  .time_limit_sign = event.change.time_limit_sign};
    if (!is_limit_only) outcome = Error{ErrorCode::NotSupported, "only TimeLimit of a step"};
    if (is_limit_only && ids.size() == 1) outcome = update_limit(cluster, event, ids.front());
    effects.push_back(
        Reply{event.request, outcome ? Answer{Done{}} : Answer{std::move(outcome).error()}});
}

}  // namespace sluice
