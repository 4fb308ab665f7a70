// core/schedule/explain_rules.cc: obstacles other than a lack of resources: holds, times,
// dependencies, licences, reservations, the rules of its partitions.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/admission.h"
#include "core/limits/allowance.h"
#include "core/limits/licenses.h"
#include "core/limits/memory.h"
#include "core/limits/reservations.h"
#include "core/schedule/explain.h"
#include "core/schedule/waiting.h"
#include "model/errors.h"
#include "model/quantity.h"
#include "model/times.h"

namespace sluice {

namespace {

Explanation::Awaited awaited_job(const Question& question, const Job& job, std::string condition) {
    Explanation::Awaited awaited{.condition = std::move(condition), .job = print_job_id(job)};
    if (!question.viewer.sees_jobs_of(job.user)) {
        awaited.state = "private";
        return awaited;
    }
    awaited.state = state_name(shown_state(job));
    if (is_live(job)) awaited.due = expected_end(question.cluster, job, question.now);
    return awaited;
}

// The jobs of a condition, or the first of them that has not finished.
Explanation::Awaited awaited_of(const Question& question, const Condition& condition) {
    std::string text = print_dependency({.left = {condition}});
    text = text.substr(0, text.find('('));
    JobRef ref{.job = condition.job};
    if (condition.task) ref.tasks = TaskSet::parse(fmt::format("{}", *condition.task)).value();
    Explanation::Awaited awaited{.condition = text, .job = text.substr(text.find(':') + 1)};
    for (JobId id : find_jobs(question.cluster, ref)) {
        const Job& job = question.cluster.job(id);
        awaited = awaited_job(question, job, text);
        if (!is_finished(job.state)) break;
    }
    awaited.failed = condition.failed;
    if (condition.due) awaited.due = condition.due;
    return awaited;
}

void add_singleton(const Question& question, Explanation& out) {
    const auto* live = question.cluster.waiting().singletons().live_beside(question.job);
    if (!live) return;
    for (const Singletons::Key& key : *live) {
        if (key.second == question.job.id || out.awaited.size() >= kNamedMost) break;
        out.awaited.push_back(awaited_job(question, question.cluster.job(key.second), "singleton"));
    }
}

void add_dependencies(const Question& question, Explanation& out) {
    out.any_awaited = question.job.dependency.any;
    for (const Condition& condition : question.job.dependency.left) {
        if (condition.kind == DependencyKind::Singleton)
            add_singleton(question, out);
        else
            out.awaited.push_back(awaited_of(question, condition));
    }
}

std::vector<Explanation::Holder> first_to_end(std::vector<Explanation::Holder> holders) {
    std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
        return std::tie(a.end, a.job) < std::tie(b.end, b.job);
    });
    if (holders.size() > kNamedMost) holders.resize(kNamedMost);
    return holders;
}

std::vector<Explanation::Holder> holders_of_license(const Question& question,
                                                    const std::string& name) {
    std::vector<Explanation::Holder> holders;
    for (JobId id : license_holders(question.cluster)) {
        const Job& job = question.cluster.job(id);
        for (const LicenseCount& held : licenses_held_by(job)) {
            if (held.name != name) continue;
            holders.push_back(holder_of(question, job));
            holders.back().amounts["license/" + name] = held.count;
        }
    }
    return first_to_end(std::move(holders));
}

void add_licenses(const Question& question, Explanation& out) {
    const Cluster& cluster = question.cluster;
    if (!licenses_missing(cluster, question.job, question.now)) return;
    Result<LicenseDemand> demand = parse_licenses(question.job.request->licenses);
    if (!demand) return;
    for (const LicenseCount& wanted : demand->wanted) {
        Explanation::LicenseShortage shortage{.name = wanted.name, .wanted = wanted.count};
        for (const auto& [name, total] : cluster.settings().licenses) {
            if (name == wanted.name) shortage.total = total;
        }
        shortage.used = cluster.licenses().of(wanted.name);
        std::uint64_t kept = 0;
        for (const LicensesKept& each :
             licenses_kept_from(cluster, question.job, question.now, wanted.name)) {
            shortage.kept.push_back({each.reservation->name, each.count, each.reservation->start,
                                     each.reservation->end});
            kept += each.count;
        }
        if (kept + shortage.used + shortage.wanted <= shortage.total) continue;
        shortage.holders = holders_of_license(question, wanted.name);
        out.licenses.push_back(std::move(shortage));
    }
}

std::string obstacle_text(const Question& question, const Partition& partition, Reason reason) {
    const PartitionConfig& config = partition.config;
    const Shape& shape = question.job.request->shape;
    switch (reason) {
        case Reason::PartitionTimeLimit:
            return fmt::format("jobs may run for {} there, this one asks for {}",
                               print_time_limit(config.max_time),
                               print_time_limit(question.job.time_limit));
        case Reason::PartitionNodeLimit:
            if (config.max_nodes && shape.nodes_max.value_or(shape.nodes_min) > *config.max_nodes) {
                return fmt::format("jobs may have {} nodes there, this one asks for {}",
                                   *config.max_nodes, shape.nodes_max.value_or(shape.nodes_min));
            }
            if (shape.nodes_min > partition.nodes.size()) {
                return fmt::format("it has {} nodes, this one asks for {}", partition.nodes.size(),
                                   shape.nodes_min);
            }
            return fmt::format("jobs must have {} nodes there, this one asks for {}",
                               config.min_nodes, shape.nodes_max.value_or(shape.nodes_min));
        case Reason::MaxMemPerLimit:
            return fmt::format("jobs may have {} of a node's memory there, this one asks for more",
                               print_memory(max_memory_per_node(question.cluster, config)));
        case Reason::PartitionConfig:
            if (partition.barred_users.contains(question.job.user)) {
                return fmt::format("it is for the groups {}", join(config.allow_groups, ","));
            }
            return "it is for jobs with a --reservation";
        case Reason::QosNotAllowed:
            return fmt::format("it is not for QOS {}", question.job.request->qos);
        default:
            return fmt::format("it is {}", print(config.state));
    }
}

// The jobs that use up the limit.
std::vector<Explanation::Holder> holders_under(const Question& question, const LimitCheck& check) {
    std::vector<Explanation::Holder> holders;
    for (const auto& [id, entry] : question.cluster.limits().jobs()) {
        const std::uint64_t held = check.held_by(entry, question.job, question.now);
        if (held == 0) continue;
        holders.push_back(holder_of(question, question.cluster.job(JobId{id})));
        if (!check.tres.empty()) holders.back().amounts[check.tres] = held;
    }
    return first_to_end(std::move(holders));
}

Explanation::PartitionObstacle limit_obstacle(const Question& question, const Partition& partition,
                                              const LimitCheck& check) {
    std::string text = fmt::format("{} has {}", check.holder.name(), check.text());
    if (check.used > 0) text += fmt::format(", {} in use", check.amount(check.used));
    if (check.is_of_usage() && !question.cluster.settings().enforce_safe)
        return {partition.config.name, check.reason, std::move(text), {}};
    const bool endless = check.kind == LimitKind::Wall && question.job.time_limit.unlimited();
    text +=
        fmt::format(", this one asks for {}", endless ? "no limit" : check.amount(check.wanted));
    return {partition.config.name, check.reason, std::move(text), holders_under(question, check)};
}

// Every reservation that the job asks for, and its state.
void add_reservations(const Question& question, Explanation& out) {
    using State = Explanation::ReservationState;
    const JobTerms& demand = *question.job.request;
    if (demand.reservation.empty()) return;
    for (std::string_view name : split(demand.reservation, ',')) {
        Explanation::ReservationDemand& entry = out.reservations.emplace_back();
        entry.name = name;
        const Reservation* found = find_reservation(question.cluster, name);
        if (!found) {
            entry.state = State::Gone;
            continue;
        }
        entry.nodes = found->node_names;
        entry.start = found->start;
        entry.end = found->end;
        if (!may_use(*found, question.job.user, demand))
            entry.state = State::NotAllowed;
        else if (!is_open(*found, question.now))
            entry.state = State::NotBegun;
    }
}

Reason hold_of(const Job& job) {
    if (job.priority > 0) return Reason::None;
    bool by_us = job.reason == Reason::ReservationDeleted || job.reason == Reason::BadConstraints;
    return by_us || job.reason == Reason::JobHeldAdmin ? job.reason : Reason::JobHeldUser;
}

}  // namespace

void explain_rules(const Question& question, Explanation& out) {
    const Job& job = question.job;
    out.hold = hold_of(job);
    if (job.eligible_time > question.now) out.begin = job.eligible_time;
    out.deadline = job.request->deadline;
    add_dependencies(question, out);
    if (array_limit_reached(question.cluster, job)) {
        out.array_limit = job.array_limit;
        out.array_running = question.cluster.arrays().running(*job.array_job);
    }
    add_licenses(question, out);
    add_reservations(question, out);
}

// Which of its partitions let it in; the obstacles of the others are noted.
std::vector<const Partition*> open_partitions(const Question& question, Explanation& out) {
    std::vector<const Partition*> open;
    JobClass probe{.sample = question.job.request,
                   .partition = {},
                   .time_limit = question.job.time_limit,
                   .reservations = {},
                   .user = question.job.user,
                   .waiting = {}};
    for (const std::string& name : partitions_of(question.job)) {
        const Partition* partition = question.cluster.find_partition(name);
        if (!partition) {
            out.partitions.push_back({name, Reason::PartitionDown, "it is gone"});
            continue;
        }
        Result<Need> need = need_of(question.cluster, question.job, *partition);
        if (!need) {
            out.partitions.push_back({name, Reason::BadConstraints, to_string(need.error())});
        } else if (auto reason = partition_forbids(question.cluster, probe, *need)) {
            out.partitions.push_back({name, *reason, obstacle_text(question, *partition, *reason)});
        } else if (needs_association(question.cluster) &&
                   !question.cluster.associations().find(question.job.request->account,
                                                         question.job.user, name)) {
            out.partitions.push_back(
                {name, Reason::InvalidAccount,
                 fmt::format("its user has no association with account {} there",
                             question.job.request->account)});
        } else if (std::vector<LimitCheck> reached =
                       limits_reached(question.cluster, question.job, *partition, question.now);
                   !reached.empty()) {
            for (const LimitCheck& check : reached)
                out.partitions.push_back(limit_obstacle(question, *partition, check));
        } else {
            open.push_back(partition);
        }
    }
    return open;
}

}  // namespace sluice
