// See first_cores.h.
#include "core/limits/first_cores.h"

#include <algorithm>

#include "core/limits/reservation_nodes.h"
#include "core/limits/reservations.h"
#include "core/schedule/planner.h"

namespace sluice {

namespace {

std::uint32_t threads_of(const NodeConfig& config) {
    return config.cpus / std::max(1u, cores_in(config));
}

bool has_first_cores(const Reservation& reservation, NodeIndex node) {
    return reservation.has(kResvFirstCores) && !reservation.cores.empty() &&
           reservation.has_node(node);
}

std::uint32_t first_cpus(const Reservation& reservation, const NodeConfig& config) {
    return reservation.cores_of(config.name, cores_in(config)) * threads_of(config);
}

bool meets(const Reservation& reservation, Time from, Time until) {
    const Seconds delay = reservation.max_start_delay.value_or(Seconds{0});
    for (const Interval& each : intervals_of(reservation)) {
        const Time start = each.start > from ? each.start + delay : each.start;
        if (start < until && each.end > from) return true;
    }
    return false;
}

}  // namespace

bool first_cores_are_free(const Cluster& cluster, Time now, NodeIndex index,
                          const Reservation& draft, std::uint32_t cores) {
    const Node& node = cluster.node(index);
    for (const Reservation& other : cluster.reservations()) {
        if (other.name == draft.name || draft.has(kResvMaint | kResvOverlap) ||
            other.has(kResvMaint | kResvOverlap))
            continue;
        if (has_first_cores(other, index) && meet_in_time(draft, other)) return false;
    }
    if (draft.has(kResvIgnoreJobs)) return true;
    const Time needed = draft.start + draft.max_start_delay.value_or(Seconds{0});
    const std::uint32_t first = cores * threads_of(node.config);
    return std::none_of(node.jobs.begin(), node.jobs.end(), [&](JobId id) {
        const Job& job = cluster.job(id);
        const NodeShare* share = job.run.allocation->find(index);
        bool is_there = share && std::any_of(share->cpus.begin(), share->cpus.end(),
                                             [&](std::uint32_t cpu) { return cpu < first; });
        bool stays = expected_end(cluster, job, now) > std::max(needed, now + Seconds{1});
        return is_there && stays && job.run.reservation != draft.name;
    });
}

BarredCpus cpus_barred(const Cluster& cluster, Time now, Time until, const Reservation* reservation,
                       const Choice& choice) {
    BarredCpus barred;
    for (const Reservation& each : cluster.reservations()) {
        if (!each.has(kResvFirstCores)) continue;
        const bool is_own = reservation && reservation->name == each.name;
        if (is_own ? each.has(kResvFlex | kResvAnyNodes) : !meets(each, now, until)) continue;
        for (const Chosen& chosen : choice) {
            if (!has_first_cores(each, chosen.node)) continue;
            const NodeConfig& config = cluster.node(chosen.node).config;
            std::vector<bool>& here = barred[chosen.node];
            here.resize(config.cpus);
            const std::uint32_t first = std::min(config.cpus, first_cpus(each, config));
            for (std::uint32_t cpu = 0; cpu < config.cpus; ++cpu) {
                if ((cpu < first) != is_own) here[cpu] = true;
            }
        }
    }
    return barred;
}

}  // namespace sluice
