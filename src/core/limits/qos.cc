// See qos.h.
#include "core/limits/qos.h"

#include <fmt/format.h>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/limit_book.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

Qos default_qos() {
    Qos normal;
    normal.id = 1;
    normal.name = kDefaultQos;
    normal.description = "Normal QOS default";
    return normal;
}

const Qos* find_qos(const Cluster& cluster, std::string_view name) {
    for (const Qos& qos : cluster.qos()) {
        if (qos.name == name) return &qos;
    }
    return nullptr;
}

std::string qos_in_force(const Cluster& cluster, const std::string& named) {
    if (!cluster.settings().enforce_qos) return named;
    return named.empty() ? std::string(kDefaultQos) : to_lower(named);
}

Result<void> check_qos(const Cluster& cluster, const JobTerms& demand) {
    if (!cluster.settings().enforce_qos) return {};
    const Qos* qos = find_qos(cluster, demand.qos);
    if (!qos) return Error{ErrorCode::InvalidQos, {}};
    if (!qos->has(kQosRequiresReservation) || !demand.reservation.empty()) return {};
    return Error{ErrorCode::InvalidQos, {}, fmt::format("QOS {} needs --reservation", qos->name)};
}

void on_policy_changed(Cluster& cluster, Time now, const PolicyChanged& event) {
    cluster.set_policy(*event.policy);
    count_anew(cluster);
    watch_used_minutes(cluster, now);
    cluster.layout_has_changed();  // it may bound what jobs need
    reprioritize_all(cluster, now, true);
    unpark_all(cluster, now);
    cluster.want_pass();
}

}  // namespace sluice
