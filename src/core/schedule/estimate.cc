#include "core/schedule/estimate.h"

#include <algorithm>

#include "core/limits/reservations.h"
#include "core/place/place.h"
#include "core/schedule/pass.h"
#include "core/schedule/spot.h"

namespace sluice {

namespace {

// Includes reservations that have not begun yet.
std::vector<Spot> spots_ahead(const Cluster& cluster, const Partition& partition, const Job& job) {
    if (job.request->reservation.empty()) return {{.partition = &partition}};
    std::vector<Spot> spots;
    for (const Reservation* each : reservations_wanted(cluster, *job.request)) {
        bool open =
            may_use(*each, job.user, *job.request) && takes_jobs_of(*each, partition.config.name);
        if (open) spots.push_back(spot_of(partition, *each));
    }
    return spots;
}

// With --array=...%N: when one more of its tasks may run.
Time array_slot_free_at(const Cluster& cluster, Time now, const Job& job) {
    if (!array_limit_reached(cluster, job)) return now;
    std::vector<Time> ends;
    for (JobId id : cluster.arrays().tasks(*job.array_job)) {
        const Job& task = cluster.job(id);
        if (is_live(task) || is_completing(task)) ends.push_back(expected_end(cluster, task, now));
    }
    if (ends.size() < job.array_limit) return now;
    auto last = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() - job.array_limit);
    std::nth_element(ends.begin(), last, ends.end());
    return *last;
}

// Finds a time at which nodes, licences and limits allow the job together.
Start find_with_counts(const Planner& planner, const Job& job, Search search, StartFinder& finder,
                       CountPlan& counts) {
    constexpr int kRoundsMost = 16;
    const Partition& partition = *search.need.partition;
    for (int round = 0; round < kRoundsMost; ++round) {
        auto allowed = counts.earliest(job, partition, planner.time(search.from));
        if (!allowed) return {};
        search.from = planner.tick(*allowed);
        Start start = finder.find(search);
        if (start.nodes.empty()) return start;
        if (counts.earliest(job, partition, planner.time(start.at)) == planner.time(start.at))
            return start;
        search.from = start.at;
    }
    return {};
}

}  // namespace

std::optional<Time> CountPlan::earliest(const Job& job, const Partition& partition, Time from) {
    for (;;) {
        auto licensed = licenses_.earliest(job, from);
        auto at = licensed ? limits_.earliest(job, partition, *licensed) : licensed;
        if (!at || at == licensed) return at;
        from = *at;
    }
}

void CountPlan::take(const Job& job, const Partition& partition, Time start) {
    licenses_.take(job, start);
    limits_.take(job, partition, start);
}

std::optional<Estimate> estimate_start(const Cluster& cluster, Planner& planner, Time now,
                                       const Job& job, StartFinder& finder, CountPlan& counts) {
    auto own = planner.find_booking(job.id);
    if (own) planner.hide(*own);
    Detail detail{cluster, planner.tick(now)};
    Time first = std::max(job.eligible_time, array_slot_free_at(cluster, now, job));
    std::optional<Estimate> best;
    for (const std::string& name : partitions_of(job)) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) continue;
        Result<Need> need = need_of(cluster, job, *partition);
        if (!need) continue;
        for (const Spot& spot : spots_ahead(cluster, *partition, job)) {
            planner.open_reservation(cluster, spot.reservation, now, may_delay_others(job));
            PlanTime from = planner.tick(std::max(now, first));
            bool waits = spot.reservation && !spot.reservation->has(kResvFlex);
            if (waits) from = std::max(from, planner.tick(spot.reservation->start));
            PlanTime length = length_in(spot.reservation, planner, from, length_of(job.time_limit));
            Search search{.need = *need,
                          .nodes = spot.nodes(),
                          .from = from,
                          .length = length,
                          .options = {.least_loaded = cluster.settings().least_loaded},
                          .detail = depends_on_detail(*need) ? &detail : nullptr};
            Start start = find_with_counts(planner, job, search, finder, counts);
            if (start.nodes.empty() || (best && best->start <= planner.time(start.at))) continue;
            best = Estimate{planner.time(start.at), std::move(start.nodes), name};
        }
    }
    if (own) planner.show(*own);
    planner.open_reservation(cluster, nullptr, now);
    return best;
}

std::optional<Estimate> estimate_start(const Cluster& cluster, Planner& planner, Time now,
                                       const Job& job) {
    StartFinder finder(planner, cluster.scheduler().layout);
    CountPlan counts(cluster, now);
    return estimate_start(cluster, planner, now, job, finder, counts);
}

Planner scratch_planner(const Cluster& cluster, Time now) {
    if (cluster.scheduler().is_planned) return cluster.scheduler().planner;
    Planner planner;
    planner.reset(cluster, now);
    return planner;
}

}  // namespace sluice
