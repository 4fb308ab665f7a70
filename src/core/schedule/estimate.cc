#include "core/schedule/estimate.h"

#include "core/limits/reservations.h"
#include "core/schedule/pass.h"

namespace sluice {

std::optional<Estimate> estimate_start(Cluster& cluster, Time now, const Job& job) {
    Scheduler& scheduler = cluster.scheduler();
    cluster.refresh_layout();
    Planner& planner = scheduler.planner;
    if (!scheduler.is_planned) planner.reset(cluster, now);
    auto own = planner.find_booking(job.id);
    if (own) planner.lift(*own);
    std::vector<const Reservation*> wanted = reservations_wanted(cluster, *job.request);
    const Reservation* reservation = wanted.empty() ? nullptr : wanted.front();
    planner.open_reservation(cluster, reservation, now);
    StartFinder finder(planner, scheduler.layout);
    std::optional<Estimate> best;
    for (const std::string& name : partitions_of(job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) continue;
        Result<Need> need = need_of(cluster, job, *partition);
        if (!need) continue;
        PlanTime length = length_of(job.time_limit);
        PlanTime from = planner.tick(std::max(now, job.eligible_time));
        std::vector<NodeIndex> nodes = partition->nodes;
        if (reservation && !reservation->has(kResvFlex)) {
            from = std::max(from, planner.tick(reservation->start));
            length = std::min(length, planner.tick(reservation->end) - from);
            if (!reservation->has(kResvAnyNodes)) {
                std::erase_if(nodes, [&](NodeIndex node) { return !reservation->has_node(node); });
            }
        }
        Start start = finder.find({.need = *need, .nodes = nodes, .from = from, .length = length,
                                   .options = {.least_loaded = cluster.settings().least_loaded}});
        if (start.nodes.empty() || (best && best->start <= planner.time(start.at))) continue;
        best = Estimate{planner.time(start.at), std::move(start.nodes), name};
    }
    if (own) planner.lay(*own);
    planner.open_reservation(cluster, nullptr, now);
    return best;
}

}  // namespace sluice
