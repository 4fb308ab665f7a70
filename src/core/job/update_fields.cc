#include "core/job/update_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/job/dependency.h"
#include "core/job/resize.h"
#include "core/job/update_shape.h"
#include "core/job/verbs.h"
#include "core/limits/licenses.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/mail.h"
#include "model/node_counts.h"
#include "model/sizes.h"
#include "model/times.h"
#include "model/validate.h"

namespace sluice {

namespace {

using Setter = Result<void> (*)(JobDraft& draft, const std::string& key, const std::string& value);

Error bad(const std::string& key, const std::string& value) {
    return {ErrorCode::BadArgument, fmt::format("{}={}", key, value)};
}

Result<void> only_pending(const JobDraft& draft) {
    if (draft.job.state == JobState::Pending) return {};
    return Error{is_live(draft.job) ? ErrorCode::JobNotPending : ErrorCode::JobFinished, {}};
}

Result<std::uint32_t> number(const std::string& key, const std::string& value) {
    auto parsed = to_number(value);
    if (!parsed || *parsed > 0xfffffffe) return bad(key, value);
    return static_cast<std::uint32_t>(*parsed);
}

// A nice value or a site factor.
Result<std::int32_t> adjustment(const std::string& key, const std::string& value) {
    constexpr std::uint64_t kMost = 2147483645;
    bool negative = value.starts_with('-');
    auto amount = to_number(negative ? std::string_view(value).substr(1) : value);
    if (!amount || *amount > kMost) return bad(key, value);
    auto size = static_cast<std::int32_t>(*amount);
    return negative ? -size : size;
}

// Mostly sent by the job itself: the work done until then is saved.
Result<void> set_checkpoint(JobDraft& draft, const std::string& key, const std::string& value) {
    if (!is_live(draft.job)) return Error{ErrorCode::JobNotRunning, {}};
    Time saved = TRY(parse_moment(value, draft.now));
    if (saved > draft.now || saved < *draft.job.run.start_time) return bad(key, value);
    draft.job.run.last_checkpoint = saved;
    return {};
}

template <auto Member>
Result<void> set_text(JobDraft& draft, const std::string&, const std::string& value) {
    draft.request.*Member = value;
    return {};
}

Result<void> set_qos(JobDraft& draft, const std::string&, const std::string& value) {
    draft.request.qos = qos_in_force(draft.cluster, value);
    return check_qos(draft.cluster, draft.request);
}

template <std::string Shape::*Member>
Result<void> set_shape_text(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.*Member = value;
    return {};
}

Result<void> change_limit(JobDraft& draft, TimeLimit limit) {
    bool longer = limit > draft.job.time_limit;
    if (longer && is_live(draft.job)) TRY(permit(draft.role, Action::LengthenRunningJob));
    draft.job.time_limit = limit;
    draft.request.time_limit = limit;
    return {};
}

Result<void> set_time_limit(JobDraft& draft, const std::string& key, const std::string& value) {
    std::string_view text = value;
    int sign = key.ends_with('+') || value.starts_with('+')   ? 1
               : key.ends_with('-') || value.starts_with('-') ? -1
                                                              : 0;
    if (value.starts_with('+') || value.starts_with('-')) text.remove_prefix(1);
    TimeLimit limit = TRY(parse_job_time_limit(text));
    if (sign != 0) {
        if (limit.unlimited() || draft.job.time_limit.unlimited()) return bad(key, value);
        limit = TimeLimit{draft.job.time_limit.length() + sign * limit.length()};
        if (limit.length().count() <= 0) return bad(key, value);
    }
    return change_limit(draft, limit);
}

// Sets the time limit that makes it end at that time.
Result<void> set_end_time(JobDraft& draft, const std::string& key, const std::string& value) {
    // The end of a suspended job is unknown.
    bool runs = is_live(draft.job) && draft.job.state == JobState::Running;
    if (!runs) return Error{ErrorCode::JobNotRunning, {}};
    Result<Time> end = parse_moment(value, draft.now);
    if (!end) return bad(key, value);
    if (*end <= draft.now) return Error{ErrorCode::InvalidTime, value};
    return change_limit(draft,
                        TimeLimit{*end - *draft.job.run.start_time - draft.job.run.suspended});
}

Result<void> set_priority(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    std::uint32_t priority = TRY(number(key, value));
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

Result<void> set_nice(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    std::int32_t nice = TRY(adjustment(key, value));
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
Result<void> set_site_factor(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    TRY(permit(draft.role, Action::SetSiteFactor));
    draft.job.site_factor = TRY(adjustment(key, value));
    return {};
}

Result<void> set_partition(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.job.partition = value;
    draft.request.partition = value;
    if (partitions_of(draft.job).empty()) return Error{ErrorCode::InvalidPartition, {}};
    return {};
}

Result<void> set_begin(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    Time begin = TRY(parse_moment(value, draft.now));
    draft.request.begin = begin;
    draft.job.eligible_time = std::max(begin, draft.now);
    if (draft.job.priority > 0)
        draft.job.reason = begin > draft.now ? Reason::BeginTime : Reason::None;
    return {};
}

Result<void> set_dependency(JobDraft& draft, const std::string&, const std::string& value) {
    if (draft.job.state != JobState::Pending) return Error{ErrorCode::JobNotPending, {}};
    draft.job.dependency =
        TRY(resolve_dependency(draft.cluster, value, draft.job.array_job.value_or(draft.job.id)));
    TRY(check_expansion(draft.cluster, draft.job, value));
    draft.request.dependency = value;
    if (draft.job.priority > 0) draft.job.reason = Reason::None;
    return {};
}

Result<void> set_requeue(JobDraft& draft, const std::string& key, const std::string& value) {
    if (value != "0" && value != "1") return bad(key, value);
    draft.request.requeue = value == "1";
    return {};
}

Result<void> set_throttle(JobDraft& draft, const std::string& key, const std::string& value) {
    if (!draft.job.array_job)
        return Error{ErrorCode::NotSupported, fmt::format("{} of a job that is no array", key)};
    draft.job.array_limit = TRY(number(key, value));
    return {};
}

Result<void> set_nodes(JobDraft& draft, const std::string& key, const std::string& value) {
    if (is_live(draft.job) && value == "0") {
        draft.handed_to = TRY(job_to_expand(draft.cluster, draft.job));
        return {};
    }
    if (is_live(draft.job)) return keep_first_nodes(draft.cluster, draft.job, value);
    TRY(only_pending(draft));
    Result<WantedNodes> counts = parse_node_counts(value);
    if (!counts)
        return counts.error().code == ErrorCode::BadArgument ? bad(key, value) : counts.error();
    draft.request.shape.nodes_min = counts->min;
    draft.request.shape.nodes_max = counts->max;
    draft.request.shape.node_sizes = counts->sizes;
    return {};
}

Result<void> set_node_list(JobDraft& draft, const std::string& key, const std::string& value) {
    if (is_live(draft.job)) return keep_named_nodes(draft.cluster, draft.job, value);
    return set_shape_text<&Shape::nodelist>(draft, key, value);
}

Result<void> set_tasks(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    std::uint32_t tasks = TRY(number(key, value));
    if (tasks == 0) return Error{ErrorCode::InvalidTaskCount, {}};
    draft.request.shape.ntasks = tasks;
    return {};
}

Result<void> set_cpus_per_task(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.cpus_per_task = std::max(1u, TRY(number(key, value)));
    draft.request.shape.cpus_per_task_set = true;
    return {};
}

Result<void> set_mem_node(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.mem_per_node = TRY(parse_memory(value));
    draft.request.shape.mem_per_cpu.reset();
    return {};
}

Result<void> set_mem_cpu(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.mem_per_cpu = TRY(parse_memory(value));
    draft.request.shape.mem_per_node.reset();
    return {};
}

Result<void> set_gres(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.gres_per_node = TRY(parse_gres(value));
    return {};
}

Result<void> set_licenses(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    TRY(check_licenses(draft.cluster, value));
    draft.request.licenses = value;
    return {};
}

Result<void> set_reservation(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.reservation = value;
    TRY(check_reservations(draft.cluster, draft.job.user, draft.request));
    if (draft.job.reason == Reason::Reservation) draft.job.reason = Reason::None;
    return {};
}

Result<void> set_admin_comment(JobDraft& draft, const std::string&, const std::string& value) {
    TRY(permit(draft.role, Action::SetAdminComment));
    draft.job.admin_comment = value;
    return {};
}

Result<void> set_time_min(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    Result<TimeLimit> least = parse_job_time_limit(value);
    if (!least) return bad(key, value);
    if (*least > draft.job.time_limit) return Error{ErrorCode::InvalidTimeMin, value};
    draft.request.time_min = *least;
    return {};
}

Result<void> set_deadline(JobDraft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    Result<Time> deadline = parse_moment(value, draft.now);
    if (!deadline) return bad(key, value);
    if (*deadline <= draft.now) return Error{ErrorCode::InvalidTime, {}};
    draft.request.deadline = *deadline;
    return {};
}

Result<void> set_mail_type(JobDraft& draft, const std::string& key, const std::string& value) {
    std::optional<std::string> types = parse_mail_types(value);
    if (!types) return bad(key, value);
    draft.request.mail_types = *std::move(types);
    return {};
}

Result<void> set_mail_user(JobDraft& draft, const std::string& key, const std::string& value) {
    if (!value.empty() && !is_mail_address(value)) return bad(key, value);
    draft.request.mail_user = value;
    return {};
}

struct Row {
    std::string_view key;
    Setter set;
    std::size_t most = sizes::kWord;  // bytes of a value
};

constexpr Row kRows[] = {
    {"Account", set_text<&JobRequest::account>},
    {"AdminComment", set_admin_comment},
    {"ArrayTaskThrottle", set_throttle},
    {"Comment", set_text<&JobRequest::comment>},
    {"CPUsPerTask", set_cpus_per_task},
    {"Deadline", set_deadline},
    {"Dependency", set_dependency, sizes::kDependency},
    {"EligibleTime", set_begin},
    {"EndTime", set_end_time},
    {"ExcNodeList", set_shape_text<&Shape::exclude>, sizes::kNodeList},
    {"Gres", set_gres},
    {"JobName", set_text<&JobRequest::name>},
    {"LastCheckpoint", set_checkpoint},
    {"Licenses", set_licenses},
    {"MailType", set_mail_type},
    {"MailUser", set_mail_user},
    {"MinMemoryCPU", set_mem_cpu},
    {"MinMemoryNode", set_mem_node},
    {"Name", set_text<&JobRequest::name>},
    {"Nice", set_nice},
    {"NodeList", set_node_list, sizes::kNodeList},
    {"NumNodes", set_nodes},
    {"NumTasks", set_tasks},
    {"Partition", set_partition},
    {"Priority", set_priority},
    {"QOS", set_qos},
    {"ReqNodeList", set_node_list, sizes::kNodeList},
    {"ReqNodes", set_nodes},
    {"ReqProcs", set_tasks},
    {"Requeue", set_requeue},
    {"Reservation", set_reservation},
    {"ReservationName", set_reservation},
    {"SiteFactor", set_site_factor},
    {"StartTime", set_begin},
    {"StdErr", set_text<&JobRequest::std_err>, sizes::kPath},
    {"StdIn", set_text<&JobRequest::std_in>, sizes::kPath},
    {"StdOut", set_text<&JobRequest::std_out>, sizes::kPath},
    {"TimeLimit", set_time_limit},
    {"TimeMin", set_time_min},
    {"TresPerNode", set_gres},
    {"WCKey", set_text<&JobRequest::wckey>},
    {"WorkDir", set_text<&JobRequest::work_dir>, sizes::kPath},
};

}  // namespace

Result<void> set_job_field(JobDraft& draft, const std::string& key, const std::string& value) {
    std::string_view name = key;
    while (name.ends_with('+') || name.ends_with('-')) name.remove_suffix(1);
    for (const Row& row : kRows) {
        if (!equals_ignoring_case(row.key, name)) continue;
        TRY(validate_text(row.key, value, row.most));
        Result<void> done = row.set(draft, key, value);
        // Whatever is wrong with the value, scontrol needs the name of the field.
        if (!done && done.error().code == ErrorCode::BadArgument)
            return bad(std::string(row.key), value);
        return done;
    }
    if (is_shape_field(name)) {
        TRY(validate_text(name, value, sizes::kFeatures));
        TRY(only_pending(draft));
        return update_shape(draft.request.shape, name, value);
    }
    return Error{ErrorCode::UnknownField, fmt::format("{}={}", key, value)};
}

}  // namespace sluice
