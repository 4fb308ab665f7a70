// core/job/update.cc: scontrol update JobId=. Applies a changed draft of the job.
#include <fmt/format.h>

#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/possible.h"
#include "core/job/resize.h"
#include "core/job/update_fields.h"
#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/admission.h"
#include "core/limits/allowance.h"
#include "core/limits/usage.h"
#include "core/permission.h"
#include "core/place/place.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/validate.h"

namespace sluice {

namespace {

// The partitions must accept the changed job, as they would at submission.
Result<void> check_access(const Cluster& cluster, const Caller& caller, const Job& before,
                          JobDraft& draft) {
    if (may(draft.role, Action::UseAnyPartition)) return {};
    if (draft.job.partition != before.partition) {
        draft.job.partition =
            TRY(partitions_taking(cluster, draft.job.partition, caller, draft.request));
        return {};
    }
    const JobTerms &asked = *before.request, &asks = draft.request;
    const bool same_terms = asks.account == asked.account && asks.qos == asked.qos &&
                            asks.reservation == asked.reservation;
    if (same_terms) return {};
    for (const std::string& name : partitions_of(draft.job)) {
        const Partition* partition = cluster.find_partition(name);
        if (partition) TRY(takes_terms(partition->config, asks));
    }
    return {};
}

// Account, QOS and wckey of the changed job must be allowed to its user, also if an operator
// changes them. Compat: limits on the number of submitted jobs are not checked.
Result<void> check_charge(const Cluster& cluster, const Job& before, const JobDraft& draft) {
    const JobTerms &asked = *before.request, &asks = draft.request;
    if (asks.wckey != asked.wckey) TRY(check_wckey(cluster, before.user, asks.wckey));
    const bool moves = asks.account != asked.account || asks.qos != asked.qos ||
                       draft.job.partition != before.partition;
    if (!moves) return {};
    return check_charge_in_any(cluster, before.user, asks, draft.job.partition);
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

// The limit is that of the whole array, whichever of its tasks was named.
void share_array_limit(Cluster& cluster, Time now, JobId array, std::uint32_t limit) {
    for (JobId id :
         find_jobs(cluster, {.job = array, .tasks = {}, .het_component = {}, .step = {}})) {
        const Job& job = cluster.job(id);
        if (is_finished(job.state) || job.array_limit == limit) continue;
        dequeue(cluster, job);
        cluster.edit_job(id)->array_limit = limit;
        enqueue(cluster, cluster.job(id), now);
    }
}

// The job as it would be after the change, with all checks passed.
Result<JobDraft> checked_draft(Cluster& cluster, Time now, const UpdateJob& event, const Job& job) {
    const Role role = role_in(cluster, event.caller, job);
    TRY(permit(role, Action::UpdateJob));
    if (is_finished(job.state)) return Error{ErrorCode::JobIsOver, {}};
    JobDraft draft{job, request_of(job), role, now, cluster};
    draft.job.priority = cluster.priority(job.id);
    TRY(apply_change(draft, event.change));
    TRY(validate(draft.job));
    TRY(validate(draft.request));
    TRY(check_access(cluster, event.caller, job, draft));
    TRY(check_charge(cluster, job, draft));
    draft.job.request = cluster.shared(draft.request);
    draft.job.details = cluster.shared(PackedDetails(draft.request));
    const Shape &before = job.request->shape, &after = draft.job.request->shape;
    if (after != before) {
        TRY(check_names(cluster, after));
        if (after.core_spec != before.core_spec || after.thread_spec != before.thread_spec)
            TRY(check_spec_resources(cluster, after));
    }
    if (after != before || draft.job.partition != job.partition) TRY(check_draft(cluster, draft));
    return draft;
}

Result<void> update_one(Cluster& cluster, Time now, const UpdateJob& event, JobId id,
                        Effects& effects) {
    auto job = cluster.find_job(id);
    JobDraft draft = TRY(checked_draft(cluster, now, event, *job));
    // Compat: a job that was held because no node fits is tried again after any change.
    bool is_let_go = draft.job.priority == 0 && draft.job.reason == Reason::BadConstraints &&
                     !draft.job.admin_hold;
    if (is_let_go) draft.job.reason = reason_to_wait(draft.job, now);
    dequeue(cluster, *job);
    std::vector<JobId> alone = job_is_gone(cluster, *job);  // it may have a new name
    const bool counts = is_let_go || is_calculated(draft.job);
    if (draft.job.state == JobState::Pending && counts) calculate_priority(cluster, draft.job);
    if (is_live(*job)) {  // what it used so far is charged as it was until now
        Job before = *job;
        count_usage(cluster, now, before);
        draft.job.run.accounted = before.run.accounted;
    }
    *cluster.edit_job(id) = std::move(draft.job);
    const Job& changed = cluster.job(id);
    job_is_here(cluster, changed);
    const bool is_smaller = changed.run.allocation != job->run.allocation;
    for (JobId next : alone) cluster.add_timer({now, TimerKind::Dependency, next.value});
    watch_deadline(cluster, changed);
    cluster.want_pass();
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

// Bounds the cost, which grows with the values and with the tasks that get their own record.
Result<void> check_size(const Cluster& cluster, const UpdateJob& event,
                        const std::vector<JobId>& ids) {
    const std::size_t bytes = event.change.text_bytes();
    std::size_t count = 0;
    for (JobId id : ids) {
        const Job& job = cluster.job(id);
        const bool splits = event.job.tasks && !job.array_task;
        count += splits ? std::min(event.job.tasks->size(), job.array_tasks.size()) : 1;
    }
    if (bytes * count <= sizes::kUpdateWork) return {};
    return Error{
        ErrorCode::BadArgument,
        fmt::format("values of {} bytes for {} array tasks: the limit is {} bytes in all, change "
                    "fewer tasks at a time",
                    bytes, count, sizes::kUpdateWork)};
}

}  // namespace

void on_update_job(Cluster& cluster, Time now, const UpdateJob& event, Effects& effects) {
    if (event.job.step) return on_update_step(cluster, event, effects);
    std::vector<JobId> ids = find_jobs(cluster, event.job);
    Result<void> outcome = check_size(cluster, event, ids);
    if (outcome && ids.empty()) outcome = Error{ErrorCode::InvalidJobId, {}};
    // Tasks of a record that refuses the request are not split off: a refusal changes nothing.
    const auto is_allowed = [&](const Job& job) {
        return checked_draft(cluster, now, event, job).has_value();
    };
    ids = outcome ? split_off(cluster, event.job, is_allowed) : std::vector<JobId>{};
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
