#include "core/schedule/estimate.h"

#include "core/limits/reservations.h"
#include "core/schedule/pass.h"
#include "core/schedule/spot.h"

namespace sluice {

namespace {

// Those that have not begun yet too.
std::vector<Spot> spots_ahead(const Cluster& cluster, const Partition& partition, const Job& job) {
    if (job.request->reservation.empty()) return {{.partition = &partition}};
    std::vector<Spot> spots;
    for (const Reservation* each : reservations_wanted(cluster, *job.request)) {
        bool open = may_use(*each, job.user, *job.request) && takes_jobs_of(*each, partition.config.name);
        if (open) spots.push_back(spot_of(partition, *each));
    }
    return spots;
}

}  // namespace

std::optional<Estimate> estimate_start(Cluster& cluster, Time now, const Job& job) {
    Scheduler& scheduler = cluster.scheduler();
    cluster.refresh_layout();
    Planner& planner = scheduler.planner;
    if (!scheduler.is_planned) planner.reset(cluster, now);
    auto own = planner.find_booking(job.id);
    if (own) planner.lift(*own);
    StartFinder finder(planner, scheduler.layout);
    std::optional<Estimate> best;
    for (const std::string& name : partitions_of(job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) continue;
        Result<Need> need = need_of(cluster, job, *partition);
        if (!need) continue;
        for (const Spot& spot : spots_ahead(cluster, *partition, job)) {
            planner.open_reservation(cluster, spot.reservation, now);
            PlanTime from = planner.tick(std::max(now, job.eligible_time));
            bool waits = spot.reservation && !spot.reservation->has(kResvFlex);
            if (waits) from = std::max(from, planner.tick(spot.reservation->start));
            PlanTime length = length_in(spot.reservation, planner, from, length_of(job.time_limit));
            Start start = finder.find({.need = *need, .nodes = spot.nodes(), .from = from, .length = length,
                                       .options = {.least_loaded = cluster.settings().least_loaded}});
            if (start.nodes.empty() || (best && best->start <= planner.time(start.at))) continue;
            best = Estimate{planner.time(start.at), std::move(start.nodes), name};
        }
    }
    if (own) planner.lay(*own);
    planner.open_reservation(cluster, nullptr, now);
    return best;
}

}  // namespace sluice
