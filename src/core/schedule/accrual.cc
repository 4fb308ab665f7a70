// See accrual.h.
#include "core/schedule/accrual.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "core/limits/qos.h"

namespace sluice {

namespace {

bool limits_accrual(const Cluster& cluster) {
    if (!cluster.settings().enforce_limits) return false;
    const Policy& policy = cluster.policy();
    return std::any_of(policy.qos.begin(), policy.qos.end(),
                       [](const Qos& qos) {
                           return qos.of_all.accruing || qos.of_user.accruing ||
                                  qos.of_account.accruing;
                       }) ||
           std::any_of(policy.associations.begin(), policy.associations.end(),
                       [](const Association& each) {
                           return !each.deleted && (each.of_all.accruing || each.of_each.accruing);
                       });
}

struct AccrualLimit {
    std::string holder;  // and whose jobs of it count together
    std::uint32_t most;
};

// A limit of the QOS replaces the same limit of associations. The partition's QOS does not count.
std::vector<AccrualLimit> limits_of(const Cluster& cluster, const Job& job) {
    std::vector<AccrualLimit> found;
    const auto add = [&](std::string holder, std::optional<std::uint32_t> most) {
        if (most) found.push_back({std::move(holder), *most});
    };
    const Qos* qos = find_qos(cluster, qos_in_force(cluster, job.request->qos));
    if (qos) {
        add("qos " + qos->name, qos->of_all.accruing);
        add(fmt::format("qos {} user {}", qos->name, job.user.value), qos->of_user.accruing);
        add(fmt::format("qos {} account {}", qos->name, job.request->account),
            qos->of_account.accruing);
    }
    const Association* own = association_of(cluster, job);
    if (!own) return found;
    const AssociationTree& tree = cluster.associations();
    if (!qos || !qos->of_user.accruing)
        add(fmt::format("each {}", own->id), tree.terms(own->id).of_each.accruing);
    if (qos && qos->of_all.accruing) return found;
    for (const Association* each : tree.path(own->id))
        add(fmt::format("all {}", each->id), each->of_all.accruing);
    return found;
}

}  // namespace

std::shared_ptr<const AccrueTimes> accrue_times(const Cluster& cluster, Time now,
                                                const AccrueTimes* before) {
    if (!limits_accrual(cluster)) return nullptr;
    // Jobs that gain already stay first; the others in the order in which they could have started.
    std::vector<std::tuple<Time, Time, JobId>> waiting;  // since, eligible time
    cluster.jobs().for_each([&](const Job& job) {
        const bool waits = job.state == JobState::Pending && job.priority > 0 &&
                           job.eligible_time <= now && job.dependency.empty();
        if (!waits) return;
        Time since = before ? now : job.eligible_time;
        if (before) {
            if (auto known = before->find(job.id.value); known != before->end())
                since = known->second;
        }
        waiting.emplace_back(since, job.eligible_time, job.id);
    });
    std::sort(waiting.begin(), waiting.end());
    auto times = std::make_shared<AccrueTimes>();
    std::map<std::string, std::uint32_t> counts;
    for (const auto& [since, eligible, id] : waiting) {
        const std::vector<AccrualLimit> limits = limits_of(cluster, cluster.job(id));
        const bool within = std::all_of(
            limits.begin(), limits.end(),
            [&](const AccrualLimit& limit) { return counts[limit.holder] < limit.most; });
        if (!within) continue;
        for (const AccrualLimit& limit : limits) ++counts[limit.holder];
        times->emplace(id.value, since);
    }
    return times;
}

}  // namespace sluice
