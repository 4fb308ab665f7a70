// core/limits/usage_view.h
//
// What limits on used minutes (GrpTRESMins, GrpWall) are compared with: what the jobs of an
// association, or of a QOS, have used so far, with its decay. Jobs that run are included up to the
// last time that usage was added up.
#pragma once

#include <cstdint>
#include <string>

#include "model/used.h"

namespace sluice {

class Cluster;

// Of everything at or below the association; null: nothing was used.
const UsedAmounts* used_by_association(const Cluster& cluster, std::uint32_t id);
const UsedAmounts* used_by_qos(const Cluster& cluster, const std::string& name);

}  // namespace sluice
