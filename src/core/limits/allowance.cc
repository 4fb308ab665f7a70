// See allowance.h.
#include "core/limits/allowance.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits/access.h"
#include "core/limits/admission.h"
#include "core/limits/job_limits.h"
#include "core/limits/tres.h"
#include "model/errors.h"

namespace sluice {

namespace {

std::uint32_t jobs_left(const LimitCheck& check) {
    if (check.is_broken()) return 0;
    const bool is_used_up = check.is_shared() || check.is_of_usage();
    if (!is_used_up || check.wanted == 0) return kNoLimit;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>((check.most - check.used) / check.wanted, kNoLimit));
}

Error policy_error(const LimitCheck& check) {
    Error error{ErrorCode::QosPolicy, std::string(reason_name(check.reason))};
    error.hint = fmt::format("{} has {}", check.holder.name(), check.text());
    if (check.used > 0)
        error.hint += fmt::format(", of which {} are in use", check.amount(check.used));
    return error;
}

struct Refused {
    LimitCheck limit;     // the first that it breaks
    bool denied = false;  // DenyOnLimit, in each of its partitions
};

// The limit that keeps the job from running even alone; none if one of its partitions allows it.
std::optional<Refused> refused_alone(const Cluster& cluster, const Job& job) {
    if (!cluster.settings().enforce_limits) return {};
    std::optional<Refused> refused;
    for (const std::string& name : partitions_of(job)) {
        JobLimits limits(cluster, job, *cluster.find_partition(name), {});
        const bool denies = std::any_of(limits.qos().begin(), limits.qos().end(),
                                        [](const Qos* qos) { return qos->has(kQosDenyOnLimit); });
        limits.add_of_job();
        limits.add_of_groups();
        auto broken = std::find_if(limits.found().begin(), limits.found().end(),
                                   [](const LimitCheck& check) { return check.is_broken(); });
        if (broken == limits.found().end()) return {};
        if (!refused) refused = Refused{*broken, true};
        refused->denied = refused->denied && denies;
    }
    return refused;
}

bool limits_fair_share(const Qos& qos) {
    return qos.usage_threshold && qos.has(kQosEnforceUsageThreshold);
}

bool limits_any(const Cluster& cluster, const Allotment Qos::*of) {
    if (!cluster.settings().enforce_limits) return false;
    return std::any_of(cluster.qos().begin(), cluster.qos().end(), [&](const Qos& qos) {
        const Allotment& most = qos.*of;
        return !most.tres.empty() || most.running || !most.run_minutes.empty() ||
               limits_fair_share(qos);
    });
}

const Association* association_in(const Cluster& cluster, UserId user, const JobTerms& demand,
                                  const PartitionConfig& partition) {
    return cluster.associations().find(demand.account, user, partition.name);
}

}  // namespace

Allowance allowance(const Cluster& cluster, const Job& job, const Partition& partition, Time now,
                    const Holding& held) {
    Allowance allowed;
    if (needs_association(cluster) &&
        !association_in(cluster, job.user, *job.request, partition.config))
        return {0, Reason::InvalidAccount};
    if (!cluster.settings().enforce_limits) return allowed;
    JobLimits limits(cluster, job, partition, now, held);
    limits.add_of_job();
    limits.add_of_groups();
    for (const LimitCheck& check : limits.found()) {
        const std::uint32_t left = jobs_left(check);
        if (left < allowed.jobs)
            allowed = {left, check.reason, check.kind == LimitKind::RunMinutes};
    }
    return allowed;
}

std::vector<LimitCheck> limits_on(const Cluster& cluster, const Job& job,
                                  const Partition& partition, Time now, const Holding& held) {
    if (!cluster.settings().enforce_limits) return {};
    JobLimits limits(cluster, job, partition, now, held);
    limits.add_of_job();
    limits.add_of_groups();
    return limits.found();
}

std::vector<LimitCheck> limits_reached(const Cluster& cluster, const Job& job,
                                       const Partition& partition, Time now, const Holding& held) {
    std::vector<LimitCheck> reached = limits_on(cluster, job, partition, now, held);
    std::erase_if(reached, [](const LimitCheck& check) { return !check.is_broken(); });
    return reached;
}

Result<void> check_submission(const Cluster& cluster, const Job& job, std::uint64_t tasks,
                              Time now) {
    if (!cluster.settings().enforce_limits) return {};
    for (const std::string& name : partitions_of(job)) {
        JobLimits limits(cluster, job, *cluster.find_partition(name), now);
        limits.add_of_submissions(tasks);
        for (const LimitCheck& check : limits.found()) {
            if (check.is_broken()) return policy_error(check);
        }
    }
    return check_limits(cluster, job);
}

// One partition that allows it is enough.
Result<void> check_limits(const Cluster& cluster, const Job& job) {
    const std::optional<Refused> refused = refused_alone(cluster, job);
    if (!refused || !refused->denied) return {};
    return policy_error(refused->limit);
}

std::string never_allowed(const Cluster& cluster, const Job& job) {
    const std::optional<Refused> refused = refused_alone(cluster, job);
    if (!refused) return {};
    const LimitCheck& limit = refused->limit;
    const std::string wanted = limit.wanted == ~std::uint64_t{0}
                                   ? std::string("no limit")
                                   : fmt::format("{}", limit.amount(limit.wanted));
    return fmt::format("the job can never run: {} has {}, it asks for {} ({})", limit.holder.name(),
                       limit.text(), wanted, reason_name(limit.reason));
}

Result<void> check_limits_alone(const Cluster& cluster, const Job& job) {
    const std::optional<Refused> refused = refused_alone(cluster, job);
    if (!refused) return {};
    return policy_error(refused->limit);
}

TimeLimit wall_limit(const Cluster& cluster, UserId user, const JobTerms& demand,
                     const PartitionConfig& partition) {
    if (!cluster.settings().enforce_limits) return {};
    for (const Qos* qos : qos_that_count(cluster, demand, partition)) {
        if (qos->max_wall) return TimeLimit{*qos->max_wall};
    }
    const Association* association = association_in(cluster, user, demand, partition);
    const auto most =
        association ? cluster.associations().terms(association->id).max_wall : std::nullopt;
    return most ? TimeLimit{*most} : TimeLimit{};
}

bool may_reserve(const Cluster& cluster, const Job& job, const PartitionConfig& partition) {
    if (!cluster.settings().enforce_limits) return true;
    std::optional<std::uint32_t> least;
    for (const Qos* qos : qos_that_count(cluster, *job.request, partition)) {
        if (qos->has(kQosNoReserve)) return false;
        if (!least) least = qos->min_priority;
    }
    const Association* association =
        least ? nullptr : association_in(cluster, job.user, *job.request, partition);
    if (association) least = cluster.associations().terms(association->id).min_priority;
    return !least || cluster.priorities().of(job) >= *least;
}

PartitionBounds bounds_of(const Cluster& cluster, const JobTerms& demand,
                          const PartitionConfig& partition) {
    PartitionBounds bounds{partition.min_nodes, partition.max_nodes, partition.max_time};
    if (!cluster.settings().enforce_limits) return bounds;
    for (const Qos* qos : qos_that_count(cluster, demand, partition)) {
        if (qos->has(kQosPartitionMinNodes)) bounds.min_nodes = 0;
        if (qos->has(kQosPartitionMaxNodes)) bounds.max_nodes.reset();
        if (qos->has(kQosPartitionTimeLimit)) bounds.max_time = TimeLimit{};
    }
    return bounds;
}

bool ends_jobs_by_minutes(const Cluster& cluster) {
    return cluster.settings().enforce_limits && !cluster.settings().enforce_safe &&
           cluster.associations().limits_used_minutes();
}

std::vector<JobId> jobs_out_of_minutes(const Cluster& cluster, Time now) {
    std::vector<JobId> found;
    if (!ends_jobs_by_minutes(cluster)) return found;
    cluster.jobs().for_each([&](const Job& job) {
        const Partition* partition = is_live(job) ? cluster.find_partition(job.partition) : nullptr;
        if (!partition) return;
        JobLimits limits(cluster, job, *partition, now, {tres_of(*job.run.allocation), {}});
        limits.add_of_groups();
        const bool is_out =
            std::any_of(limits.found().begin(), limits.found().end(), [](const LimitCheck& check) {
                return check.kind == LimitKind::UsedMinutes && check.is_broken();
            });
        if (is_out) found.push_back(job.id);
    });
    return found;
}

Time next_minute(Time now) {
    return from_unix((to_unix(now) / 60 + 1) * 60);
}

bool limits_users(const Cluster& cluster) {
    return limits_any(cluster, &Qos::of_user);
}
bool limits_accounts(const Cluster& cluster) {
    return limits_any(cluster, &Qos::of_account);
}

bool limits_associations(const Cluster& cluster) {
    return needs_association(cluster) ||
           (cluster.settings().enforce_limits && cluster.associations().has_limits());
}

std::vector<std::uint32_t> limit_groups_of(const Cluster& cluster, const Job& job) {
    std::vector<std::uint32_t> groups;
    if (!limits_associations(cluster)) return groups;
    constexpr std::uint32_t kNoAssociation = 0xffffffff;
    const AssociationTree& tree = cluster.associations();
    for (const std::string& partition : partitions_of(job)) {
        const Association* found = tree.find(job.request->account, job.user, partition);
        groups.push_back(found ? tree.limit_group(found->id) : kNoAssociation);
    }
    return groups;
}

}  // namespace sluice
