// core/job/update.cc: scontrol update JobId=. What has to happen when a changed draft of the job
// takes effect.
#include <fmt/format.h>

#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/possible.h"
#include "core/job/resize.h"
#include "core/job/update_fields.h"
#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/allowance.h"
#include "core/place/place.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/validate.h"

namespace sluice {

namespace {

// Only to where the owner could have sent it.
Result<void> check_move(const Cluster& cluster, const Caller& caller, JobDraft& draft) {
    if (draft.privileged) return {};
    draft.job.partition =
        TRY(partitions_taking(cluster, draft.job.partition, caller, draft.request));
    return {};
}

Result<void> check_draft(Cluster& cluster, const JobDraft& draft) {
    cluster.refresh_layout();
    if (draft.job.state != JobState::Pending) return {};
    Error why{ErrorCode::NodeConfigUnavailable, {}};
    for (const std::string& name : partitions_of(draft.job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) return Error{ErrorCode::InvalidPartition, name};
        Need need = TRY(need_of(cluster, draft.job, *partition));
        if (!on_idle_nodes(cluster, need).empty()) return check_limits(cluster, draft.job);
    }
    return why;
}

// The limit is the array's, whichever of its tasks was named.
void share_array_limit(Cluster& cluster, Time now, JobId array, std::uint32_t limit) {
    for (JobId id :
         find_jobs(cluster, {.job = array, .tasks = {}, .het_component = {}, .step = {}})) {
        const Job& job = cluster.job(id);
        if (is_finished(job.state) || job.array_limit == limit) continue;
        dequeue(cluster, job);
        cluster.edit_job(id).array_limit = limit;
        enqueue(cluster, cluster.job(id), now);
    }
}

Result<void> update_one(Cluster& cluster, Time now, const UpdateJob& event, JobId id,
                        Effects& effects) {
    auto job = cluster.find_job(id);
    if (!may_change(cluster, event.caller, *job)) return Error{ErrorCode::AccessDenied, {}};
    if (is_finished(job->state)) return Error{ErrorCode::JobIsOver, {}};
    JobDraft draft{*job, request_of(*job), is_privileged(cluster, event.caller), now, cluster};
    draft.job.priority = cluster.priority(id);
    for (const auto& [key, value] : event.changes) TRY(set_job_field(draft, key, value));
    TRY(validate(draft.job));
    TRY(validate(draft.request));
    if (draft.job.partition != job->partition) TRY(check_move(cluster, event.caller, draft));
    draft.job.request = cluster.shared(draft.request);
    draft.job.details = cluster.shared(PackedDetails(draft.request));
    bool asks_for_the_same =
        draft.job.request->shape == job->request->shape && draft.job.partition == job->partition;
    if (draft.job.request->shape != job->request->shape)
        TRY(check_names(cluster, draft.job.request->shape));
    if (!asks_for_the_same) TRY(check_draft(cluster, draft));
    // Compat: one that was held because no nodes would do is looked at anew after any change.
    bool is_let_go = draft.job.priority == 0 && draft.job.reason == Reason::BadConstraints;
    if (is_let_go) draft.job.reason = reason_to_wait(draft.job, now);
    dequeue(cluster, *job);
    std::vector<JobId> alone = job_is_gone(cluster, *job);  // perhaps it has another name now
    Job& changed = cluster.edit_job(id);
    changed = std::move(draft.job);
    job_is_here(cluster, changed);
    const bool is_smaller = changed.allocation != job->allocation;
    for (JobId next : alone) cluster.add_timer({now, TimerKind::Dependency, next.value});
    watch_deadline(cluster, changed);
    bool counts = is_let_go || is_calculated(changed);
    if (changed.state == JobState::Pending && counts) calculate_priority(cluster, changed);
    cluster.schedule_wanted = true;
    if (changed.state == JobState::Running) set_clocks(cluster, changed);
    if (is_live(changed)) cluster.touch_nodes_of(changed);
    std::optional<JobId> array = changed.array_job;
    std::uint32_t limit = changed.array_limit;
    if (changed.dependency.empty())
        enqueue(cluster, changed, now);
    else if (changed.state == JobState::Pending)
        wait_for_others(cluster, now, id, effects);
    if (array && limit != job->array_limit) share_array_limit(cluster, now, *array, limit);
    if (is_smaller) leave_nodes(cluster, now, job, effects);
    if (draft.handed_to) hand_over_nodes(cluster, now, id, *draft.handed_to, effects);
    return {};
}

Error update_too_large(std::size_t bytes, std::size_t tasks) {
    return {
        ErrorCode::BadArgument,
        fmt::format("values of {} bytes for {} array tasks: the limit is {} bytes in all, change "
                    "fewer tasks at a time",
                    bytes, tasks, sizes::kUpdateWork)};
}

}  // namespace

void on_update_job(Cluster& cluster, Time now, const UpdateJob& event, Effects& effects) {
    std::vector<JobId> ids = split_off(cluster, event.job);
    Result<void> outcome =
        ids.empty() ? Result<void>(Error{ErrorCode::InvalidJobId, {}}) : Result<void>();
    std::size_t bytes = 0;
    for (const auto& [key, value] : event.changes) bytes += value.size();
    if (bytes * ids.size() > sizes::kUpdateWork) {
        effects.push_back(Reply{event.request, update_too_large(bytes, ids.size())});
        return;
    }
    bool any = false;
    for (JobId id : ids) {
        if (ids.size() > 1 && is_finished(cluster.job(id).state)) continue;
        Result<void> done = update_one(cluster, now, event, id, effects);
        any = any || done.has_value();
        if (!done) outcome = done;
    }
    if (any)
        effects.push_back(Reply{event.request, Done{}});
    else if (outcome)
        effects.push_back(Reply{event.request, Error{ErrorCode::JobIsOver, {}}});
    else
        effects.push_back(Reply{event.request, outcome.error()});
}

}  // namespace sluice
