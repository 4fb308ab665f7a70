#include "core/job/update_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/job/dependency.h"
#include "core/job/resize.h"
#include "core/job/verbs.h"
#include "core/limits/admission.h"
#include "core/limits/licenses.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/job_change_fields.h"
#include "model/times.h"

namespace sluice {

namespace {

Result<void> only_pending(const JobDraft& draft) {
    if (draft.job.state == JobState::Pending) return {};
    return Error{is_live(draft.job) ? ErrorCode::JobNotPending : ErrorCode::JobFinished, {}};
}

// Mostly sent by the job itself: the work done until then is saved.
Result<void> set_checkpoint(JobDraft& draft, Time saved) {
    if (!is_live(draft.job)) return Error{ErrorCode::JobNotRunning, {}};
    if (saved > draft.now || saved < *draft.job.run.start_time) {
        return Error{ErrorCode::BadArgument,
                     "LastCheckpoint: a time since the start of the job is needed"};
    }
    draft.job.run.last_checkpoint = saved;
    return {};
}

Result<void> change_limit(JobDraft& draft, TimeLimit limit) {
    bool longer = limit > draft.job.time_limit;
    if (longer && is_live(draft.job)) TRY(permit(draft.role, Action::LengthenRunningJob));
    draft.job.time_limit = limit;
    draft.request.time_limit = limit;
    return {};
}

Result<void> set_time_limit(JobDraft& draft, TimeLimit limit, int sign) {
    if (sign != 0) {
        const Error wrong{
            ErrorCode::BadArgument,
            fmt::format("TimeLimit{}={}: the limit is {}", sign > 0 ? '+' : '-',
                        print_time_limit(limit), print_time_limit(draft.job.time_limit))};
        if (limit.unlimited() || draft.job.time_limit.unlimited()) return wrong;
        limit = TimeLimit{draft.job.time_limit.length() + sign * limit.length()};
        if (limit.length().count() <= 0) return wrong;
    }
    return change_limit(draft, limit);
}

// Sets the time limit that makes it end at that time.
Result<void> set_end_time(JobDraft& draft, Time end) {
    // The end of a suspended job is unknown.
    bool runs = is_live(draft.job) && draft.job.state == JobState::Running;
    if (!runs) return Error{ErrorCode::JobNotRunning, {}};
    if (end <= draft.now) return Error{ErrorCode::InvalidTime, {}};
    return change_limit(draft,
                        TimeLimit{end - *draft.job.run.start_time - draft.job.run.suspended});
}

Result<void> set_priority(JobDraft& draft, std::uint32_t priority) {
    TRY(only_pending(draft));
    if (priority > draft.job.priority) TRY(permit(draft.role, Action::RaisePriority));
    draft.job.priority = priority;
    // Compat: the nice value is reset, and only hold and release bring the calculation back.
    draft.job.priority_by_hand = priority > 0;
    draft.request.nice = 0;
    // The owner cannot weaken the hold of an administrator.
    const bool stays = draft.job.admin_hold && !may(draft.role, Action::ReleaseAdminHold);
    draft.job.admin_hold = priority == 0 && (stays || may(draft.role, Action::HoldAsAdmin));
    Reason before = draft.job.reason;
    bool was_held = before == Reason::JobHeldAdmin || before == Reason::JobHeldUser ||
                    before == Reason::ReservationDeleted || before == Reason::BadConstraints;
    if (priority > 0 && !was_held) return {};
    draft.job.reason_detail.clear();
    draft.job.reason = priority == 0 ? reason_of_hold(draft.job) : Reason::None;
    return {};
}

Result<void> set_nice(JobDraft& draft, std::int32_t nice) {
    TRY(only_pending(draft));
    if (nice < 0) TRY(permit(draft.role, Action::RaisePriority));
    std::int64_t priority = std::int64_t{draft.job.priority} + draft.request.nice - nice;
    draft.request.nice = nice;
    if (draft.job.priority_by_hand) {
        draft.job.priority =
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(priority, 1, 0xfffffffe));
    }
    return {};
}

// What an administrator adds to the calculated priority.
Result<void> set_site_factor(JobDraft& draft, std::int32_t factor) {
    TRY(only_pending(draft));
    TRY(permit(draft.role, Action::SetSiteFactor));
    draft.job.site_factor = factor;
    return {};
}

Result<void> set_partition(JobDraft& draft) {
    draft.job.partition = draft.request.partition;
    if (partitions_of(draft.job).empty()) return Error{ErrorCode::InvalidPartition, {}};
    return {};
}

void set_begin(JobDraft& draft, Time begin) {
    draft.job.eligible_time = std::max(begin, draft.now);
    if (draft.job.priority > 0)
        draft.job.reason = begin > draft.now ? Reason::BeginTime : Reason::None;
}

Result<void> set_dependency(JobDraft& draft, const std::string& text) {
    if (draft.job.state != JobState::Pending) return Error{ErrorCode::JobNotPending, {}};
    draft.job.dependency =
        TRY(resolve_dependency(draft.cluster, text, draft.job.array_job.value_or(draft.job.id)));
    TRY(check_expansion(draft.cluster, draft.job, text));
    if (draft.job.priority > 0) draft.job.reason = Reason::None;
    return {};
}

Result<void> set_reservation(JobDraft& draft) {
    TRY(check_reservations(draft.cluster, draft.job.user, draft.request));
    if (draft.job.reason == Reason::Reservation) draft.job.reason = Reason::None;
    return {};
}

// These stay as they are once the job has started.
bool changes_waiting(const Patch<JobTerms>& terms) {
    return terms.has(&JobTerms::partition) || terms.has(&JobTerms::begin) ||
           terms.has(&JobTerms::licenses) || terms.has(&JobTerms::reservation) ||
           terms.has(&JobTerms::time_min) || terms.has(&JobTerms::deadline) ||
           terms.has(&JobTerms::account) || terms.has(&JobTerms::qos);
}

Result<void> set_terms(JobDraft& draft, const Patch<JobTerms>& terms) {
    using T = JobTerms;
    if (changes_waiting(terms)) TRY(only_pending(draft));
    if (terms.has(&T::nice)) TRY(set_nice(draft, terms.values.nice));
    terms.apply_to(draft.request);
    if (terms.has(&T::partition)) TRY(set_partition(draft));
    if (terms.has(&T::account) || terms.has(&T::qos) || terms.has(&T::wckey)) {
        ChargedTo charged =
            charged_to(draft.cluster, draft.job.user, draft.request, draft.job.partition);
        draft.request.account = std::move(charged.account);
        draft.request.qos = std::move(charged.qos);
        draft.request.wckey = std::move(charged.wckey);
        TRY(check_qos(draft.cluster, draft.request));
    }
    if (terms.has(&T::begin)) set_begin(draft, terms.values.begin.value_or(draft.now));
    if (terms.has(&T::licenses)) TRY(check_licenses(draft.cluster, terms.values.licenses));
    if (terms.has(&T::reservation)) TRY(set_reservation(draft));
    const bool too_long = terms.has(&T::time_min) && terms.values.time_min > draft.job.time_limit;
    if (too_long) {
        return Error{ErrorCode::InvalidTimeMin, print_time_limit(*terms.values.time_min)};
    }
    if (terms.has(&T::deadline) && terms.values.deadline <= draft.now)
        return Error{ErrorCode::InvalidTime, {}};
    return {};
}

// A running job gives up nodes. Nothing else of its shape can change.
Result<void> resize(JobDraft& draft, const JobChange& change) {
    Patch<Shape> rest = change.shape;
    rest.keep(&Shape::nodes_min);
    rest.keep(&Shape::nodes_max);
    rest.keep(&Shape::node_sizes);
    rest.keep(&Shape::nodelist);
    if (!rest.empty()) return Error{ErrorCode::JobNotPending, {}};
    const Shape& wanted = change.shape.values;
    if (change.gives_all_nodes) draft.handed_to = TRY(job_to_expand(draft.cluster, draft.job));
    if (change.shape.has(&Shape::nodes_min)) {
        // Compat: a choice of counts is only for waiting jobs.
        if (wanted.nodes_min != wanted.nodes_max) return Error{ErrorCode::JobNotPending, {}};
        TRY(keep_first_nodes(draft.cluster, draft.job, wanted.nodes_min));
    }
    if (!change.shape.has(&Shape::nodelist)) return {};
    return keep_named_nodes(draft.cluster, draft.job, wanted.nodelist);
}

// The tasks of a job keep their CPUs; in Slurm they may lose them.
Result<void> check_cpus(const Shape& shape) {
    if (shape.overcommit) return {};
    const std::uint64_t per_node = std::max(1u, shape.ntasks_per_node.value_or(1));
    const std::uint64_t tasks =
        shape.ntasks.value_or(0) > 0 ? *shape.ntasks : std::max(1u, shape.nodes_min) * per_node;
    if (*shape.cpus_min >= tasks * shape.cpus_per_task) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format("NumCPUs={}: NumTasks={} CPUsPerTask={} take more", *shape.cpus_min,
                             tasks, shape.cpus_per_task)};
}

Result<void> set_shape(JobDraft& draft, const JobChange& change) {
    const bool names_nodes = change.gives_all_nodes || change.keeps_all_nodes;
    if (change.shape.empty() && !names_nodes) return {};
    if (is_live(draft.job)) return resize(draft, change);
    TRY(only_pending(draft));
    if (change.gives_all_nodes) return Error{ErrorCode::InvalidNodeCount, {}};
    if (change.keeps_all_nodes) return Error{ErrorCode::BadArgument, "NumNodes=ALL"};
    change.shape.apply_to(draft.request.shape);
    if (change.shape.has(&Shape::cpus_min)) TRY(check_cpus(draft.request.shape));
    return {};
}

}  // namespace

Result<void> apply_change(JobDraft& draft, const JobChange& change) {
    if (change.admin_comment) {
        TRY(permit(draft.role, Action::SetAdminComment));
        draft.job.admin_comment = *change.admin_comment;
    }
    if (change.array_limit) {
        if (!draft.job.array_job) {
            return Error{ErrorCode::NotSupported, "ArrayTaskThrottle of a job that is no array"};
        }
        draft.job.array_limit = *change.array_limit;
    }
    if (change.time_limit) TRY(set_time_limit(draft, *change.time_limit, change.time_limit_sign));
    if (change.end_time) TRY(set_end_time(draft, *change.end_time));
    if (change.last_checkpoint) TRY(set_checkpoint(draft, *change.last_checkpoint));
    if (change.priority) TRY(set_priority(draft, *change.priority));
    if (change.site_factor) TRY(set_site_factor(draft, *change.site_factor));
    TRY(set_terms(draft, change.terms));
    TRY(set_shape(draft, change));
    change.details.apply_to(draft.request);
    if (change.details.has(&JobDetails::dependency))
        TRY(set_dependency(draft, draft.request.dependency));
    return {};
}

}  // namespace sluice
