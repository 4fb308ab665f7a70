#include "core/limits/usage.h"

#include <algorithm>

#include "core/limits/access.h"
#include "core/limits/qos.h"
#include "core/limits/tres.h"
#include "core/limits/usage_view.h"

namespace sluice {

namespace {

const Partition* partition_of(const Cluster& cluster, const Job& job) {
    const std::vector<std::string> names = partitions_of(job);
    return names.empty() ? nullptr : cluster.find_partition(names.front());
}

UsedAmounts amounts_of(const Cluster& cluster, const Job& job, Seconds length, double factor) {
    const Tres held = tres_of(*job.run.allocation);
    UsedAmounts used;
    used.wall_seconds = static_cast<double>(length.count()) * factor;
    for (const auto& [name, amount] : held)
        used.tres_seconds[name] = static_cast<double>(amount) * used.wall_seconds;
    const Partition* partition = partition_of(cluster, job);
    const double billing = partition ? exact_billing(held, partition->config.tres_billing_weights,
                                                     cluster.settings().priority.billing)
                                     : static_cast<double>(job.run.allocation->cpus());
    used.tres_seconds["billing"] = billing * used.wall_seconds;
    std::erase_if(used.tres_seconds, [](const auto& each) { return each.second == 0; });
    return used;
}

void add_to_qos(Cluster& cluster, const Qos* qos, const UsedAmounts& used) {
    if (!qos) return;
    cluster.usage().add_to_qos(qos->id, used);
    cluster.usage().set_qos_decays(qos->id, !qos->has(kQosNoDecay));
}

bool has_limit_of_usage(const Qos& qos) {
    return !qos.of_all.minutes.empty() || qos.of_all.wall;
}

void reset_if_due(Cluster& cluster, Time now) {
    const UsageReset period = cluster.settings().priority.usage_reset;
    if (period == UsageReset::None || period == UsageReset::Now) return;
    UsageBook& book = cluster.usage();
    if (book.last_reset() == Time{})
        book.begin_period(now);
    else if (book.last_reset() < start_of_period(period, now))
        book.reset(now);
}

}  // namespace

bool keeps_usage(const Cluster& cluster) {
    if (!cluster.settings().priority.multifactor) return false;
    return !cluster.associations().empty() ||
           std::any_of(cluster.qos().begin(), cluster.qos().end(), has_limit_of_usage);
}

Seconds run_time(const Job& job, Time now) {
    if (!job.run.start_time) return Seconds{0};
    Time until = job.run.end_time.value_or(now);
    if (job.state == JobState::Suspended && job.run.suspend_time) until = *job.run.suspend_time;
    return std::max(until - *job.run.start_time - job.run.suspended, Seconds{0});
}

void count_usage(Cluster& cluster, Time now, Job& job) {
    if (!job.run.allocation || !keeps_usage(cluster)) return;
    const Seconds length = run_time(job, now) - job.run.accounted;
    if (length <= Seconds{0}) return;
    job.run.accounted += length;
    const std::string qos_name = qos_in_force(cluster, job.request->qos);
    const Qos* qos = find_qos(cluster, qos_name);
    const double factor = qos ? static_cast<double>(qos->usage_factor) / kUnitFactor : 1;
    const UsedAmounts used = amounts_of(cluster, job, length, factor);
    if (used == UsedAmounts{}) return;
    if (const Association* own = association_of(cluster, job)) {
        for (const Association* each : cluster.associations().path(own->id))
            cluster.usage().add_to_association(each->id, used);
    }
    add_to_qos(cluster, qos, used);
    const Partition* partition = partition_of(cluster, job);
    if (partition && !partition->config.qos.empty() && partition->config.qos != qos_name)
        add_to_qos(cluster, find_qos(cluster, partition->config.qos), used);
}

void advance_usage(Cluster& cluster, Time now) {
    if (!keeps_usage(cluster)) return;
    UsageBook& book = cluster.usage();
    for (const Qos& qos : cluster.qos()) book.set_qos_decays(qos.id, !qos.has(kQosNoDecay));
    book.advance(now, cluster.settings().priority.decay_half_life);
    reset_if_due(cluster, now);
    constexpr unsigned kLive = 1u << static_cast<unsigned>(JobState::Running) |
                               1u << static_cast<unsigned>(JobState::Suspended);
    std::vector<JobId> live;
    cluster.jobs().for_each(
        [&](const ChunkSummary<Job>& summary) { return (summary.shown_states & kLive) != 0; },
        [&](const Job& job) {
            if (is_live(job) && run_time(job, now) > job.run.accounted) live.push_back(job.id);
        });
    for (JobId id : live) count_usage(cluster, now, *cluster.edit_job(id));
}

void reset_usage_if_asked(Cluster& cluster, Time now) {
    if (cluster.settings().priority.usage_reset == UsageReset::Now) cluster.usage().reset(now);
}

void import_usage(Cluster& cluster, Time now, const UsageImport& import) {
    UsageBook& book = cluster.usage();
    if (import.number <= book.last_import()) return;
    book.note_import(import.number);
    if (!keeps_usage(cluster)) return;
    const Seconds half_life = cluster.settings().priority.decay_half_life;
    const Time period = start_of_period(cluster.settings().priority.usage_reset, now);
    for (const ImportedUsage& each : import.used) {
        if (each.ended < std::max(period, book.last_reset())) continue;
        const Qos* qos = find_qos(cluster, each.qos);
        const double factor = qos ? static_cast<double>(qos->usage_factor) / kUnitFactor : 1;
        const UsedAmounts whole = scaled(each.amounts, factor);
        const UsedAmounts left = scaled(whole, decay(now - each.ended, half_life));
        for (const Association* one : cluster.associations().path(each.association))
            book.add_to_association(one->id, left);
        add_to_qos(cluster, qos, qos && qos->has(kQosNoDecay) ? whole : left);
    }
}

void forget_unknown_usage(Cluster& cluster) {
    // Without any association, accounting was not asked yet.
    if (cluster.associations().empty()) return;
    std::set<std::uint32_t> unknown = cluster.usage().associations();
    std::erase_if(unknown, [&](std::uint32_t id) { return cluster.associations().find(id); });
    cluster.usage().forget_associations(unknown);
}

const UsedAmounts* used_by_association(const Cluster& cluster, std::uint32_t id) {
    return cluster.usage().of_association(id);
}

const UsedAmounts* used_by_qos(const Cluster& cluster, const std::string& name) {
    const Qos* qos = find_qos(cluster, name);
    return qos ? cluster.usage().of_qos(qos->id) : nullptr;
}

}  // namespace sluice
