// policy/qos.cc
//
// Adding, changing and deleting qualities of service. See work.h.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

Result<void> check_qos_change(PolicyWork& work) {
    const QosChange& change = work.step.qos;
    const bool suspends = change.preempt_mode && change.preempt_mode->mode == PreemptMode::Suspend;
    if (suspends && !work.facts.cannot_suspend.empty()) {
        return Error{ErrorCode::BadArgument,
                     fmt::format(" PreemptMode=SUSPEND needs PreemptMode=...,GANG in slurm.conf of "
                                 "cluster {}",
                                 work.facts.cannot_suspend)};
    }
    TRY(check_known_qos(work.policy, change.preempt_added));
    TRY(check_known_qos(work.policy, change.preempt_removed));
    std::vector<const TresChange*> all = {&change.max_per_job, &change.max_per_node,
                                          &change.min_per_job, &change.max_minutes_per_job};
    for (const AllotmentChange* each : {&change.of_all, &change.of_user, &change.of_account})
        all.insert(all.end(), {&each->tres, &each->minutes, &each->run_minutes});
    return check_known_tres(work, all);
}

// Whether jobs of `from` may preempt those of `wanted`, directly or through others.
bool reaches(Policy& policy, const Qos& from, const std::string& wanted,
             std::vector<std::string>& seen) {
    for (const std::string& name : from.preempt) {
        if (name == wanted) return true;
        if (has_name(seen, name)) continue;
        seen.push_back(name);
        const Qos* next = find_qos(policy, name);
        if (next && reaches(policy, *next, wanted, seen)) return true;
    }
    return false;
}

Result<void> check_loops(Policy& policy) {
    for (const Qos& qos : policy.qos) {
        std::vector<std::string> seen;
        if (qos.deleted || !reaches(policy, qos, qos.name, seen)) continue;
        return Error{
            ErrorCode::BadArgument,
            fmt::format(" Error with request: QOS Preemption loop detected: {}", qos.name)};
    }
    return {};
}

Result<void> check_qos_unused(const PolicyWork& work, const std::vector<std::string>& names) {
    std::string defaults, jobs;
    for (const Association& each : work.policy.associations) {
        if (each.deleted || !has_name(names, each.default_qos)) continue;
        defaults += fmt::format("\n  DefQOS = {:<10} {}", each.default_qos,
                                print_association({each, account_above(work.policy, each)}));
    }
    if (!defaults.empty()) {
        return Error{ErrorCode::BadArgument,
                     " Associations listed below have these as their Default QOS." + defaults +
                         "\n Please either remove the qos' listed above from list and resubmit,\n"
                         " or change the default qos to remove the qos.\n"
                         " Changes Discarded"};
    }
    for (const LiveJob& job : work.facts.jobs) {
        if (has_name(names, job.qos))
            jobs +=
                fmt::format("\n  JobID = {:<10} C = {:<10} QOS = {}", job.id, job.cluster, job.qos);
    }
    if (!jobs.empty()) {
        return Error{ErrorCode::BadArgument,
                     " Error with request: Job(s) active, cancel job(s) before remove" + jobs};
    }
    for (const std::string& name : names) {
        if (name == kDefaultQos) {
            return Error{ErrorCode::BadArgument,
                         fmt::format(" {}: jobs that name no QOS are of it", name)};
        }
        if (has_name(work.facts.partition_qos, name)) {
            return Error{ErrorCode::BadArgument,
                         fmt::format(" QOS {} is that of a partition", name)};
        }
    }
    return {};
}

std::vector<std::string> matching_qos(const PolicyWork& work) {
    std::vector<std::string> names;
    for (const Qos& qos : work.policy.qos) {
        if (!qos.deleted && selects(work.step.names, qos.name) &&
            selects(work.step.descriptions, qos.description))
            names.push_back(qos.name);
    }
    return names;
}

}  // namespace

Result<void> add_qos(PolicyWork& work) {
    if (work.step.names.empty()) return Error{ErrorCode::BadArgument, " Need name of qos to add."};
    TRY(permit(work, PolicyRight::Qos));
    TRY(check_qos_change(work));
    for (const std::string& name : work.step.names) {
        TRY(check_name("a QOS", name));
        if (find_qos(work.policy, name)) continue;
        Qos fresh;
        fresh.name = fresh.description = name;
        work.step.qos.apply_to(fresh);
        auto old = std::find_if(work.policy.qos.begin(), work.policy.qos.end(),
                                [&](const Qos& each) { return each.name == name; });
        fresh.id = old == work.policy.qos.end() ? work.policy.next_id++ : old->id;
        if (old == work.policy.qos.end())
            work.policy.qos.push_back(fresh);
        else
            *old = fresh;
        work.outcome.names.push_back(name);
        work.note("Add QOS", name, fmt::format("description='{}'", fresh.description));
    }
    return check_loops(work.policy);
}

Result<void> modify_qos(PolicyWork& work) {
    const std::vector<std::string> names = matching_qos(work);
    if (names.empty()) return {};
    TRY(permit(work, PolicyRight::Qos));
    TRY(check_qos_change(work));
    for (const std::string& name : names) {
        work.step.qos.apply_to(*find_qos(work.policy, name));
        work.outcome.names.push_back(name);
        work.note("Modify QOS", fmt::format("(name='{}')", name), "");
    }
    return check_loops(work.policy);
}

Result<void> delete_qos(PolicyWork& work) {
    const std::vector<std::string> names = matching_qos(work);
    if (names.empty()) return {};
    TRY(permit(work, PolicyRight::Qos));
    TRY(check_qos_unused(work, names));
    for (Qos& qos : work.policy.qos) {
        for (const std::string& name : names) std::erase(qos.preempt, name);
        if (qos.deleted || !has_name(names, qos.name)) continue;
        qos.deleted = true;
        work.outcome.names.push_back(qos.name);
        work.note("Remove QOS", fmt::format("name='{}'", qos.name), "");
    }
    for (Association& each : work.policy.associations) {
        if (!each.qos) continue;
        for (const std::string& name : names) std::erase(*each.qos, name);
    }
    return {};
}

}  // namespace sluice
