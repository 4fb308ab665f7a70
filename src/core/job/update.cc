// core/job/update.cc: scontrol update JobId=. One row per field that can change; all are checked
// before any takes effect.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/job/update_shape.h"
#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/resize.h"
#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/licenses.h"
#include "core/limits/reservations.h"
#include "core/place/place.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/node_counts.h"
#include "model/times.h"

namespace sluice {

namespace {

struct Draft {
    Job job;
    JobRequest request;
    bool privileged = false;
    Time now;
    const Cluster& cluster;
    std::optional<JobId> handed_to = {};  // the job that gets all its nodes
};

using Setter = Result<void> (*)(Draft& draft, const std::string& key, const std::string& value);

Error bad(const std::string& key, const std::string& value) {
    return {ErrorCode::BadArgument, fmt::format("{}={}", key, value)};
}

Result<void> only_pending(const Draft& draft) {
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

// From within the job, mostly: nothing of its work up to then would be lost.
Result<void> set_checkpoint(Draft& draft, const std::string& key, const std::string& value) {
    if (!is_live(draft.job)) return Error{ErrorCode::JobNotRunning, {}};
    Time saved = TRY(parse_moment(value, draft.now));
    if (saved > draft.now || saved < *draft.job.start_time) return bad(key, value);
    draft.job.last_checkpoint = saved;
    return {};
}

template <auto Member>
Result<void> set_text(Draft& draft, const std::string&, const std::string& value) {
    draft.request.*Member = value;
    return {};
}

template <std::string Shape::*Member>
Result<void> set_shape_text(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.*Member = value;
    return {};
}

Result<void> set_time_limit(Draft& draft, const std::string& key, const std::string& value) {
    std::string_view text = value;
    int sign = key.ends_with('+') || value.starts_with('+') ? 1 : key.ends_with('-') || value.starts_with('-') ? -1 : 0;
    if (value.starts_with('+') || value.starts_with('-')) text.remove_prefix(1);
    TimeLimit limit = TRY(parse_job_time_limit(text));
    if (sign != 0) {
        if (limit.unlimited() || draft.job.time_limit.unlimited()) return bad(key, value);
        limit = TimeLimit{draft.job.time_limit.length() + sign * limit.length()};
        if (limit.length().count() <= 0) return bad(key, value);
    }
    bool longer = limit > draft.job.time_limit;
    if (longer && is_live(draft.job) && !draft.privileged) {
        return Error{ErrorCode::AccessDenied, "only an operator can give a running job more time"};
    }
    draft.job.time_limit = limit;
    draft.request.time_limit = limit;
    return {};
}

Result<void> set_priority(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    std::uint32_t priority = TRY(number(key, value));
    if (!draft.privileged && priority > draft.job.priority) return Error{ErrorCode::AccessDenied, {}};
    draft.job.priority = priority;
    // Compat: a nice value is forgotten, and nothing but hold and release brings calculation back.
    draft.job.priority_by_hand = priority > 0;
    draft.request.nice = 0;
    Reason before = draft.job.reason;
    bool was_held = before == Reason::JobHeldAdmin || before == Reason::JobHeldUser || before == Reason::ReservationDeleted ||
                    before == Reason::BadConstraints;
    if (priority > 0 && !was_held) return {};
    draft.job.reason_detail.clear();
    draft.job.reason = Reason::None;
    if (priority == 0) draft.job.reason = draft.privileged ? Reason::JobHeldAdmin : Reason::JobHeldUser;
    return {};
}

Result<void> set_nice(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    std::int32_t nice = TRY(adjustment(key, value));
    if (nice < 0 && !draft.privileged) return Error{ErrorCode::AccessDenied, {}};
    std::int64_t priority = std::int64_t{draft.job.priority} + draft.request.nice - nice;
    draft.request.nice = nice;
    if (draft.job.priority_by_hand) {
        draft.job.priority = static_cast<std::uint32_t>(std::clamp<std::int64_t>(priority, 1, 0xfffffffe));
    }
    return {};
}

// What an administrator adds to the calculated priority.
Result<void> set_site_factor(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    if (!draft.privileged) return Error{ErrorCode::AccessDenied, {}};
    draft.job.site_factor = TRY(adjustment(key, value));
    return {};
}

Result<void> set_partition(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.job.partition = value;
    draft.request.partition = value;
    return {};
}

Result<void> set_begin(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    Time begin = TRY(parse_moment(value, draft.now));
    draft.request.begin = begin;
    draft.job.eligible_time = std::max(begin, draft.now);
    if (draft.job.priority > 0) draft.job.reason = begin > draft.now ? Reason::BeginTime : Reason::None;
    return {};
}

Result<void> set_dependency(Draft& draft, const std::string&, const std::string& value) {
    if (draft.job.state != JobState::Pending) return Error{ErrorCode::JobNotPending, {}};
    draft.job.dependency = TRY(resolve_dependency(draft.cluster, value, draft.job.array_job.value_or(draft.job.id)));
    TRY(check_expansion(draft.cluster, draft.job, value));
    draft.request.dependency = value;
    if (draft.job.priority > 0) draft.job.reason = Reason::None;
    return {};
}

Result<void> set_requeue(Draft& draft, const std::string& key, const std::string& value) {
    if (value != "0" && value != "1") return bad(key, value);
    draft.request.requeue = value == "1";
    return {};
}

Result<void> set_throttle(Draft& draft, const std::string& key, const std::string& value) {
    if (!draft.job.array_job) return Error{ErrorCode::NotSupported, fmt::format("{} of a job that is no array", key)};
    draft.job.array_limit = TRY(number(key, value));
    return {};
}

Result<void> set_nodes(Draft& draft, const std::string& key, const std::string& value) {
    if (is_live(draft.job) && value == "0") {
        draft.handed_to = TRY(job_to_expand(draft.cluster, draft.job));
        return {};
    }
    if (is_live(draft.job)) return keep_first_nodes(draft.cluster, draft.job, value);
    TRY(only_pending(draft));
    Result<WantedNodes> counts = parse_node_counts(value);
    if (!counts) return counts.error().code == ErrorCode::BadArgument ? bad(key, value) : counts.error();
    draft.request.shape.nodes_min = counts->min;
    draft.request.shape.nodes_max = counts->max;
    draft.request.shape.node_sizes = counts->sizes;
    return {};
}

Result<void> set_node_list(Draft& draft, const std::string& key, const std::string& value) {
    if (is_live(draft.job)) return keep_named_nodes(draft.cluster, draft.job, value);
    return set_shape_text<&Shape::nodelist>(draft, key, value);
}

Result<void> set_tasks(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.ntasks = TRY(number(key, value));
    return {};
}

Result<void> set_cpus_per_task(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.cpus_per_task = std::max(1u, TRY(number(key, value)));
    draft.request.shape.cpus_per_task_set = true;
    return {};
}

Result<void> set_mem_node(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.mem_per_node = TRY(parse_memory(value));
    draft.request.shape.mem_per_cpu.reset();
    return {};
}

Result<void> set_mem_cpu(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.mem_per_cpu = TRY(parse_memory(value));
    draft.request.shape.mem_per_node.reset();
    return {};
}

Result<void> set_gres(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.shape.gres_per_node = TRY(parse_gres(value));
    return {};
}

Result<void> set_licenses(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    TRY(check_licenses(draft.cluster, value));
    draft.request.licenses = value;
    return {};
}

Result<void> set_reservation(Draft& draft, const std::string&, const std::string& value) {
    TRY(only_pending(draft));
    draft.request.reservation = value;
    TRY(check_reservations(draft.cluster, draft.job.user, draft.request));
    if (draft.job.reason == Reason::Reservation) draft.job.reason = Reason::None;
    return {};
}

Result<void> set_admin_comment(Draft& draft, const std::string&, const std::string& value) {
    if (!draft.privileged) return Error{ErrorCode::AccessDenied, {}};
    draft.job.admin_comment = value;
    return {};
}

Result<void> set_time_min(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    Result<TimeLimit> least = parse_job_time_limit(value);
    if (!least) return bad(key, value);
    if (*least > draft.job.time_limit) return Error{ErrorCode::InvalidTimeMin, value};
    draft.request.time_min = *least;
    return {};
}

Result<void> set_deadline(Draft& draft, const std::string& key, const std::string& value) {
    TRY(only_pending(draft));
    Result<Time> deadline = parse_moment(value, draft.now);
    if (!deadline || *deadline <= draft.now) return bad(key, value);
    draft.request.deadline = *deadline;
    return {};
}

struct Row {
    std::string_view key;
    Setter set;
};

constexpr Row kRows[] = {
    {"Account", set_text<&JobRequest::account>},
    {"AdminComment", set_admin_comment},
    {"ArrayTaskThrottle", set_throttle},
    {"Comment", set_text<&JobRequest::comment>},
    {"CPUsPerTask", set_cpus_per_task},
    {"Deadline", set_deadline},
    {"Dependency", set_dependency},
    {"EligibleTime", set_begin},
    {"ExcNodeList", set_shape_text<&Shape::exclude>},
    {"Gres", set_gres},
    {"JobName", set_text<&JobRequest::name>},
    {"LastCheckpoint", set_checkpoint},
    {"Licenses", set_licenses},
    {"MailUser", set_text<&JobRequest::mail_user>},
    {"MinMemoryCPU", set_mem_cpu},
    {"MinMemoryNode", set_mem_node},
    {"Name", set_text<&JobRequest::name>},
    {"Nice", set_nice},
    {"NodeList", set_node_list},
    {"NumNodes", set_nodes},
    {"NumTasks", set_tasks},
    {"Partition", set_partition},
    {"Priority", set_priority},
    {"QOS", set_text<&JobRequest::qos>},
    {"ReqNodeList", set_node_list},
    {"ReqNodes", set_nodes},
    {"ReqProcs", set_tasks},
    {"Requeue", set_requeue},
    {"Reservation", set_reservation},
    {"ReservationName", set_reservation},
    {"SiteFactor", set_site_factor},
    {"StartTime", set_begin},
    {"StdErr", set_text<&JobRequest::std_err>},
    {"StdIn", set_text<&JobRequest::std_in>},
    {"StdOut", set_text<&JobRequest::std_out>},
    {"TimeLimit", set_time_limit},
    {"TimeMin", set_time_min},
    {"TresPerNode", set_gres},
    {"WCKey", set_text<&JobRequest::wckey>},
    {"WorkDir", set_text<&JobRequest::work_dir>},
};

Result<void> set_field(Draft& draft, const std::string& key, const std::string& value) {
    std::string_view name = key;
    while (name.ends_with('+') || name.ends_with('-')) name.remove_suffix(1);
    for (const Row& row : kRows) {
        if (equals_ignoring_case(row.key, name)) return row.set(draft, key, value);
    }
    if (is_shape_field(name)) {
        TRY(only_pending(draft));
        return update_shape(draft.request.shape, name, value);
    }
    return Error{ErrorCode::NotSupported, fmt::format("update of job field {}", key)};
}

// Only to where the owner could have sent it.
Result<void> may_move(const Cluster& cluster, const Caller& caller, const Draft& draft) {
    if (draft.privileged) return {};
    for (const std::string& name : partitions_of(draft.job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) return Error{ErrorCode::InvalidPartition, name};
        TRY(may_use(cluster, partition->config, caller, *draft.job.request));
    }
    return {};
}

Result<void> check_draft(Cluster& cluster, const Draft& draft) {
    cluster.refresh_layout();
    if (draft.job.state != JobState::Pending) return {};
    Error why{ErrorCode::NodeConfigUnavailable, {}};
    for (const std::string& name : partitions_of(draft.job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) return Error{ErrorCode::InvalidPartition, name};
        Need need = TRY(need_of(cluster, draft.job, *partition));
        if (!on_idle_nodes(cluster, need).empty()) return {};
    }
    return why;
}

// The limit is the array's, whichever of its tasks was named.
void share_array_limit(Cluster& cluster, Time now, JobId array, std::uint32_t limit) {
    for (JobId id : find_jobs(cluster, {.job = array, .tasks = {}, .het_component = {}, .step = {}})) {
        const Job& job = cluster.job(id);
        if (is_finished(job.state) || job.array_limit == limit) continue;
        dequeue(cluster, job);
        cluster.edit_job(id).array_limit = limit;
        enqueue(cluster, cluster.job(id), now);
    }
}

Result<void> update_one(Cluster& cluster, Time now, const UpdateJob& event, JobId id, Effects& effects) {
    auto job = cluster.find_job(id);
    if (!may_change(cluster, event.caller, *job)) return Error{ErrorCode::AccessDenied, {}};
    if (is_finished(job->state)) return Error{ErrorCode::JobFinished, {}};
    Draft draft{*job, request_of(*job), is_privileged(cluster, event.caller), now, cluster};
    draft.job.priority = cluster.priority(id);
    for (const auto& [key, value] : event.changes) TRY(set_field(draft, key, value));
    draft.job.request = cluster.shared(draft.request);
    draft.job.details = cluster.shared(PackedDetails(draft.request));
    bool asks_for_the_same = draft.job.request->shape == job->request->shape && draft.job.partition == job->partition;
    if (draft.job.partition != job->partition) TRY(may_move(cluster, event.caller, draft));
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
    if (changed.dependency.empty()) enqueue(cluster, changed, now);
    else if (changed.state == JobState::Pending) wait_for_others(cluster, now, id, effects);
    if (array && limit != job->array_limit) share_array_limit(cluster, now, *array, limit);
    if (is_smaller) leave_nodes(cluster, now, id, *job->allocation, effects);
    if (draft.handed_to) hand_over_nodes(cluster, now, id, *draft.handed_to, effects);
    return {};
}

}  // namespace

void on_update_job(Cluster& cluster, Time now, const UpdateJob& event, Effects& effects) {
    std::vector<JobId> ids = split_off(cluster, event.job);
    Result<void> outcome = ids.empty() ? Result<void>(Error{ErrorCode::InvalidJobId, {}}) : Result<void>();
    bool any = false;
    for (JobId id : ids) {
        if (ids.size() > 1 && is_finished(cluster.job(id).state)) continue;
        Result<void> done = update_one(cluster, now, event, id, effects);
        any = any || done.has_value();
        if (!done) outcome = done;
    }
    if (any) effects.push_back(Reply{event.request, Done{}});
    else if (outcome) effects.push_back(Reply{event.request, Error{ErrorCode::JobFinished, {}}});
    else effects.push_back(Reply{event.request, outcome.error()});
}

}  // namespace sluice
