// accounting/job_filter.cc
//
// See job_filter.h.
#include "accounting/job_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/sizes.h"

namespace sluice::accounting {

namespace {

bool is_ended_state(ShownState state) {
    return (state >= ShownState::Completed && state <= ShownState::OutOfMemory) ||
           state == ShownState::Requeued || state == ShownState::Revoked;
}

template <typename Value>
bool is_among(const std::vector<Value>& wanted, const Value& value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

// Of a list like "short,long": a job that waits names several partitions.
bool is_one_among(const std::vector<std::string>& wanted, std::string_view list) {
    if (wanted.empty()) return true;
    const auto names = split(list, ',');
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    });
}

// A wckey that is the user's default one is stored with a star.
std::string without_star(const std::string& wckey) {
    return wckey.starts_with('*') ? wckey.substr(1) : wckey;
}

bool matches_ref(const JobRef& ref, const AccountedJob& job) {
    if (!ref.tasks) return job.job == ref.job || job.array_job == ref.job;
    if (job.array_job != ref.job) return false;
    return (job.array_task && ref.tasks->contains(*job.array_task)) ||
           job.array_tasks.intersects(*ref.tasks);
}

}  // namespace

Result<JobFilter> JobFilter::from(const JobSelection& selection, Time now) {
    JobFilter filter;
    filter.selection_ = selection;
    SteppedTasks budget{sizes::kSteppedTaskCount};
    for (const std::string& text : selection.jobs) {
        JobRef ref = TRY(parse_job_ref(text, budget));
        if (ref.het_component) {
            return Error{ErrorCode::InvalidJobId,
                         fmt::format("{}: heterogeneous jobs are not supported", text)};
        }
        const JobId job = ref.job;
        filter.refs_.emplace(job, std::move(ref));
    }
    if (!selection.nodes.empty()) {
        for (std::string& name : TRY(Hostlist::parse(selection.nodes)).names()) {
            filter.nodes_.insert(std::move(name));
        }
    }
    filter.start_ = selection.start;
    filter.end_ = selection.end;
    // sacct's default time window.
    if (!selection.states.empty() && selection.jobs.empty()) {
        if (!filter.end_) filter.end_ = filter.start_.value_or(now);
        if (!filter.start_) filter.start_ = now;
    }
    return filter;
}

bool JobFilter::only_ended() const {
    const auto& states = selection_.states;
    return !states.empty() && std::all_of(states.begin(), states.end(), is_ended_state);
}

bool JobFilter::asks_for_suspended() const {
    const auto& states = selection_.states;
    return std::find(states.begin(), states.end(), ShownState::Suspended) != states.end();
}

bool JobFilter::matches(const AccountedJob& job,
                        const std::vector<UsageInterval>& suspended) const {
    const JobSelection& wanted = selection_;
    if (wanted.only_live && job.end) return false;
    if (!is_among(wanted.users, job.user) || !is_among(wanted.groups, job.group)) return false;
    if (!is_among(wanted.accounts, job.account) || !is_among(wanted.qos, job.qos)) return false;
    if (!is_among(wanted.names, job.name)) return false;
    if (!is_among(wanted.wckeys, job.wckey) && !is_among(wanted.wckeys, without_star(job.wckey)))
        return false;
    if (!is_one_among(wanted.partitions, job.partition)) return false;
    const auto is_reason = [&](const std::string& name) {
        return equals_ignoring_case(name, reason_name(job.reason));
    };
    if (!wanted.reasons.empty() &&
        std::none_of(wanted.reasons.begin(), wanted.reasons.end(), is_reason))
        return false;
    if (!refs_.empty() && naming(job).empty()) return false;
    return in_time(job, suspended) && has_size(job) && has_constraints(job) && used_a_node(job);
}

std::vector<const JobRef*> JobFilter::naming(const AccountedJob& job) const {
    std::vector<const JobRef*> found;
    const auto collect = [&](JobId id) {
        const auto [first, last] = refs_.equal_range(id);
        for (auto ref = first; ref != last; ++ref) {
            if (matches_ref(ref->second, job)) found.push_back(&ref->second);
        }
    };
    collect(job.job);
    if (job.array_job && *job.array_job != job.job) collect(*job.array_job);
    return found;
}

bool JobFilter::in_time(const AccountedJob& job,
                        const std::vector<UsageInterval>& suspended) const {
    // A job that was held from the beginning is shown only if it is named.
    const bool was_eligible = job.eligible != Time{} || job.start;
    if (!was_eligible && (refs_.empty() || !selection_.states.empty())) return false;
    if (!selection_.states.empty()) {
        return std::any_of(selection_.states.begin(), selection_.states.end(),
                           [&](ShownState state) { return was_in_state(job, state, suspended); });
    }
    const Time known = job.eligible != Time{} ? job.eligible : job.submit;
    return (!end_ || known <= *end_) && (!start_ || !job.end || *job.end >= *start_);
}

bool JobFilter::was_in_state(const AccountedJob& job, ShownState state,
                             const std::vector<UsageInterval>& suspended) const {
    const auto overlaps = [&](std::optional<Time> from, std::optional<Time> to) {
        return from && (!end_ || *from <= *end_) && (!start_ || !to || *to >= *start_);
    };
    if (is_ended_state(state)) {
        return job.state == state && job.end && overlaps(job.end, job.end);
    }
    switch (state) {
        case ShownState::Pending:
            return overlaps(job.eligible, job.start ? job.start : job.end);
        case ShownState::Running:
            return overlaps(job.start, job.end);
        case ShownState::Suspended:
            return std::any_of(suspended.begin(), suspended.end(), [&](const UsageInterval& each) {
                return overlaps(each.start, each.end);
            });
        default:
            return job.state == state && overlaps(job.eligible, job.end);
    }
}

bool JobFilter::has_size(const AccountedJob& job) const {
    const auto cpus = job.tres_allocated.find("cpu");
    const std::uint64_t cpu_count = cpus == job.tres_allocated.end() ? 0 : cpus->second;
    const auto in_range = [](std::uint64_t value, const auto& least, const auto& most) {
        return (!least || value >= *least) && (!most || value <= *most);
    };
    if (!in_range(cpu_count, selection_.cpus_min, selection_.cpus_max)) return false;
    if (!in_range(job.node_count, selection_.nodes_min, selection_.nodes_max)) return false;
    if (!selection_.limit_min) return true;  // Compat: a maximum alone is ignored
    if (job.time_limit.unlimited()) return false;
    const Seconds limit = job.time_limit.length();
    const Seconds most = selection_.limit_max.value_or(*selection_.limit_min);
    return limit >= *selection_.limit_min && limit <= most;
}

// All of them must be part of what the job asked for.
bool JobFilter::has_constraints(const AccountedJob& job) const {
    if (selection_.constraints.empty()) return true;
    std::string names = job.constraint;
    std::replace_if(
        names.begin(), names.end(),
        [](char c) { return std::string_view("&|,[]()").find(c) != std::string_view::npos; }, ' ');
    std::set<std::string_view> asked;
    for (const std::string_view name : words(names)) asked.insert(name.substr(0, name.find('*')));
    return std::all_of(selection_.constraints.begin(), selection_.constraints.end(),
                       [&](const std::string& name) { return asked.contains(name); });
}

bool JobFilter::used_a_node(const AccountedJob& job) const {
    if (nodes_.empty()) return true;
    const Result<Hostlist> used = Hostlist::parse(job.node_names);
    return used && std::any_of(used->names().begin(), used->names().end(),
                               [&](const std::string& name) { return nodes_.contains(name); });
}

bool JobFilter::keep_steps(AccountedRun& run) const {
    if (refs_.empty() || selection_.no_steps) return true;
    std::set<StepId> wanted;
    for (const JobRef* ref : naming(run.job)) {
        if (!ref->step) return true;
        wanted.insert(*ref->step);
    }
    std::erase_if(run.steps,
                  [&](const AccountedStep& step) { return !wanted.contains(step.step); });
    return !run.steps.empty();
}

bool step_less(StepId a, StepId b) {
    const auto rank = [](StepId step) -> std::uint64_t {
        if (step == kBatchStep) return 0;
        if (step == kExternStep) return 1;
        if (step == kInteractiveStep) return 2;
        return std::uint64_t{step.value} + 3;
    };
    return rank(a) < rank(b);
}

}  // namespace sluice::accounting
