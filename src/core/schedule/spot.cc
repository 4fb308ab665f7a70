#include "core/schedule/spot.h"

#include <algorithm>

#include "base/text.h"
#include "core/limits/reservations.h"

namespace sluice {

Spot spot_of(const Partition& partition, const Reservation& reservation) {
    Spot spot{.partition = &partition, .reservation = &reservation};
    if (reservation.has(kResvFlex | kResvAnyNodes)) return spot;
    auto nodes = std::make_shared<std::vector<NodeIndex>>();
    for (NodeIndex node : partition.nodes) {
        if (reservation.has_node(node)) nodes->push_back(node);
    }
    spot.reserved = std::move(nodes);
    return spot;
}

std::vector<Spot> spots_in(const Cluster& cluster, Time now, const Partition& partition,
                           std::string_view reservations, bool outside) {
    std::vector<Spot> spots;
    for (std::string_view name : split(reservations, ',')) {
        const Reservation* reservation = name.empty() ? nullptr : find_reservation(cluster, name);
        if (reservation && is_open(*reservation, now) &&
            takes_jobs_of(*reservation, partition.config.name)) {
            spots.push_back(spot_of(partition, *reservation));
        }
    }
    if (outside) spots.push_back({.partition = &partition});
    return spots;
}

PlanTime length_in(const Reservation* reservation, const Planner& planner, PlanTime from,
                   PlanTime length) {
    if (!reservation || reservation->has(kResvFlex)) return length;
    return std::min(length, planner.tick(reservation->end) - from);
}

}  // namespace sluice
